from pathlib import Path

import pytest
from sqlalchemy import select
from tests.study.making import FakeTime, code, config_for, new_store, rate, ready, valid

from darc.study import answers, schema
from darc.study.answers import Submission
from darc.study.messages import Refusal
from darc.study.status import close
from darc.study.steps import next_step

tasks = schema.tasks


def test_an_answer_after_the_lease_counts_if_the_slot_is_still_free(tmp_path: Path) -> None:
    clock = FakeTime()
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path, quality={"share": 0.0}), clock)
    ready(store, 1)
    held = code(next_step(store, 1))
    clock.now += 3600
    answers.submit(store, 1, Submission(held, 0, 3.0))
    assert sum(valid(store).values()) == 1
    store.close()


def test_a_form_sent_twice_or_found_again_changes_nothing(place: str, tmp_path: Path) -> None:
    store = new_store(place, config_for(tmp_path, quality={"share": 0.0}))
    ready(store, 1)
    first = code(next_step(store, 1))
    assert answers.submit(store, 1, Submission(first, 0, 3.0))
    assert not answers.submit(store, 1, Submission(first, 0, 3.0))
    with pytest.raises(Refusal, match="answered"):
        answers.submit(store, 1, Submission(first, 0, 8.0))
    last = answers.last_answer(store, 1)
    assert last is not None
    assert (last.row["answer"], last.row["revision"]) == (3.0, 1)
    assert answers.submit(store, 1, Submission(first, 1, 8.0))
    second = code(next_step(store, 1))
    assert answers.submit(store, 1, Submission(second, 0, 1.0))
    with pytest.raises(Refusal, match="answered"):
        answers.submit(store, 1, Submission(first, 2, 0.0))
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
    answers.submit(store, 1, Submission(latest, 0, 4.0))
    last = answers.last_answer(store, 1)
    assert last is not None
    assert last.row["code"] == latest
    assert answers.submit(store, 1, Submission(latest, 1, 8.0))
    store.close()


def test_a_task_belongs_to_one_annotator(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    ready(store, 1, 2)
    held = code(next_step(store, 1))
    for work in (
        lambda: answers.submit(store, 2, Submission(held, 0, 3.0)),
        lambda: answers.save_draft(store, 2, held, 3.0),
        lambda: answers.mark_seen(store, 2, held),
        lambda: answers.submit(store, 2, Submission(held, 0, "left")),
    ):
        with pytest.raises(Refusal, match="no_task"):
            work()
    store.close()


def test_a_closed_study_takes_no_answers(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    ready(store, 1)
    held = code(next_step(store, 1))
    assert close(store) == 12
    with pytest.raises(Refusal, match="closed"):
        answers.submit(store, 1, Submission(held, 0, 3.0))
    assert next_step(store, 1).name == "closed"
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
