"""Starting a service, and stopping it without dropping what is in flight."""

import ipaddress
import logging
import socket
from functools import partial
from typing import Any

from darc.errors import DarcError, InputError, MissingExtra
from darc.web.limits import Arrival

logger = logging.getLogger("darc.web")

BACKLOG = 512


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
        raise DarcError(
            f"{host}:{port} cannot be served on ({why})", "take another --port"
        ) from None
    found.setblocking(False)
    return found


def server(app: Any, grace: float = 30.0, limits: Arrival | None = None) -> Any:
    """A uvicorn server for an ASGI app; on SIGTERM what is in flight has `grace` seconds to end.

    Its own access log is off, because the service writes one. Keep-alive connections end first.
    """
    try:
        import uvicorn

        from darc.web.connections import Connection, Server
    except ImportError:
        raise MissingExtra("serving", "serve") from None
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
