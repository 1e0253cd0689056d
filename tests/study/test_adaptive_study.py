"""A served adaptive study with many people at once, a careless one, and a server that is killed."""

import re
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import pytest
from sqlalchemy import select
from tests.study.making import config_for, new_store
from tests.study.process import Server
from tests.study.robots import DEMAND, form_of, text_of
from tests.study.test_export import rows_of

import darc
from darc.cli import main
from darc.study import schema
from darc.study.exclusions import exclude_by_name
from darc.study.export import export
from darc.study.links import issue_links
from darc.study.status import close, status
from darc.study.store import open_store
from darc.study.wave_planning import rater_order
from darc.typing import Array

PROMPTS, CANDIDATES, PEOPLE, PLANNED, SEED = 20, 5, 6, 4, 5
CARELESS = 3
LIMIT = 300.0
SYSTEMS = tuple(f"system{k}" for k in range(CANDIDATES))
ITEM = re.compile(r"Text of p(\d+) by c(\d+)\.")


def world() -> tuple[Array, Array]:
    """The true means, and what each person thinks of each answer, whenever asked."""
    generator = np.random.default_rng(11)
    truth = generator.normal(5, 1.2, (PROMPTS, CANDIDATES))
    severity = generator.normal(0, 0.6, PEOPLE)
    noise = generator.normal(0, 1.8, (PROMPTS, CANDIDATES, PEOPLE))
    return truth, np.clip(np.round(truth[..., None] + severity + noise), 0, 10)


class Person(threading.Thread):
    """Somebody who rates until there is nothing left, whatever happens to the connection."""

    def __init__(self, port: int, number: int, token: str, opinions: Array) -> None:
        super().__init__()
        self.url = f"http://127.0.0.1:{port}"
        self.number = number
        self.token = token
        self.opinions = opinions
        self.acknowledged: dict[str, float] = {}
        self.problem: BaseException | None = None

    def run(self) -> None:
        try:
            with httpx.Client(base_url=self.url, timeout=30.0) as client:
                until = time.monotonic() + LIMIT
                while self.visit(client):
                    assert time.monotonic() < until, "the study does not end"
        except BaseException as problem:
            self.problem = problem

    def visit(self, client: httpx.Client) -> bool:
        """Do what the page asks for; False at the end."""
        try:
            if not client.cookies:
                client.get(f"/join/{self.token}")
            page = client.get("/")
            if page.status_code != 200:
                time.sleep(0.1)
                return True
            if 'id="wait"' in page.text:
                time.sleep(1.0)
                return True
            if "<form" not in page.text:
                return False
            path, fields = form_of(page.text)
            if path == "/answer":
                fields["answer"] = self.opinion(text_of(page.text))
            reply = client.post(path, data={**fields, "agreed": "yes"})
            if path == "/answer" and reply.status_code == 303:
                self.acknowledged[fields["task"]] = float(fields["answer"])
        except httpx.TransportError:
            time.sleep(0.1)
        return True

    def opinion(self, text: str) -> str:
        demand = DEMAND.search(text)
        if self.number == CARELESS:
            return str(np.random.default_rng(len(self.acknowledged)).integers(0, 11))
        if demand:
            return demand[1]
        item = ITEM.search(text)
        assert item is not None
        return str(int(self.opinions[int(item[1]), int(item[2]), self.number]))


@pytest.mark.load
def test_an_adaptive_study_saves_ratings_through_a_kill_and_an_exclusion(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_for(
        tmp_path,
        PROMPTS,
        SYSTEMS,
        study={"ratings": PLANNED, "annotators": PEOPLE, "design": "adaptive", "seed": SEED}
        | {"lease_minutes": 0.1},
        quality={"share": 0.1, "automatic": False},
    )
    truth, opinions = world()
    store = new_store(place, config)
    links = issue_links(store)
    started = time.perf_counter()
    with Server(place, tmp_path / "server.log", "--visitor-rate", "0") as server:
        people = [
            Person(server.port, number, token, opinions) for number, (_, token) in enumerate(links)
        ]
        for person in people:
            person.start()
        killed_at = await_ratings(store_place=place, count=int(1.3 * PROMPTS * CANDIDATES))
        server.stop(signal.SIGKILL)
        server.start()
        exclude_by_name(store, f"r{CARELESS + 1:03d}", "careless")
        for person in people:
            person.join(LIMIT)
    assert [person.problem for person in people if person.problem] == []
    seconds = time.perf_counter() - started

    with store.read() as connection:
        rows = connection.execute(select(schema.tasks)).mappings().all()
        units = select(schema.units.c.id, schema.units.c.wanted)
        wanted = dict(connection.execute(units.where(schema.units.c.kind == "item")).all())
    answered = {row["code"]: row["answer"] for row in rows if row["answered"] is not None}
    for person in people:
        for task, value in person.acknowledged.items():
            assert answered[task] == value, "nothing that was acknowledged is lost"
    assert len({(row["annotator_id"], row["unit_id"]) for row in rows}) == len(rows)
    is_valid_item = [row for row in rows if row["kind"] == "item" and row["valid"]]
    assert Counter(row["unit_id"] for row in is_valid_item) == Counter(wanted)
    assert CARELESS + 1 not in {row["annotator_id"] for row in is_valid_item}
    now = status(store).adaptive
    assert now is not None
    assert now.ending in ("price", "raters")
    total = sum(wanted.values())
    assert killed_at < total < 0.85 * PROMPTS * CANDIDATES * PLANNED

    close(store)
    export(store, tmp_path / "results")
    store.close()
    capsys.readouterr()
    assert main(["select", str(tmp_path / "results" / "ratings.csv"), "--csv"]) == 0
    adaptive = chosen_truth(capsys.readouterr().out, truth)
    fixed = fixed_truth(opinions, truth)
    with capsys.disabled():
        print(
            f"\n{total} ratings instead of {PROMPTS * CANDIDATES * PLANNED} in {now.wave} waves "
            f"and {seconds:.0f} s; true mean of the choices {adaptive:.2f}, fixed {fixed:.2f}"
        )
    # The average over many studies is in test_wave_savings.py; this one may be unlucky.
    assert adaptive > fixed - 0.2


def await_ratings(store_place: str, count: int) -> int:
    """Wait until a study has so many valid ratings; how many it has then."""
    store = open_store(store_place)
    until = time.monotonic() + LIMIT
    while (present := status(store).valid_ratings) < count:
        assert time.monotonic() < until, f"{present} of {count} ratings"
        time.sleep(0.5)
    store.close()
    return present


def chosen_truth(table: str, truth: Array) -> float:
    """The mean true mean of what `darc select --csv` chose."""
    rows = rows_of(table)
    assert len(rows) == PROMPTS
    places = [(int(row["prompt_id"][1:]), SYSTEMS.index(row["candidate_id"])) for row in rows]
    return float(np.mean([truth[place] for place in places]))


def fixed_truth(opinions: Array, truth: Array) -> float:
    """The same by a fixed design without the careless person."""
    ratings = np.full((PROMPTS, CANDIDATES, PLANNED), np.nan)
    raters = np.zeros(ratings.shape, dtype=np.int64)
    for prompt in range(PROMPTS):
        order = [number for number in rater_order(SEED, prompt, PEOPLE) if number != CARELESS]
        ratings[prompt] = opinions[prompt][:, order[:PLANNED]]
        raters[prompt] = order[:PLANNED]
    choices = [each.index for each in darc.select_batch(ratings, rater_ids=raters)]
    return float(truth[np.arange(PROMPTS), choices].mean())
