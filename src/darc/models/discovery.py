"""Model servers that listen on this machine."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

HOST = "127.0.0.1"
#: How long to wait for all servers together, in seconds.
DISCOVERY_SECONDS = 0.3
_PATH = "/v1/models"
_MAX_BYTES = 1_000_000
# Who a listing says owns its models, by what lists them so.
_PRODUCTS = {
    "library": "Ollama",
    "llamacpp": "llama.cpp",
    "organization_owner": "LM Studio",
    "vllm": "vLLM",
}
# The models that a gateway of DARC lists have this field.
_GATEWAY_FIELD = "darc"
# What the names of models that write no answers have in them.
_NOT_CHAT = ("embed", "rerank", "whisper")


@dataclass(frozen=True)
class FoundServer:
    """A server that lists models."""

    #: What it is, such as "Ollama".
    product: str
    #: Its base URL.
    url: str
    #: The names of its models, as it lists them.
    models: Sequence[str]
    #: The first of them that answers questions.
    model: str


def find_servers(ports: Sequence[int], seconds: float = DISCOVERY_SECONDS) -> list[FoundServer]:
    """Ask every port of the loopback interface for its list of models, all at the same time.

    Nothing but this one request is sent, and no key. Gateways of DARC are left out: one of them
    would answer with the answers that it has chosen, or wait for itself.

    Args:
        ports: The ports.
        seconds: How long to wait for all of them together.

    Returns:
        The servers that list a model which answers questions, in the order of the ports.
    """
    deadline = time.monotonic() + seconds
    found: dict[int, FoundServer] = {}

    def look(port: int) -> None:
        server = _read_server(port, _list_models(port, seconds))
        if server is not None:
            found[port] = server

    # A server that never ends its answer must not keep the command from ending.
    threads = [threading.Thread(target=look, args=(port,), daemon=True) for port in ports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    servers = dict(found)
    return [servers[port] for port in dict.fromkeys(ports) if port in servers]


def _list_models(port: int, seconds: float) -> Any:
    """The list of models that a port answers with, None if it has none."""
    connection = HTTPConnection(HOST, port, timeout=seconds)
    try:
        connection.request("GET", _PATH, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return None
        return json.loads(response.read(_MAX_BYTES))
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()


def _read_server(port: int, listing: Any) -> FoundServer | None:
    """What a list of models says of a server; None if nobody there answers questions."""
    if not isinstance(listing, dict) or not isinstance(listing.get("data"), list):
        return None
    rows = [row for row in listing["data"] if isinstance(row, dict)]
    if any(_GATEWAY_FIELD in row for row in rows):
        return None
    models = [row["id"] for row in rows if _is_usable(row.get("id"))]
    chat_models = [name for name in models if not any(word in name.lower() for word in _NOT_CHAT)]
    if not chat_models:
        return None
    owners = [str(row.get("owned_by", "")).lower() for row in rows]
    product = next((_PRODUCTS[owner] for owner in owners if owner in _PRODUCTS), "a server")
    return FoundServer(product, f"http://{HOST}:{port}/v1", models, chat_models[0])


def _is_usable(name: Any) -> bool:
    """Whether a name can be written in a command line and shown on a terminal."""
    if not isinstance(name, str) or not name or len(name) > 200:
        return False
    return name.isprintable() and not any(mark in name for mark in " ,|@")
