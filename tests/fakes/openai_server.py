"""A fake of the servers that DARC talks to: real HTTP on the loopback interface.

It speaks OpenAI's chat completions (streams too), vLLM's classify, pooling and score,
text-embeddings-inference's predict, and the plain scoring contract. Everything it says is a
function of the request; faults are scripted, and everything it receives is kept.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes import answers, scoring

from darc.closing import Closing

HANG = 30.0


@dataclass(frozen=True)
class Fault:
    """What happens to one request instead of an answer.

    `kind` is "status" (with `status`, `message` and `headers`), "hang" (no answer until the client
    leaves or the server closes), "reset", "malformed" (no JSON), "empty" (no body), "no-choices",
    "cut" (a stream that breaks off in the middle), "bytes" (`content`, `status` and `headers`),
    "half" (the same, and as many bytes again that never come), "flood" (`content` in chunks,
    `times` times) or "flood-half" (the same without an end).
    """

    kind: str = "status"
    status: int = 500
    message: str = "it broke"
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    times: int = 1


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Any


class FakeServer(Closing):
    """The server; a context manager. Faults are used up from the front, one a request.

    `received` has the POSTs, `paths` the paths of all requests; all answers set the `cookies`.

    `ignores` and `refuses` hold names of parameters ("n", "logprobs", "max_tokens") or "system" for
    that role; where "seed" is ignored every answer is another. `copies` makes all choices alike.
    `reply(body, index)` replaces the made-up texts, and `alternatives(body)` their probabilities, a
    token each. `models` are listed, and a turn costs `marks` tokens beside its words. A `listing`
    is sent in place of the list of models, and `listed_for` has the headers of those who asked.
    """

    def __init__(self, port: int = 0) -> None:
        self.faults: list[Fault] = []
        self.received: list[Received] = []
        self.paths: list[str] = []
        self.cookies = ""
        self.ignores: set[str] = set()
        self.refuses: set[str] = set()
        self.reply: Callable[[dict[str, Any], int], str] | None = None
        self.alternatives: Callable[[dict[str, Any]], list[dict[str, float]]] | None = None
        self.models = ["fake"]
        self.listing: Any = None
        self.listed_for: list[dict[str, str]] = []
        self.copies = False
        self.marks = 0
        self.answered = 0
        self.latency = 0.0
        self.classes = 1
        self.raw = True
        self.key: str | None = None
        self.busy = self.busiest = self.connections = 0
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        return [one.body for one in self.received]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.cut()
        self._server.server_close()

    def fault(self) -> Fault | None:
        with self.lock:
            return self.faults.pop(0) if self.faults else None

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        for name in sorted(self.refuses & body.keys()):
            other = "; use max_completion_tokens" if name == "max_tokens" else ""
            return 400, error(f"Unsupported parameter: '{name}'{other}")
        roles = {message["role"] for message in body["messages"]}
        if "system" in self.refuses & roles:
            return 400, error("Only user and assistant roles are supported")
        body = {name: value for name, value in body.items() if name not in self.ignores}
        if "seed" in self.ignores:
            with self.lock:
                self.answered += 1
            body["seed"] = self.answered
        made = [
            answers.choice(
                body,
                0 if self.copies else index,
                self.reply(body, index) if self.reply else None,
                self.alternatives(body) if self.alternatives else None,
            )
            for index in range(body.get("n") or 1)
        ]
        return 200, answers.completion(body, made, self.marks)

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        raw = self.raw and body.get("use_activation") is False
        match path.removeprefix("/v1"):
            case "/chat/completions":
                return self.chat(body)
            case "/classify":
                return 200, scoring.classify(body, self.classes, raw)
            case "/pooling":
                return 200, scoring.pooling(body, self.classes, raw)
            case "/score":
                return 200, scoring.score(body, raw)
            case "/predict":
                return 200, scoring.predict(body, self.classes)
            case "/embeddings":
                return 200, {"object": "list", "data": [{"embedding": [0.5]}], "asked": body}
            case "/plain":
                return 200, scoring.plain(body)
        return 404, error(f"no route {path}")


class _Server(ThreadingHTTPServer):
    """Keeps its connections, so that closing the server ends them and their threads."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, *args: Any) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def cut(self) -> None:
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is no news."""


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            with fake.lock:
                fake.connections += 1

        def log_message(self, *args: Any) -> None:
            """Silence."""

        def parse_request(self) -> bool:
            fine = super().parse_request()
            if fine:
                fake.paths.append(self.path)
            return fine

        def end_headers(self) -> None:
            if fake.cookies:
                self.send_header("Set-Cookie", fake.cookies)
            super().end_headers()

        def do_GET(self) -> None:
            fault = fake.fault()
            if fault is not None:
                self.fail(fault)
            elif self.path == "/v1/models" and fake.listing is not None:
                fake.listed_for.append({name.lower(): text for name, text in self.headers.items()})
                self.send(200, fake.listing)
            elif self.path == "/v1/models":
                about = {"object": "model", "created": 1, "owned_by": "tests"}
                listed = [{"id": name, **about} for name in fake.models]
                self.send(200, {"object": "list", "data": listed}, {"X-Fake": "models"})
            else:
                self.send(404, error(f"no route {self.path}"))

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            body = json.loads(content) if content else {}
            headers = {name.lower(): value for name, value in self.headers.items()}
            with fake.lock:
                fake.received.append(Received(self.path, headers, body))
                fake.busy += 1
                fake.busiest = max(fake.busiest, fake.busy)
            try:
                if fake.latency:
                    time.sleep(fake.latency)
                self.respond(headers, body)
            finally:
                with fake.lock:
                    fake.busy -= 1

        def respond(self, headers: dict[str, str], body: dict[str, Any]) -> None:
            fault = fake.fault()
            if fault is not None:
                self.fail(fault)
            elif fake.key is not None and headers.get("authorization") != f"Bearer {fake.key}":
                self.send(401, error(f"wrong key: {headers.get('authorization')}"))
            else:
                try:
                    status, answer = fake.answer(self.path, body)
                except (KeyError, TypeError, AttributeError, ValueError) as problem:
                    status = 400
                    answer = error(f"cannot be read: {problem!r}")
                if status == 200 and body.get("stream") and "stream" not in fake.ignores:
                    self.stream(body, answer)
                else:
                    self.send(status, answer)

        def fail(self, fault: Fault) -> None:
            if fault.kind == "hang":
                fake.closing.wait(HANG)
                self.close_connection = True
            elif fault.kind == "reset":
                reset = (1).to_bytes(4, "little") + bytes(4)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                self.connection.close()
                self.close_connection = True
            elif fault.kind == "cut":
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b'22\r\ndata: {"id": "x", "choices": []}\n\n\r\nff\r\ndata: {"id"')
                self.close_connection = True
            elif fault.kind == "bytes":
                self.write(fault.status, fault.content, fault.headers)
            elif fault.kind == "half":
                length = {"Content-Length": str(2 * len(fault.content))}
                self.write(fault.status, fault.content, {**fault.headers, **length})
                self.close_connection = True
            elif fault.kind.startswith("flood"):
                self.flood(fault)
            elif fault.kind == "malformed":
                self.write(200, b'{"choices": [', {})
            elif fault.kind == "empty":
                self.write(200, b"", {})
            elif fault.kind == "no-choices":
                self.send(200, {"choices": [], "usage": {}})
            else:
                self.send(fault.status, error(fault.message), fault.headers)

        def flood(self, fault: Fault) -> None:
            self.send_response(200)
            for name, value in {"Content-Type": "application/json", **fault.headers}.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            chunk = b"%x\r\n%s\r\n" % (len(fault.content), fault.content)
            for _ in range(fault.times):
                self.wfile.write(chunk)
            if fault.kind == "flood":
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        def stream(self, body: dict[str, Any], answer: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            events = answers.chunks(answer)
            if (body.get("stream_options") or {}).get("include_usage"):
                events.append({**events[-1], "choices": [], "usage": answer["usage"]})
            for event in [*(json.dumps(event) for event in events), "[DONE]"]:
                self.wfile.write(f"data: {event}\n\n".encode())
            self.close_connection = True

        def send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
            self.write(status, json.dumps(answer).encode(), headers or {})

        def write(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            defaults = {"Content-Type": "application/json", "Content-Length": str(len(content))}
            for name, value in {**defaults, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    return Handler


def error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}
