"""Starting a service, stopping it without dropping what is in flight, and its log."""

import ipaddress
import json
import logging
import os
import re
import socket
import sys
import time
from collections.abc import Iterable
from functools import partial
from typing import Any, TextIO

from darc.errors import DarcError, InputError
from darc.settings.model import SettingsModel, option

logger = logging.getLogger("darc.web")

BACKLOG = 512
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


class Arrival(SettingsModel):
    """How large the headers of a request may be, and how long it may take to come.

    A body has `body_timeout` seconds in all, and half of them without a byte.
    """

    max_header: int = option(65_536, "of headers", "BYTES", gt=0)
    header_timeout: float = option(10.0, "seconds for headers", gt=0)
    body_timeout: float = option(60.0, "seconds for a body", gt=0)


def check_address(host: str, keyed: bool) -> None:
    """Refuse to serve everyone who can reach this machine unless they need a key."""
    if not keyed and not is_loopback(host):
        raise InputError(
            f"{host} can be reached from other machines and there are no API keys",
            "make one with darc serve --make-key NAME --api-keys FILE, or serve on 127.0.0.1",
        )


def is_loopback(host: str) -> bool:
    """Whether an address or name can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def url_of(host: str, port: int) -> str:
    """Where a browser on this machine finds a service that listens there."""
    name = host.strip("[]")
    name = "127.0.0.1" if name in ("", "0.0.0.0", "::") else name
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens, so that a port in use is told before anything is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
        found.listen(BACKLOG)
    except (OSError, OverflowError) as problem:
        found.close()
        why = getattr(problem, "strerror", None) or problem
        told = f"{host}:{port} cannot be served on ({why})"
        raise DarcError(told, "take another --port") from None
    found.setblocking(False)
    return found


def server(app: Any, grace: float = 30.0, limits: Arrival | None = None) -> Any:
    """A uvicorn server for an ASGI app; on SIGTERM what is in flight has `grace` seconds to end.

    Its own access log is off, because the service writes one. Keep-alive connections end first.
    """
    import uvicorn

    from darc.web.connections import Connection, Server

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=int(grace),
        timeout_keep_alive=75,
        http=partial(Connection, limits=limits or Arrival()),
        ws="none",
        lifespan="on",
    )
    return Server(config)


def serve(
    app: Any, bound: socket.socket, grace: float = 30.0, limits: Arrival | None = None
) -> None:
    """Serve until SIGINT or SIGTERM."""
    made = server(app, grace, limits)
    try:
        made.run(sockets=[bound])
    finally:
        bound.close()
    if not made.started:
        raise DarcError("the server could not start", "see the log above")


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
