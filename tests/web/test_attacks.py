"""Attacks on both services as their commands start them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fakes import FakeServer
from tests.study.making import config_for, new_store
from tests.web.raw import ask, connected, flood, heard, read, request, slowest

pytestmark = pytest.mark.load

ROOT = Path(__file__).parents[2]
LIMITS = ("--header-timeout", "3", "--body-timeout", "6")
PATHS = {"gateway": "/v1/chat/completions", "study": "/enrol"}
KINDS = {"gateway": "application/json", "study": "application/x-www-form-urlencoded"}


@dataclass
class Service:
    """A service in a process of its own; `log` is what it says on standard error."""

    name: str
    port: int
    log: Path
    process: "subprocess.Popen[bytes]"

    def memory(self) -> int:
        """Resident kilobytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0])

    def post(self, *lines: str, host: str = "localhost", length: int = 0) -> bytes:
        """A request with a body, which has fewer bytes than its length says if that is given."""
        sent = request(PATHS[self.name], host, b"{}", f"Content-Type: {KINDS[self.name]}", *lines)
        return sent.replace(b"Length: 2\r\n", b"Length: %d\r\n" % length) if length else sent


@contextlib.contextmanager
def started(name: str, folder: Path, backend: str, before: str = "") -> Iterator[Service]:
    """A service that listens; packages in the folder `before` go before those installed."""
    if name == "gateway":
        parts = ("--scorer", "form", "--n-aug", "1", "--no-guard", "--backend", backend)
        command = ["serve", *parts]
    else:
        place = folder / "study.db"
        if not place.exists():
            new_store(str(place), config_for(folder)).close()
        command = ["study", "serve", "--database", str(place)]
    log = folder / f"{name}.log"
    variables = {**os.environ, "PYTHONPATH": before, "OPENAI_API_KEY": "sk-backend-key"}
    line = [sys.executable, "-m", "darc", *command, "--port", "0", "--log-level", "info", *LIMITS]
    with log.open("wb") as stream:
        process = subprocess.Popen(line, stderr=stream, env=variables)
    try:
        until = time.monotonic() + 60
        while not (
            found := re.search(r"(?:base URL|study on) http://127\.0\.0\.1:(\d+)", log.read_text())
        ):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        port = int(found[1])
        while True:
            with contextlib.suppress(ConnectionError):
                if ask(port, request("/healthz"), 60)[0] == 200:
                    break
            time.sleep(0.1)
        yield Service(name, port, log, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def backend() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


@pytest.fixture(scope="module", params=["gateway", "study"])
def service(
    request: pytest.FixtureRequest, backend: FakeServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with started(request.param, tmp_path_factory.mktemp(request.param), backend.url) as one:
        yield one


def test_floods_of_headers(service: Service) -> None:
    before = service.memory()
    done = threading.Event()
    with ThreadPoolExecutor(5) as pool:
        waiting = pool.submit(slowest, service.port, done)
        floods = [pool.submit(flood, service.port, size) for size in (40, 40, 150, 40, 150, 40)]
        for each in floods:
            each.result()
        done.set()
        worst = waiting.result()
    print(f"\n{service.name}: floods of headers, slowest health check {worst:.2f} s")
    assert worst < 1
    assert service.memory() - before < 50_000


def test_slow_connections_end(service: Service) -> None:
    chunked = service.post("Transfer-Encoding: chunked")
    halves = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"GET",
        service.post(length=50),
        chunked.replace(b"Content-Length: 2\r\n", b"")[:-2] + b"5\r\n{",
    ]
    done = threading.Event()
    begun = time.monotonic()
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        sent = [halves[number % len(halves)] for number in range(400)]
        sent[-4:-2] = [b"", b""]
        opened = [stack.enter_context(connected(service.port, each, 20)) for each in sent]
        waiting = pool.submit(slowest, service.port, done)
        # The last are abandoned, which is no reason to complain either.
        for each in opened[-2:]:
            each.close()
        answers = [heard(each) for each in opened[:-2]]
        seconds = time.monotonic() - begun
        done.set()
        worst = waiting.result()
    statuses = {read(each)[0] if each else 0 for each in answers}
    print(f"\n{service.name}: 400 slow connections ended after {seconds:.1f} s: {statuses}")
    assert statuses == {0, 408}
    assert answers.count(b"") == 2
    assert 2 < seconds < 15
    assert worst < 1


def test_foreign_hosts_and_origins(service: Service, backend: FakeServer) -> None:
    asked = {
        service.post(host="evil.example"): 421,
        service.post(host=f"localhost.evil.example:{service.port}"): 421,
        request("/", "x/../../../../etc/x.html?"): 421,
        request("/healthz", "evil.example"): 421,
        service.post("Origin: http://evil.example"): 403,
        service.post("Origin: null"): 403,
        service.post("Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"): 403,
        service.post("Sec-Fetch-Site: cross-site"): 403,
    }
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda each: ask(service.port, each, 30), list(asked) * 50))
    assert [status for status, _ in answers] == list(asked.values()) * 50
    for _, body in answers:
        if service.name == "gateway":
            assert json.loads(body)["error"]["code"] in ("unknown_host", "foreign_origin")
        else:
            assert body.startswith("<!doctype html>")
    assert backend.received == []


def oldest() -> str:
    """The oldest releases of the server's packages that are allowed, for pip."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = extras["optional-dependencies"]
    named = [each for each in needed["serve"] if each.startswith(("starlette", "uvicorn"))]
    assert all(each in needed["study"] for each in named)
    return " ".join(named).replace(">=", "==")


# In 1.0.0 the path of a URL can be given by the Host header.
@pytest.mark.parametrize("packages", [oldest(), "starlette==1.0.0", ""])
def test_no_file_is_read_through_a_host(packages: str, backend: FakeServer, tmp_path: Path) -> None:
    before = ""
    if packages:
        before = str(tmp_path / "packages")
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", before]
        subprocess.run([*pip, *packages.split()], check=True, timeout=300)
    secret = tmp_path / "secret.html"
    secret.write_text("<p>the secret of a file</p>")
    with started("gateway", tmp_path, backend.url, before) as service:
        for path in ("/", "/style.css", "/v1/models", "/nothing"):
            for name in ("x", "localhost", f"127.0.0.1:{service.port}"):
                host = f"{name}{'/..' * 20}{secret}?"
                status, body = ask(service.port, request(path, host))
                assert (status, "secret of a file" in body) == (421, False)
        status, page = ask(service.port, request("/", "localhost"))
        assert (status, "<!doctype html>" in page.lower()) == (200, True)
        assert ask(service.port, service.post())[0] == 400, "it has no messages"
        sent = b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000
        assert ask(service.port, sent)[0] == 431
