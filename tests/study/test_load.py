import asyncio
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select
from tests.study.crowd import Ledger, Visitor
from tests.study.making import config_for, new_store
from tests.study.process import Server

from darc.study import schema
from darc.study.people import issue_links
from darc.study.store import Store

PEOPLE, PROMPTS, RATINGS = 50, 40, 5
LIMIT = 100.0

tasks = schema.tasks


def valid_ratings(store: Store) -> int:
    query = select(func.count()).where(tasks.c.kind == "item", tasks.c.valid)
    with store.read() as connection:
        return int(connection.execute(query).scalar_one())


async def crowd(server: Server, store: Store, tokens: list[str], ledger: Ledger) -> None:
    """Let everyone work; kill the server in the middle; end when all ratings are there."""
    goal, killed = 2 * PROMPTS * RATINGS, False

    async def watch() -> None:
        nonlocal killed
        until = time.monotonic() + LIMIT
        while (found := await asyncio.to_thread(valid_ratings, store)) < goal:
            assert time.monotonic() < until, (
                f"{found} of {goal} ratings after {LIMIT} s\n{server.dump()}"
            )
            if found > 0.4 * goal and not killed:
                killed = True
                await asyncio.to_thread(server.stop, signal.SIGKILL)
                await asyncio.to_thread(server.start)
            await asyncio.sleep(0.2)
        ledger.finished.set()

    visitors = [
        Visitor(server.port, token, seed, ledger, careless=seed % 12 == 0)
        for seed, token in enumerate(tokens)
    ]
    await asyncio.gather(watch(), *(visitor.live() for visitor in visitors))
    assert killed


@pytest.mark.load
def test_fifty_people_and_a_killed_server(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_for(
        tmp_path,
        PROMPTS,
        study={"ratings": RATINGS, "annotators": PEOPLE, "lease_minutes": 4 / 60},
        quality={"share": 0.4},
    )
    store = new_store(place, config)
    ledger = Ledger()
    server = Server(place, tmp_path / "server.log", "--rate", "0")
    tokens = [token for _, token in issue_links(store)]
    started = time.perf_counter()
    try:
        asyncio.run(crowd(server, store, tokens, ledger))
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
            f"\n{store.engine.dialect.name}: {PEOPLE} people, {len(ledger.kept)} answers kept, "
            f"{len(times)} requests in {seconds:.1f} s ({len(times) / seconds:.0f} a second, "
            f"restart included), median {np.median(times):.0f} ms, "
            f"p95 {np.percentile(times, 95):.0f} ms; {excluded} excluded; {ledger.faults}"
        )
