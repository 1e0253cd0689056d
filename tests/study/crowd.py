"""Many scripted annotators at once, who click twice, go back, lose their connection and dawdle."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx
from tests.study.robots import DEMAND, form_of, text_of

LOST = (httpx.TransportError, OSError, asyncio.IncompleteReadError)


@dataclass
class Ledger:
    """What the server acknowledged, by task, and how long requests took.

    `acknowledged` is when each answer that was acknowledged was sent and when its reply came.
    """

    kept: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    acknowledged: list[tuple[float, float]] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def fault(self, name: str) -> None:
        self.faults[name] = self.faults.get(name, 0) + 1


class Visitor:
    """One of them; `careless` ones do not do what attention checks ask for."""

    def __init__(self, port: int, token: str, seed: int, ledger: Ledger, careless: bool) -> None:
        self.port = port
        self.token = token
        self.draw = random.Random(seed)
        self.ledger = ledger
        self.careless = careless
        limits = httpx.Limits(max_connections=2, max_keepalive_connections=1)
        url = f"http://127.0.0.1:{port}"
        self.client = httpx.AsyncClient(base_url=url, timeout=30.0, limits=limits)
        self.old: list[dict[str, str]] = []

    async def live(self) -> None:
        """Rate until all items have their ratings."""
        async with self.client:
            await self.ask("GET", f"/join/{self.token}")
            while not self.ledger.finished.is_set():
                page = await self.ask("GET", "/")
                if page is None or "<form" not in page.text:
                    await asyncio.sleep(0.3)
                    continue
                path, fields = form_of(page.text)
                if path == "/answer":
                    await self.rate(page.text, fields)
                else:
                    await self.ask("POST", path, {**fields, "agreed": "yes"})

    async def rate(self, page: str, fields: dict[str, str]) -> None:
        demand = DEMAND.search(text_of(page))
        value = str(self.draw.randint(0, 10))
        if demand and not self.careless:
            value = demand[1]
        elif demand:
            value = str((int(demand[1]) + 3) % 11)
        fields["answer"] = value
        chance = self.draw.random()
        if chance < 0.08:
            self.ledger.fault("dropped")
            await self.drop(fields)
            return
        if chance < 0.11:
            self.ledger.fault("dawdled")
            await asyncio.sleep(4.5)
        if chance > 0.8:
            self.ledger.fault("double")
            replies = await asyncio.gather(*(self.ask("POST", "/answer", fields) for _ in "ab"))
            if not any(replies):
                return
            self.ledger.kept[fields["task"]] = value
        elif await self.ask("POST", "/answer", fields):
            self.ledger.kept[fields["task"]] = value
        else:
            return
        if 0.7 < chance < 0.8 and self.old:
            self.ledger.fault("back")
            stale = self.draw.choice(self.old)
            await self.ask("POST", "/answer", {**stale, "answer": str(self.draw.randint(0, 10))})
        self.old.append(fields)
        if 0.6 < chance < 0.65 and not demand:
            await self.change()

    async def change(self) -> None:
        """Change the last answer, as the page offers."""
        page = await self.ask("GET", "/back")
        if page is None or "last answer" not in page.text:
            return
        _, fields = form_of(page.text)
        fields["answer"] = str(self.draw.randint(0, 10))
        if DEMAND.search(text_of(page.text)) is None and fields["task"] in self.ledger.kept:
            self.ledger.fault("changed")
            if await self.ask("POST", "/answer", fields):
                self.ledger.kept[fields["task"]] = fields["answer"]
            else:
                del self.ledger.kept[fields["task"]]

    async def ask(
        self, method: str, path: str, fields: dict[str, str] | None = None
    ) -> httpx.Response | None:
        """A reply that is no failure of the connection and no refusal, else None."""
        started = time.perf_counter()
        try:
            reply = await self.client.request(method, path, data=fields)
        except LOST:
            await asyncio.sleep(0.05 + self.draw.random() / 5)
            return None
        ended = time.perf_counter()
        self.ledger.seconds.append(ended - started)
        if reply.status_code == 503:
            self.ledger.fault("told that nothing was saved")
            await asyncio.sleep(0.05 + self.draw.random() / 5)
            return None
        if reply.status_code == 409:
            self.ledger.fault("told that it was answered")
            return None
        assert reply.status_code in (200, 303), (method, path, reply.status_code, reply.text[:300])
        if path == "/answer":
            self.ledger.acknowledged.append((started, ended))
        return reply

    async def drop(self, fields: dict[str, str]) -> None:
        """Send a whole form, or half of it, and hang up without reading the reply."""
        body = urlencode(fields).encode()
        cookie = f"darc_study={self.token}"
        head = (
            f"POST /answer HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        ).encode()
        data = head + body
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(data if self.draw.random() < 0.5 else data[: -len(body) // 2])
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except OSError:
            pass
