import threading
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from tests.study.making import (
    FakeTime,
    code,
    config_for,
    finish,
    new_store,
    rate,
    ready,
    valid,
)

from darc.study import answers, schema
from darc.study.answers import Submission
from darc.study.exclusions import exclude_by_name, reinstate
from darc.study.people import erase
from darc.study.status import status
from darc.study.steps import next_step

tasks = schema.tasks


def test_asking_again_gives_the_same_task(place: str, tmp_path: Path) -> None:
    store = new_store(place, config_for(tmp_path))
    assert next_step(store, 1).name == "consent"
    ready(store, 1)
    assert code(next_step(store, 1)) == code(next_step(store, 1))
    store.close()


def test_slots_of_live_leases_are_taken_and_lapsed_ones_are_free(
    place: str, tmp_path: Path
) -> None:
    clock = FakeTime()
    config = config_for(tmp_path, 1, systems=("alpha",), quality={"share": 0.0})
    store = new_store(place, config, clock)
    ready(store, 1, 2, 3)
    held = code(next_step(store, 1))
    assert next_step(store, 2).name == "task"
    assert next_step(store, 3).name == "done"
    clock.now += 31 * 60
    assert next_step(store, 3).name == "task"
    finish(store, 2, 4.0)
    finish(store, 3, 6.0)
    assert answers.submit(store, 1, Submission(held, 0, 9.0))
    assert set(valid(store).values()) == {2}
    with store.read() as connection:
        late = connection.execute(select(tasks).where(tasks.c.code == held)).mappings().one()
    assert (late["valid"], late["reason"], late["answer"]) == (False, "surplus", 9.0)
    exclude_by_name(store, "r003", "test")
    assert set(valid(store).values()) == {2}
    store.close()


def test_threads_never_overfill(place: str, tmp_path: Path) -> None:
    config = config_for(tmp_path, 5, study={"ratings": 3, "annotators": 12})
    store = new_store(place, config)
    ready(store, *range(1, 13))
    threads = [threading.Thread(target=finish, args=(store, person)) for person in range(1, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(valid(store).values()) == [3] * 10
    store.close()


def test_exclusion_reopens_and_undoing_it_never_overfills(place: str, tmp_path: Path) -> None:
    store = new_store(place, config_for(tmp_path, quality={"share": 0.0}))
    ready(store, 1, 2, 3)
    finish(store, 1)
    finish(store, 2)
    assert sorted(valid(store).values()) == [2] * 12
    exclude_by_name(store, "r001", "unfit")
    assert sorted(valid(store).values()) == [1] * 12
    assert next_step(store, 1).name == "excluded"
    for _ in range(4):
        rate(store, 3)
    assert reinstate(store, "r001") == (8, 4)
    assert sorted(valid(store).values()) == [2] * 12
    with store.read() as connection:
        kept = connection.execute(select(tasks.c.id).where(tasks.c.annotator_id == 1)).all()
    assert len(kept) == 12
    store.close()


def test_erasing_forgets_the_person_and_reopens(place: str, tmp_path: Path) -> None:
    store = new_store(place, config_for(tmp_path, quality={"share": 0.0}))
    ready(store, 1, 2)
    finish(store, 1)
    assert erase(store, "r001") == 12
    assert not valid(store)
    assert status(store).people[0].state == "erased"
    finish(store, 2)
    assert sum(valid(store).values()) == 12
    store.close()


def test_the_log_cannot_be_changed(place: str, tmp_path: Path) -> None:
    store = new_store(place, config_for(tmp_path))
    for statement in (schema.log.delete(), schema.log.update().values(actor="nobody")):
        with pytest.raises(DBAPIError, match="append-only"), store.write() as connection:
            connection.execute(statement)
    store.close()


def test_a_cap_ends_an_annotators_work(tmp_path: Path) -> None:
    config = config_for(tmp_path, study={"items_each": 4}, quality={"share": 0.0})
    store = new_store(str(tmp_path / "s.db"), config)
    ready(store, 1)
    finish(store, 1)
    assert sum(valid(store).values()) == 4
    store.close()
