"""`darc view`: many decisions in the browser."""

import logging
from contextlib import ExitStack

from darc.cli.commands import Command
from darc.cli.decision_sources import open_sources
from darc.cli.output import progress, say
from darc.errors import extra_needed
from darc.settings.view import ViewSettings

_HOST = "127.0.0.1"
# A page in an open tab may hold its connection; nothing is lost when it is closed.
_GRACE_SECONDS = 2.0


def run(settings: ViewSettings) -> None:
    """Read the decisions, and serve the pages until the process is told to stop."""
    with extra_needed("darc view", "serve"):
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    from darc.viewer.app import make_app
    from darc.viewer.index import build_index
    from darc.web.addresses import local_url
    from darc.web.server import listen, serve

    sources = open_sources(settings)
    socket = listen(_HOST, settings.port)
    with ExitStack() as stack:
        stack.callback(socket.close)
        with progress("reading decisions", " decisions") as report:
            index = stack.enter_context(build_index(sources, report))
        app = make_app(index)
        url = local_url(_HOST, socket.getsockname()[1])
        print(f"{url}/", flush=True)
        say("open this address in a browser; Ctrl-C ends it")
        # What the server says of its start and end is of no use here.
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        if settings.open_browser:
            _open(url)
        serve(app, socket, _GRACE_SECONDS)


def _open(url: str) -> None:
    """Open the page in the user's browser, which waits until the server answers."""
    import webbrowser

    if not webbrowser.open(url):
        say("no browser was found")


COMMAND = Command(ViewSettings, run, interrupted="the page is closed")
