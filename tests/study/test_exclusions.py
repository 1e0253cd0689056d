import random
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.study.making import config_for, new_store, write_checks

from darc.study import schema
from darc.study.answers import Submission, agree
from darc.study.answers import submit as send
from darc.study.status import status
from darc.study.steps import next_step

Person = Callable[[str, float | None], float]


def careful(draw: random.Random) -> Person:
    return lambda text, reference: float(draw.randint(3, 9)) if reference is None else reference


def guessing(draw: random.Random) -> Person:
    return lambda text, reference: float(draw.randint(0, 10))


def heedless(draw: random.Random) -> Person:
    def answer(text: str, reference: float | None) -> float:
        if reference is not None and "read to its end" in text:
            return (reference + 4) % 11
        return careful(draw)(text, reference)

    return answer


@pytest.mark.slow
def test_bad_raters_are_caught_and_their_slots_rated_again(place: str, tmp_path: Path) -> None:
    gold = write_checks(tmp_path, "gold", 12)
    config = config_for(
        tmp_path,
        40,
        study={"ratings": 3, "annotators": 9},
        quality={"gold": str(gold), "share": 0.35},
    )
    clock = [1_000_000.0]
    store = new_store(place, config, lambda: clock[0])
    draw = random.Random(1)
    people: list[tuple[Person, float]] = [
        (guessing(draw), 9.0),
        (heedless(draw), 9.0),
        (lambda text, reference: 7.0 if reference is None else reference, 9.0),
        (careful(draw), 0.8),
        *[(careful(draw), 9.0) for _ in range(5)],
    ]
    active = list(range(1, 10))
    for person in active:
        agree(store, person, "consented")
        agree(store, person, "instructed")
    while active:
        for person in list(active):
            step = next_step(store, person)
            if step.task is None:
                active.remove(person)
                continue
            answer, seconds = people[person - 1]
            unit = step.task.unit
            code = step.task.row["code"]
            own = update(schema.tasks).where(schema.tasks.c.code == code)
            with store.write() as connection:
                connection.execute(own.values(shown=clock[0]))
            clock[0] += seconds
            send(store, person, Submission(code, 0, answer(unit["first"], unit["reference"])))
        if not active and status(store).complete < len(status(store).items):
            active = [p for p in range(1, 10) if next_step(store, p).task is not None]
    found = status(store)
    states = {person.name: (person.state, person.reason) for person in found.people}
    assert states["r001"][0] == "excluded"
    assert states["r002"] == ("excluded", "attention")
    flags = {person.name: person.care.flags for person in found.people}
    assert "near-constant" in flags["r003"]
    assert flags["r004"] == ("too fast",)
    assert {name for name, (state, _) in states.items() if state == "excluded"} == {"r001", "r002"}
    assert [item.valid for item in found.items] == [3] * 80
    assert sum(item.set_aside for item in found.items) > 0
    store.close()
