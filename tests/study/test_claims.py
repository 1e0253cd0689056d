import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from tests.study.making import FakeTime, config_for, new_store

from darc.study import answers, schema
from darc.study.claims import Step, next_step
from darc.study.people import erase, exclude_by_name, reinstate
from darc.study.status import close, status
from darc.study.store import Refusal, Store

tasks = schema.tasks


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
        answers.submit(store, person, code(step), 0, value if reference is None else reference)
    return step.name


def finish(store: Store, person: int, value: float = 5.0) -> None:
    while rate(store, person, value) == "task":
        pass


def valid(store: Store) -> Counter[int]:
    with store.read() as connection:
        query = select(tasks.c.unit_id).where(tasks.c.kind == "item", tasks.c.valid)
        return Counter(connection.execute(query).scalars())


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
    assert answers.submit(store, 1, held, 0, 9.0)
    assert set(valid(store).values()) == {2}
    with store.read() as connection:
        late = connection.execute(select(tasks).where(tasks.c.code == held)).mappings().one()
    assert (late["valid"], late["reason"], late["answer"]) == (False, "surplus", 9.0)
    exclude_by_name(store, "r003", "test")
    assert set(valid(store).values()) == {2}
    store.close()


def test_an_answer_after_the_lease_counts_if_the_slot_is_still_free(tmp_path: Path) -> None:
    clock = FakeTime()
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path, quality={"share": 0.0}), clock)
    ready(store, 1)
    held = code(next_step(store, 1))
    clock.now += 3600
    answers.submit(store, 1, held, 0, 3.0)
    assert sum(valid(store).values()) == 1
    store.close()


def test_a_form_sent_twice_or_found_again_changes_nothing(place: str, tmp_path: Path) -> None:
    store = new_store(place, config_for(tmp_path, quality={"share": 0.0}))
    ready(store, 1)
    first = code(next_step(store, 1))
    assert answers.submit(store, 1, first, 0, 3.0)
    assert not answers.submit(store, 1, first, 0, 3.0)
    with pytest.raises(Refusal, match="answered"):
        answers.submit(store, 1, first, 0, 8.0)
    last = answers.last_answer(store, 1)
    assert last is not None
    assert (last.row["answer"], last.row["revision"]) == (3.0, 1)
    assert answers.submit(store, 1, first, 1, 8.0)
    second = code(next_step(store, 1))
    assert answers.submit(store, 1, second, 0, 1.0)
    with pytest.raises(Refusal, match="answered"):
        answers.submit(store, 1, first, 2, 0.0)
    with store.read() as connection:
        found = dict(connection.execute(select(tasks.c.code, tasks.c.answer)).all())
    assert found == {first: 8.0, second: 1.0}
    store.close()


@pytest.mark.parametrize("jump", [-86_400.0, 0.0, 7200.0])
def test_the_last_answer_is_the_one_that_came_last_whatever_the_clock(
    place: str, tmp_path: Path, jump: float
) -> None:
    clock = FakeTime()
    store = new_store(place, config_for(tmp_path, quality={"share": 0.0}), clock)
    ready(store, 1)
    rate(store, 1, 3.0)
    clock.now += jump
    latest = code(next_step(store, 1))
    answers.submit(store, 1, latest, 0, 4.0)
    last = answers.last_answer(store, 1)
    assert last is not None
    assert last.row["code"] == latest
    assert answers.submit(store, 1, latest, 1, 8.0)
    store.close()


def test_a_task_belongs_to_one_annotator(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    ready(store, 1, 2)
    held = code(next_step(store, 1))
    for work in (
        lambda: answers.submit(store, 2, held, 0, 3.0),
        lambda: answers.save_draft(store, 2, held, 3.0),
        lambda: answers.mark_seen(store, 2, held),
        lambda: answers.is_flipped(store, 2, held),
    ):
        with pytest.raises(Refusal, match="no_task"):
            work()
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


def test_a_closed_study_takes_no_answers(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    ready(store, 1)
    held = code(next_step(store, 1))
    assert close(store) == 12
    with pytest.raises(Refusal, match="closed"):
        answers.submit(store, 1, held, 0, 3.0)
    assert next_step(store, 1).name == "closed"
    store.close()


def test_a_cap_ends_an_annotators_work(tmp_path: Path) -> None:
    config = config_for(tmp_path, study={"items_each": 4}, quality={"share": 0.0})
    store = new_store(str(tmp_path / "s.db"), config)
    ready(store, 1)
    finish(store, 1)
    assert sum(valid(store).values()) == 4
    store.close()


def test_a_draft_is_remembered_and_keeps_the_lease(tmp_path: Path) -> None:
    clock = FakeTime()
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path), clock)
    ready(store, 1)
    held = code(next_step(store, 1))
    clock.now += 29 * 60
    answers.save_draft(store, 1, held, 7.0)
    clock.now += 29 * 60
    step = next_step(store, 1)
    assert code(step) == held
    assert step.task is not None
    assert step.task.row["draft"] == 7.0
    store.close()


def test_a_clock_that_goes_back_makes_no_time_negative(place: str, tmp_path: Path) -> None:
    clock = FakeTime()
    store = new_store(place, config_for(tmp_path), clock)
    ready(store, 1)
    next_step(store, 1)
    clock.now -= 3600
    rate(store, 1)
    with store.read() as connection:
        assert connection.execute(select(tasks.c.milliseconds)).scalars().all() == [0]
    store.close()
