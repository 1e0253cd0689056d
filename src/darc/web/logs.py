"""The log of a service: one JSON object per line, without secrets."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

from darc.web.redaction import Redactor

_SECRET_VARIABLE = re.compile(r"(?i)key|token|secret|password")
_VERBOSE_LIBRARIES = ("aiohttp", "uvicorn.error", "asyncio")


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object; `extra={"fields": {...}}` adds fields to it."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Make a formatter.

        Args:
            secrets: Values to mask besides everything that looks like a key.
        """
        super().__init__()
        self._redactor = Redactor(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
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
        return json.dumps(self._redactor.redact(row), ensure_ascii=False)


def log_as_json(level: str, stream: TextIO | None = None, key_env: str = "") -> None:
    """Write all logs as JSON, those of verbose libraries from warnings on.

    Values of environment variables that are named like secrets are masked.

    Args:
        level: The lowest level that is written, such as "info".
        stream: Where to write; None for standard error.
        key_env: One more environment variable whose value is masked.
    """
    secrets = [
        value
        for name, value in os.environ.items()
        if name == key_env or _SECRET_VARIABLE.search(name)
    ]
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(secrets))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    library_level = max(logging.WARNING, logging.getLogger().level)
    for name in _VERBOSE_LIBRARIES:
        logging.getLogger(name).setLevel(library_level)
