"""Looking for model servers on this machine."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.listings import LISTINGS

from darc.models.discovery import DISCOVERY_SECONDS, find_servers


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, FakeServer]]:
    """A fake of each product, on a free port."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with ExitStack() as stack:
        fakes = {}
        for product, listing in LISTINGS.items():
            fakes[product] = stack.enter_context(FakeServer())
            fakes[product].listing = listing
        yield fakes


def free_ports(count: int) -> list[int]:
    """Ports on which nothing listens."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def test_every_product_is_recognised_in_the_order_of_the_ports(
    servers: dict[str, FakeServer],
) -> None:
    ports = [server.port for server in servers.values()]
    found = find_servers([*ports, *free_ports(2)], seconds=5)
    assert [server.product for server in found] == list(servers)
    assert [server.url for server in found] == [f"http://127.0.0.1:{port}/v1" for port in ports]
    by_product = {server.product: server for server in found}
    assert by_product["Ollama"].model == "llama3.2:latest"
    # It lists a model for embeddings first.
    assert by_product["LM Studio"].model == "qwen2.5-7b-instruct"
    assert [server.url for server in find_servers(ports[::-1], seconds=5)] == [
        f"http://127.0.0.1:{port}/v1" for port in ports[::-1]
    ]


def test_servers_get_one_request_without_a_key(servers: dict[str, FakeServer]) -> None:
    find_servers([server.port for server in servers.values()], seconds=5)
    for server in servers.values():
        assert server.paths == ["/v1/models"]
        assert server.received == []
        assert "authorization" not in server.listed_for[0]
        assert "sk-secret" not in json.dumps(server.listed_for)


def test_nothing_that_listens_takes_next_to_no_time() -> None:
    started = time.perf_counter()
    assert find_servers(free_ports(4)) == []
    assert time.perf_counter() - started < DISCOVERY_SECONDS


def test_servers_that_do_not_answer_are_not_waited_for() -> None:
    with FakeServer() as silent, FakeServer() as other:
        silent.faults = [Fault("hang")]
        other.listing = LISTINGS["vLLM"]
        started = time.perf_counter()
        found = find_servers([silent.port, other.port], seconds=1)
        assert time.perf_counter() - started < 2
        assert [server.product for server in found] == ["vLLM"]


@pytest.mark.parametrize(
    "listing",
    [
        {"object": "list", "data": None},
        {"object": "list", "data": []},
        {"data": [{"id": "nomic-embed-text", "owned_by": "library"}]},
        {"data": [{"id": 3}, {"id": ""}, "x", {}]},
        {"data": [{"id": "two words"}, {"id": "a\x1b[31m"}, {"id": "a,key_env=HOME"}]},
        {"models": ["x"]},
        [1],
        "<html>",
    ],
)
def test_what_lists_no_model_that_answers_is_no_server(listing: Any) -> None:
    with FakeServer() as server:
        server.listing = listing
        assert find_servers([server.port], seconds=5) == []


@pytest.mark.parametrize("kind", ["malformed", "empty", "reset", "status"])
def test_failing_servers_are_left_out(kind: str) -> None:
    with FakeServer() as server:
        server.faults = [Fault(kind)]
        assert find_servers([server.port], seconds=5) == []


def test_a_redirect_is_not_followed() -> None:
    with FakeServer() as server, FakeServer() as target:
        server.faults = [Fault(status=302, headers={"Location": f"{target.url}/v1/models"})]
        assert find_servers([server.port], seconds=5) == []
        assert target.paths == []
