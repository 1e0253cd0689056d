"""The fake chat server on an event loop, for load: thousands of calls per second, with faults.

Answers are those of the other fake; a judge's request (temperature 0, few tokens) gets a grade:
what the answer is worth, give or take what its reader makes of it. It runs in this process, or in
one of its own: python -m tests.fakes.fast_server LATENCY.
"""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from typing import Any

from tests.fakes import answers
from tests.fakes.openai_server import Fault, error

FaultOf = Callable[[int], Fault | None]

ANSWER_BLOCK = re.compile(r"\[BEGIN ANSWER \d+ \w+\]\n(.*?)\n\[END ANSWER", re.DOTALL)


class FastServer:
    """Counts its calls and open connections; `fault(call)` may break the n-th POST."""

    def __init__(self, latency: float = 0.0, fault: FaultOf | None = None) -> None:
        self.latency = latency
        self.fault = fault
        self.calls = 0
        self.answered = 0
        self.open = 0
        self.busy = 0
        self.port = 0
        self._server: asyncio.AbstractServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()


def graded(messages: list[dict[str, Any]]) -> str:
    """A grade: the sum of three dice for the material, and of two for its reader, from 0 to 10."""
    material = answers.number(messages[-1]["content"])
    reader = answers.number(messages)
    worth = sum(material // 7**i % 7 for i in range(3)) / 2
    return str(round(min(10.0, max(0.0, worth + reader % 3 + reader // 3 % 3 - 1))))


def graded_list(messages: list[dict[str, Any]]) -> str:
    """Grades of all answers that a judge is shown."""
    text = messages[-1]["content"]
    blocks = ANSWER_BLOCK.findall(text)
    reader = {"role": "user", "content": text.rpartition("[END ANSWER")[2]}
    grades = [int(graded([reader, {"role": "user", "content": block}])) for block in blocks]
    return json.dumps({"grades": grades})


class _Connection(asyncio.Protocol):
    def __init__(self, fake: FastServer) -> None:
        self.fake = fake
        self.held = b""
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.fake.open += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.fake.open -= 1
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        self.held += data
        head, separator, rest = self.held.partition(b"\r\n\r\n")
        if not separator:
            return
        lines = head.split(b"\r\n")
        length = 0
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if len(rest) < length:
            return
        self.held = rest[length:]
        method, path, _ = lines[0].split(b" ", 2)
        self.task = asyncio.get_running_loop().create_task(
            self.respond(method.decode(), path.decode(), rest[:length])
        )

    async def respond(self, method: str, path: str, content: bytes) -> None:
        fake = self.fake
        if path == "/calls":
            self.send(200, {"calls": fake.calls, "open": fake.open, "busy": fake.busy})
            return
        if method == "GET":
            self.send(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})
            return
        fake.calls += 1
        fake.busy += 1
        try:
            fault = fake.fault(fake.calls) if fake.fault else None
            if fake.latency:
                await asyncio.sleep(fake.latency)
            if fault is None:
                self.answer(json.loads(content))
            elif fault.kind == "hang":
                await asyncio.sleep(30)
                self.transport.close()
            elif fault.kind == "reset":
                self.transport.abort()
            elif fault.kind == "malformed":
                self.write(200, b'{"choices": [')
            else:
                self.send(fault.status, error(fault.message), fault.headers)
        finally:
            fake.busy -= 1

    def answer(self, body: dict[str, Any]) -> None:
        if "seed" not in body:
            # Without a seed every answer is another.
            self.fake.answered += 1
            body["seed"] = self.fake.answered
        from_judge = body.get("temperature") == 0 and body.get("max_tokens", 99) <= 16
        grade = None
        if "judge_score" in json.dumps(body.get("response_format")):
            grade = json.dumps({"score": int(graded(body["messages"])), "reasoning": ""})
        elif "response_format" in body and "[END ANSWER" in body["messages"][-1]["content"]:
            grade = graded_list(body["messages"])
        elif from_judge:
            grade = graded(body["messages"])
        choices = [answers.choice(body, i, grade, None) for i in range(body.get("n") or 1)]
        completion = answers.completion(body, choices)
        if not body.get("stream"):
            self.send(200, completion)
            return
        events = [json.dumps(chunk) for chunk in answers.chunks(completion)]
        text = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
        self.write(200, text.encode(), {"Content-Type": "text/event-stream"})

    def send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        self.write(status, json.dumps(answer).encode(), headers)

    def write(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        all_headers = {"Content-Type": "application/json", **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{lines}\r\n"
        self.transport.write(head.encode() + content)


async def serve(latency: float) -> None:
    fake = FastServer(latency)
    await fake.start()
    print(fake.port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
