"""Starting a service, and stopping it without dropping the requests that run."""

import signal
import socket
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from darc.errors import DarcError
from darc.settings.limits import ArrivalSettings
from darc.web.connections import Connection, Server

#: Reads the settings of an application again.
Reload = Callable[[], Coroutine[Any, Any, None]]

_BACKLOG = 512
_KEEP_ALIVE_SECONDS = 75


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that listens, so that a port in use is noticed before anything is loaded.

    Args:
        host: The address.
        port: The port; 0 for any free one.

    Raises:
        DarcError: The service cannot listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        message = f"cannot listen on {host}:{port} ({reason})"
        raise DarcError(message, "choose another --port") from None
    listener.setblocking(False)
    return listener


def make_server(
    app: ASGIApp,
    grace: float = 30.0,
    limits: ArrivalSettings | None = None,
    reload: Reload | None = None,
) -> Server:
    """Make a uvicorn server.

    Its access log is off, because the application writes one.

    Args:
        app: The application to serve.
        grace: How many seconds running requests have to end after SIGTERM.
        limits: Limits on the size and time of arriving requests.
        reload: Reads the settings of the application again.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=int(grace),
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        http=partial(Connection, limits=limits or ArrivalSettings()),
        ws="none",
        lifespan="on",
    )
    return Server(config, reload)


def serve(
    app: ASGIApp,
    listener: socket.socket,
    grace: float = 30.0,
    limits: ArrivalSettings | None = None,
    reload: Reload | None = None,
) -> None:
    """Serve an application until SIGINT or SIGTERM.

    Args:
        app: The application to serve.
        listener: A socket that listens; it is closed at the end.
        grace: How many seconds running requests have to end after SIGTERM.
        limits: Limits on the size and time of arriving requests.
        reload: Called at SIGHUP; None to end at it too.

    Raises:
        DarcError: The application could not start.
    """
    server = make_server(app, grace, limits, reload)
    if reload is not None and hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, server.hang_up)
    try:
        server.run(sockets=[listener])
    finally:
        listener.close()
    if not server.started:
        raise DarcError("the server could not start", "see the log above")
