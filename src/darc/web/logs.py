"""Logs as JSON, a line each, on standard error."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

# Whatever looks like a key, wherever it stands in a message: by what is before it, by how it
# begins, the password of a URL, and long runs of letters of both cases and digits.
_SECRETS = re.compile(
    r"((?i:bearer\s+|api[-_]?key[\"'=:\s]+))[^\s\"',}]+"
    r"|\b(?i:sk-[\w-]{6,}|darc-[\w-]{16,})"
    r"|(://[^/\s:@]*:)[^/\s@]+(?=@)"
    r"|(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{32,}"
)
# In a path also anything long that is no word.
_PARTS = re.compile(r"(?<![\w-])(?![a-z_-]+(?![\w-]))[\w-]{20,}")
_SECRET_NAMES = re.compile(r"(?i)key|token|secret|password")
SHORTEST = 6


class JsonFormatter(logging.Formatter):
    """One JSON object a record; `extra={"fields": {...}}` adds to it.

    Keys are blotted out of all of it: what looks like one, and `secrets` whatever they look like.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        known = sorted((each for each in secrets if len(each) >= SHORTEST), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        row: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        return json.dumps(self._blotted(row), ensure_ascii=False)

    def _blotted(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._blotted(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._blotted(each) for each in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        text = str(value)
        return without_secrets(text if self._known is None else self._known.sub("***", text))


def without_secrets(text: str) -> str:
    """A text in which nothing looks like a key any more."""
    return _SECRETS.sub(lambda found: (found[1] or found[2] or "") + "***", text)


def path_without_secrets(path: str) -> str:
    """A path in which nothing looks like a key, or like the token of a link."""
    return _PARTS.sub("***", without_secrets(path))


def log_as_json(level: str, stream: TextIO | None = None, key_env: str = "") -> None:
    """Send all logs to standard error as JSON; libraries that talk much are heard from warnings.

    Values of environment variables whose names speak of keys, and of `key_env`, are blotted out.
    """
    named = (name for name in os.environ if name == key_env or _SECRET_NAMES.search(name))
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(os.environ[name] for name in named))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in ("aiohttp", "uvicorn.error", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
