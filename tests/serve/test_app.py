"""What a page of another site, or a client without manners, can do: nothing."""

import io
import json
import logging
import time
from collections.abc import Iterator

import httpx
import openai
import pytest
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, running, settings_for
from tests.web.raw import ask, code_of, connected, request

from darc.serve.app import make_gateway
from darc.web.allowed_hosts import AllowedHosts
from darc.web.logs import log_as_json

BODY = json.dumps({"model": "fake", "messages": QUESTION}).encode()
CHAT = "/v1/chat/completions"
JSON = "Content-Type: application/json"
FOREIGN = [
    ("Origin: http://evil.example",),
    ("Origin: null",),
    ("Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"),
    ("Sec-Fetch-Site: cross-site",),
]


@pytest.fixture(scope="module")
def backend() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


@pytest.fixture(scope="module")
def shared(backend: FakeServer) -> Iterator[Running]:
    with running(backend) as one:
        yield one


@pytest.mark.parametrize("lines", FOREIGN, ids=lambda lines: lines[-1])
@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", CHAT, JSON),
        ("POST", CHAT, "Content-Type: text/plain"),
        ("POST", "/v1/playground", JSON),
        ("POST", "/v1/select", JSON),
        ("POST", "/v1/files", "Content-Type: multipart/form-data; boundary=x"),
        ("POST", "/v1/fine_tuning/jobs", "Content-Type: text/plain"),
        ("GET", "/v1/models", "Accept: */*"),
        ("GET", "/v1/files", "Accept: */*"),
        ("GET", "/metrics", "Accept: */*"),
        ("POST", "/healthz", JSON),
    ],
)
def test_pages_of_other_sites_cause_no_call(
    shared: Running, backend: FakeServer, method: str, path: str, kind: str, lines: tuple[str, ...]
) -> None:
    body = BODY if method == "POST" else b""
    status, told = ask(
        shared.port, request(path, f"127.0.0.1:{shared.port}", body, kind, *lines, method=method)
    )
    assert (status, code_of(told)) == (403, "foreign_origin")
    assert backend.received == []


@pytest.mark.parametrize("host", ["evil.example", "x/../../../secret.html?", "localhost, a", "a@b"])
@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/models", CHAT])
def test_other_names_are_refused(
    shared: Running, backend: FakeServer, host: str, path: str
) -> None:
    status, told = ask(shared.port, request(path, host, BODY if path == CHAT else b"", JSON))
    assert (status, code_of(told)) == (421, "unknown_host")
    assert "--allowed-host" in told
    assert backend.received == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
@pytest.mark.parametrize("path", [CHAT, "/v1/playground", "/v1/select"])
def test_bodies_must_be_said_to_be_json(
    shared: Running, backend: FakeServer, path: str, kind: str
) -> None:
    status, told = ask(shared.port, request(path, "localhost", BODY, f"Content-Type: {kind}"))
    assert (status, code_of(told)) == (415, "unsupported_media_type")
    assert backend.received == []


def test_own_pages_and_programs_are_served(openai_server: FakeServer) -> None:
    hosts = AllowedHosts("127.0.0.1", ["darc.example.org"])
    settings = settings_for(openai_server)
    one = Running(settings, make_gateway(settings), hosts)
    try:
        for host in (f"localhost:{one.port}", f"127.0.0.1:{one.port}", f"[::1]:{one.port}"):
            lines = (JSON, f"Origin: http://{host}", "Sec-Fetch-Site: same-origin")
            assert ask(one.port, request(CHAT, host, BODY, *lines))[0] == 200
        public = (JSON, "Origin: https://darc.example.org", "Sec-Fetch-Site: same-origin")
        for host in ("darc.example.org", "127.0.0.1"):
            assert ask(one.port, request(CHAT, host, BODY, *public))[0] == 200
        linked = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
        assert ask(one.port, request("/", "localhost", b"", *linked))[0] == 200
        upload = "Content-Type: multipart/form-data; boundary=x"
        assert ask(one.port, request("/v1/files", "localhost", b"{}", upload))[0] == 404
        assert openai_server.received[-1].path == "/v1/files"
        charset = JSON + "; charset=utf-8"
        assert ask(one.port, request(CHAT, "localhost", BODY, charset))[0] == 200
        client = openai.OpenAI(base_url=f"{one.url}/v1", api_key="none", max_retries=0)
        answer = client.chat.completions.create(model="fake", messages=QUESTION)
        assert answer.choices[0].message.content
        assert client.models.list().data
        assert httpx.get(f"{one.url}/healthz").status_code == 200
        assert ask(one.port, b"GET /healthz HTTP/1.0\r\n\r\n")[0] == 200
    finally:
        one.close()


def test_keys_in_paths_and_half_sent_bodies_are_not_in_the_log(shared: Running) -> None:
    stream = io.StringIO()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    log_as_json("info", stream)
    try:
        for path in ("/v1/sk-live1234567890", "/v1/files/Abcdefgh0123456789xyz", "/v1/a/f00d" * 9):
            ask(shared.port, request(path + "/x", "localhost"))
        head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\n{JSON}\r\nContent-Length: 99\r\n\r\n{{"
        with connected(shared.port, head.encode()):
            pass
        with connected(shared.port, head.encode().replace(CHAT.encode(), b"/v1/files")):
            pass
        until = time.monotonic() + 10
        while stream.getvalue().count('"status": 400') < 2:
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
    text = stream.getvalue()
    assert "live1234567890" not in text
    assert "Abcdefgh0123456789xyz" not in text
    assert '"path": "/v1/***/x"' in text
    assert f'"path": "{CHAT}"' in text
    assert "Traceback" not in text
