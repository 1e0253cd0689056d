"""Logs as JSON, a line each, on standard error."""

import json
import logging
import re
import sys
import time
from typing import Any, TextIO

# Whatever looks like a key, wherever it stands in a message.
_SECRETS = re.compile(r"(?i)(bearer\s+|api[-_]?key[\"'=:\s]+)[^\s\"',}]+|\b(?:sk|darc)-[\w-]{16,}")


class JsonFormatter(logging.Formatter):
    """One JSON object a record; `extra={"fields": {...}}` adds to it. Keys are blotted out."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        row: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            row["error"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(row, ensure_ascii=False, default=str)


def without_secrets(text: str) -> str:
    """A text in which nothing looks like a key any more."""
    return _SECRETS.sub(lambda found: (found[1] or "") + "***", text)


def log_as_json(level: str, stream: TextIO | None = None) -> None:
    """Send all logs to standard error as JSON; libraries that talk much are heard from warnings."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in ("httpx", "httpcore", "uvicorn.error", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))
