import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import numpy as np
import pytest
from sqlalchemy import func, select
from tests.fakes.proxy import Proxy
from tests.study.crowd import Ledger, Visitor
from tests.study.making import config_for, new_store
from tests.study.process import Server
from tests.study.robots import form_of

from darc.study import schema
from darc.study.checks import study_units
from darc.study.creation import create
from darc.study.links import issue_links
from darc.study.store import Store, open_store

PEOPLE = 50
PROMPTS = 40
RATINGS = 5
LIMIT = 100.0

tasks = schema.tasks


def valid_ratings(store: Store) -> int:
    query = select(func.count()).where(tasks.c.kind == "item", tasks.c.valid)
    with store.read() as connection:
        return int(connection.execute(query).scalar_one())


async def crowd(
    server: Server,
    store: Store,
    tokens: list[str],
    ledger: Ledger,
    disturb: Callable[[], Awaitable[None]],
) -> None:
    """Let everyone work; disturb them in the middle; end when all ratings are there."""
    goal = 2 * PROMPTS * RATINGS
    disturbed = False

    async def watch() -> None:
        nonlocal disturbed
        until = time.monotonic() + LIMIT
        while (found := await asyncio.to_thread(valid_ratings, store)) < goal:
            assert time.monotonic() < until, (
                f"{found} of {goal} ratings after {LIMIT} s\n{server.dump()}"
            )
            if found > 0.4 * goal and not disturbed:
                disturbed = True
                await disturb()
            await asyncio.sleep(0.2)
        ledger.finished.set()

    visitors = [
        Visitor(server.port, token, seed, ledger, careless=seed % 12 == 0)
        for seed, token in enumerate(tokens)
    ]
    await asyncio.gather(watch(), *(visitor.live() for visitor in visitors))
    assert disturbed


async def deleted_and_back(path: Path, ledger: Ledger) -> None:
    """Take the database away several times; no answer sent meanwhile may be acknowledged."""
    kept = path.with_suffix(".kept")
    for _ in range(3):
        kept.hardlink_to(path)
        path.unlink()
        gone = time.perf_counter()
        await asyncio.sleep(1.5)
        assert [1 for sent, told in ledger.acknowledged if sent > gone] == []
        kept.rename(path)
        await asyncio.sleep(0.5)
    assert ledger.faults["told that nothing was saved"] > 10


@pytest.mark.load
@pytest.mark.parametrize("fault", ["killed", "deleted"])
def test_fifty_people_and_a_killed_server_or_a_deleted_database(
    place: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if fault == "deleted" and "://" in place:
        pytest.skip("PostgreSQL keeps its files to itself")
    config = config_for(
        tmp_path,
        PROMPTS,
        study={"ratings": RATINGS, "annotators": PEOPLE, "lease_minutes": 4 / 60},
        quality={"share": 0.4},
    )
    store = new_store(place, config)
    ledger = Ledger()
    server = Server(place, tmp_path / "server.log", "--visitor-rate", "0")
    tokens = [token for _, token in issue_links(store)]
    started = time.perf_counter()

    async def disturb() -> None:
        if fault == "killed":
            await asyncio.to_thread(server.stop, signal.SIGKILL)
            await asyncio.to_thread(server.start)
        else:
            await deleted_and_back(Path(place), ledger)

    try:
        asyncio.run(crowd(server, store, tokens, ledger, disturb))
    finally:
        server.stop(signal.SIGTERM)
    seconds = time.perf_counter() - started
    with store.read() as connection:
        rows = connection.execute(select(tasks)).mappings().all()
        excluded = connection.execute(
            select(func.count()).where(schema.annotators.c.excluded.is_not(None))
        ).scalar_one()
    store.close()
    answered = {row["code"]: row for row in rows if row["answered"] is not None}
    for code, value in ledger.kept.items():
        assert answered[code]["answer"] == float(value)
    assert len({(row["annotator_id"], row["unit_id"]) for row in rows}) == len(rows)
    valid = Counter(row["unit_id"] for row in rows if row["kind"] == "item" and row["valid"])
    assert sorted(valid.values()) == [RATINGS] * (2 * PROMPTS)
    assert excluded >= 1
    assert {"double", "back", "dropped", "dawdled", "changed"} <= set(ledger.faults)
    times = np.array(ledger.seconds) * 1000
    with capsys.disabled():
        print(
            f"\n{store.engine.dialect.name}, {fault}: {PEOPLE} people, "
            f"{len(ledger.kept)} answers kept, {len(times)} requests in {seconds:.1f} s "
            f"({len(times) / seconds:.0f} a second, fault included), "
            f"median {np.median(times):.0f} ms, "
            f"p95 {np.percentile(times, 95):.0f} ms; {excluded} excluded; {ledger.faults}"
        )


async def flood(url: str, enrol: str, seconds: float) -> tuple[Counter[int], Counter[int]]:
    """The replies to one who sends junk without end, and to others who enrol meanwhile."""
    junk: Counter[int] = Counter()
    others: Counter[int] = Counter()
    until = time.monotonic() + seconds

    def at(source: str) -> httpx.AsyncClient:
        transport = httpx.AsyncHTTPTransport(local_address=source)
        return httpx.AsyncClient(transport=transport, base_url=url, timeout=60.0)

    async def attack(client: httpx.AsyncClient, pause: float) -> None:
        reply = await client.get("/join/junk", headers={"x-forwarded-for": "127.0.0.9"})
        junk[reply.status_code] += 1
        await asyncio.sleep(pause)

    async def attacker() -> None:
        async with at("127.0.0.2") as client:
            for _ in range(35):
                await asyncio.gather(*(attack(client, 0.0) for _ in range(20)))
            while time.monotonic() < until:
                await attack(client, 1 / 13)
            junk[(await client.get(f"/enrol/{enrol}")).status_code] += 1

    async def visitor(number: int) -> None:
        await asyncio.sleep(number * seconds / 20)
        async with at(f"127.0.0.{number + 3}") as client:
            page = await client.get(f"/enrol/{enrol}")
            others[page.status_code] += 1
            if page.status_code == 200:
                path, fields = form_of(page.text)
                others[(await client.post(path, data=fields)).status_code] += 1

    await asyncio.gather(attacker(), *(visitor(number) for number in range(20)))
    return junk, others


@pytest.mark.load
def test_a_flood_behind_a_trusted_proxy_leaves_enrolment_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "study.db")
    store = open_store(place, new=True)
    config = config_for(tmp_path, study={"annotators": "open"})
    _, enrol = create(store, config, *study_units(config))
    store.close()
    server = Server(
        place, tmp_path / "server.log", "--visitor-rate", "300", "--trusted-proxy", "127.0.0.1"
    )
    try:
        with Proxy(server.port) as proxy:
            junk, others = asyncio.run(flood(proxy.url, enrol, 10.0))
    finally:
        server.stop(signal.SIGTERM)
    with capsys.disabled():
        print(f"\na flood: junk {dict(junk)}, enrolment of others {dict(others)}")
    assert junk[429] > 0
    assert others == {200: 20, 303: 20}
