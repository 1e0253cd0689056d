"""Studies for tests: small sets of items, a store, and a server that runs in a thread."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from darc.study import answers, schema
from darc.study.answers import Submission
from darc.study.app import make_app
from darc.study.checks import study_units
from darc.study.creation import create
from darc.study.links import issue_links
from darc.study.settings import StudySettings, study_settings
from darc.study.steps import Step, next_step
from darc.study.store import Store, open_store
from darc.web.server import listen, make_server
from darc.web.trusted_proxies import TrustedProxies


class FakeTime:
    """A clock that moves when it is told to."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def write_items(
    folder: Path, prompts: int = 6, systems: tuple[str, ...] = ("alpha", "beta")
) -> Path:
    path = folder / "items.jsonl"
    rows = [
        {
            "prompt_id": f"p{p}",
            "prompt": f"Question number {p}?",
            "responses": {s: f"Text of p{p} by c{k}." for k, s in enumerate(systems)},
        }
        for p in range(prompts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_checks(folder: Path, name: str, count: int, pairwise: bool = False) -> Path:
    path = folder / f"{name}.jsonl"
    with path.open("w") as file:
        for i in range(count):
            row: dict[str, Any] = {"prompt": f"{name} question {i}?", "rationale": f"Because {i}."}
            if pairwise:
                row |= {"first": f"{name} one {i}", "second": f"{name} two {i}"}
                row["reference"] = ("first", "second")[i % 2]
            else:
                row |= {"response": f"{name} answer {i}, worth {i % 11}", "reference": i % 11}
            file.write(json.dumps(row) + "\n")
    return path


def config_for(
    folder: Path,
    prompts: int = 6,
    systems: tuple[str, ...] = ("alpha", "beta"),
    **given: Any,
) -> StudySettings:
    """A small configuration; sections are merged into the defaults of tests."""
    items = write_items(folder, prompts, systems)
    base: dict[str, Any] = {
        "study": {"ratings": 2, "annotators": 3, "seed": 5},
        "items": {"jsonl": [str(items)]},
        # Scripted raters obey instructions; they do not tell sense from nonsense.
        "quality": {"attention": "instruction"},
    }
    for name, section in given.items():
        lists = isinstance(section, list)
        base[name] = section if lists else {**base.get(name, {}), **section}
    return study_settings(base)


def config_with(folder: Path, **given: Any) -> StudySettings:
    return config_for(folder, 3, **{"quality": {"share": 0.0}, **given})


def five(text: str) -> str:
    return "5"


def new_store(place: str, config: StudySettings, now: Callable[[], float] = time.time) -> Store:
    store = open_store(place, new=True, now=now)
    create(store, config, *study_units(config))
    return store


def ready(store: Store, *people: int) -> None:
    for person in people:
        answers.agree(store, person, "consented")
        answers.agree(store, person, "instructed")


def code(step: Step) -> str:
    assert step.task is not None
    return str(step.task.row["code"])


def rate(store: Store, person: int, value: float = 5.0) -> str:
    """Answer the next task, whatever it is; its name."""
    step = next_step(store, person)
    if step.task is not None:
        reference = step.task.unit["reference"]
        answers.submit(
            store, person, Submission(code(step), 0, value if reference is None else reference)
        )
    return step.name


def finish(store: Store, person: int, value: float = 5.0) -> None:
    while rate(store, person, value) == "task":
        pass


def valid(store: Store) -> Counter[int]:
    with store.read() as connection:
        query = select(schema.tasks.c.unit_id).where(
            schema.tasks.c.kind == "item", schema.tasks.c.valid
        )
        return Counter(connection.execute(query).scalars())


class Running:
    """A study under test, served on a real port; `links` are (rater, token)."""

    def __init__(
        self,
        place: str,
        config: StudySettings,
        root: str = "",
        rate: float = 0.0,
        trusted: tuple[str, ...] = (),
    ) -> None:
        self.store = open_store(place, new=True)
        self.lead, self.enrol = create(self.store, config, *study_units(config))
        self.links = issue_links(self.store) if config.panel is not None else []
        self._socket = listen("127.0.0.1", 0)
        self.port: int = self._socket.getsockname()[1]
        self.server = make_server(
            make_app(self.store, root, "", rate, proxies=TrustedProxies.parse(trusted)), grace=5
        )
        self.thread = threading.Thread(target=self.server.run, args=([self._socket],))
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.005)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()
        self._socket.close()
        self.store.close()


@contextmanager
def running(
    place: str,
    config: StudySettings,
    root: str = "",
    rate: float = 0.0,
    trusted: tuple[str, ...] = (),
) -> Iterator[Running]:
    one = Running(place, config, root, rate, trusted)
    try:
        yield one
    finally:
        one.close()


@contextmanager
def lead_of(one: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=one.url) as client:
        client.get(f"/lead/join/{one.lead}")
        yield client
