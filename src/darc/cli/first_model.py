"""Which model answers where the user has not named any."""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from darc.cli.output import say
from darc.errors import MissingExtra
from darc.settings.discovery import DISCOVERY_ENV, DiscoverySettings

if TYPE_CHECKING:
    from darc.models.discovery import FoundServer

EMBEDDED = "embedded"
_TURN_OFF = f"--no-discovery or {DISCOVERY_ENV}=0 turns this off"


@dataclass(frozen=True)
class FirstModel:
    """The model that answers where none is named."""

    #: The model as --generator takes it.
    generator: str
    #: Whether it is on a server that was found here, which is sent no key.
    on_found_server: bool = False


def find_model(settings: DiscoverySettings, flag: str, may_ask: bool = True) -> FirstModel:
    """Find a model: one on a server of this machine, an installed one, or one behind a key.

    What is found and used is said on standard error.

    Args:
        settings: Where to look.
        flag: What the command calls the option that names a model, such as --generator.
        may_ask: Whether the user may be asked a question on the terminal.

    Returns:
        The model; the small embedded one if nothing better was found.
    """
    if not settings.wants_discovery():
        return FirstModel(EMBEDDED)
    server = _find_server(settings.discovery_ports)
    if server is not None:
        # No variable holds a key for it: one for another service must not be sent there.
        generator = f"openai:{server.model}@{server.url},key_env="
        say(
            f"using {server.model} of {server.product} at {server.url}; {flag} "
            f"{shlex.quote(f'openai:MODEL@{server.url}')} takes another model, and {_TURN_OFF}"
        )
        return FirstModel(generator, on_found_server=True)
    installed = _larger_installed_model()
    if installed:
        say(f"no model server found on this machine: using {installed}; {_TURN_OFF}")
        return FirstModel(installed)
    if may_ask and sys.stdin.isatty() and sys.stderr.isatty():
        return FirstModel(_ask_about_key())
    return FirstModel(EMBEDDED)


def _find_server(ports: Sequence[int]) -> "FoundServer | None":
    """The first server that listens here, None if there is none or it cannot be called."""
    from darc.models.discovery import DISCOVERY_SECONDS, find_servers
    from darc.models.remote.session import import_aiohttp

    servers = find_servers(ports, DISCOVERY_SECONDS)
    if not servers:
        return None
    descriptions = [
        f"{server.product} at {server.url} ({_count_models(server)})" for server in servers
    ]
    say(f"found {', '.join(descriptions)}")
    try:
        import_aiohttp()
    except MissingExtra as problem:
        say(str(problem))
        return None
    return servers[0]


def _count_models(server: "FoundServer") -> str:
    """How many models a server lists."""
    if len(server.models) == 1:
        return "1 model"
    return f"{len(server.models)} models"


def _larger_installed_model() -> str:
    """The larger embedded model if it is installed, empty otherwise."""
    from darc.models.catalogue import QWEN, lookup
    from darc.models.installed import find

    if find(QWEN) is None:
        return ""
    return f"{EMBEDDED}:{lookup(QWEN).short or QWEN}"


def _ask_about_key() -> str:
    """Ask whether to use the key in the environment, if there is one, and for which model."""
    from darc.models.remote.address import KEY_ENV, default_url

    if not os.environ.get(KEY_ENV):
        return EMBEDDED
    url = default_url()
    answer = _read_line(
        f"{KEY_ENV} is set: answer with a model of {url}? It may cost money. [y/N] "
    )
    if answer.lower() not in ("y", "yes"):
        return EMBEDDED
    model = _read_line("which model? ")
    if not model:
        return EMBEDDED
    return f"openai:{model}@{url}"


def _read_line(question: str) -> str:
    """Ask on the terminal; the end of input is an empty answer."""
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
