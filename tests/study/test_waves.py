import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from tests.study.making import (
    FakeTime,
    code,
    config_for,
    lead_of,
    new_store,
    ready,
    running,
    valid,
)
from tests.study.robots import Robot, form_of

from darc.errors import InputError
from darc.study import answers, schema
from darc.study.answers import Submission
from darc.study.exclusions import exclude_by_name, reinstate
from darc.study.links import add_links
from darc.study.people import erase
from darc.study.settings import StudySettings
from darc.study.status import close, status
from darc.study.steps import Step, next_step
from darc.study.store import Store, open_store

tasks = schema.tasks
units = schema.units
requests = schema.requests
waves = schema.waves

PROMPTS, CANDIDATES, PEOPLE, PLANNED = 12, 4, 6, 3
SYSTEMS = tuple(f"system{k}" for k in range(CANDIDATES))


def adaptive(folder: Path, **given: Any) -> StudySettings:
    study = {"ratings": PLANNED, "annotators": PEOPLE, "design": "adaptive"}
    study |= given.pop("study", {})
    sections = {"quality": {"share": 0.0}, **given}
    return config_for(folder, PROMPTS, SYSTEMS, study=study, **sections)


def opinion(prompt: str, candidate: str, person: int) -> float:
    """What a person thinks of an answer, whenever they are asked."""
    place = [int(prompt[1:]), SYSTEMS.index(candidate)]
    truth = np.random.default_rng([1, *place]).normal(5, 1.5)
    noise = np.random.default_rng([2, *place, person]).normal(0, 1.5)
    return float(np.clip(np.round(truth + noise), 0, 10))


def rate_one(store: Store, person: int, step: Step) -> tuple[str, str]:
    assert step.task is not None
    unit = step.task.unit
    value = opinion(unit["prompt_id"], unit["first_id"], person)
    answers.submit(store, person, Submission(code(step), 0, value))
    return unit["prompt_id"], unit["first_id"]


def work(store: Store, people: list[int], most: int = 10_000) -> list[tuple[int, str, str]]:
    """Let people rate in turn until nobody has anything to do; who rated what."""
    rated: list[tuple[int, str, str]] = []
    idle = 0
    while idle < len(people) and len(rated) < most:
        for person in people:
            step = next_step(store, person)
            if step.name != "task":
                idle += 1
                continue
            idle = 0
            rated.append((person, *rate_one(store, person, step)))
            if len(rated) == most:
                break
        else:
            idle = idle if idle >= len(people) else 0
    return rated


def wanted(store: Store) -> dict[int, int]:
    query = select(units.c.id, units.c.wanted).where(units.c.kind == "item")
    with store.read() as connection:
        return {row.id: row.wanted for row in connection.execute(query)}


def wave_rows(store: Store) -> list[Any]:
    with store.read() as connection:
        return list(connection.execute(select(waves).order_by(waves.c.number)).mappings())


def request_rows(store: Store) -> list[tuple[int, int, int | None]]:
    """The wave, the item and the rater of what waves asked for."""
    query = select(requests.c.wave, requests.c.unit_id, requests.c.annotator_id)
    query = query.where(requests.c.taken_over.is_(False))
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(query.order_by(requests.c.id))]


def check_counts(store: Store) -> int:
    """Every item has exactly the ratings that were asked for; how many there are."""
    counts = wanted(store)
    assert dict(valid(store)) == counts
    _, *rest = wave_rows(store)
    assert sum(counts.values()) <= PROMPTS * CANDIDATES * PLANNED
    for wave in rest:
        rows = [unit_id for number, unit_id, _ in request_rows(store) if number == wave["number"]]
        assert len(rows) == len(set(rows)) == wave["ratings"]
    with store.read() as connection:
        pairs = connection.execute(select(tasks.c.annotator_id, tasks.c.unit_id)).all()
    assert len(set(pairs)) == len(pairs)
    return sum(counts.values())


def test_an_adaptive_study_asks_in_waves_and_ends_with_fewer_ratings(
    place: str, tmp_path: Path
) -> None:
    store = new_store(place, adaptive(tmp_path))
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)
    pilot = PROMPTS * CANDIDATES + 2 * CANDIDATES
    assert sum(wanted(store).values()) == pilot
    assert Counter(wanted(store).values()) == {1: (PROMPTS - 2) * CANDIDATES, 2: 2 * CANDIDATES}
    work(store, people)
    total = check_counts(store)
    last = wave_rows(store)[-1]
    assert last["ending"] in ("price", "raters")
    assert len(wave_rows(store)) > 3
    assert pilot < total < PROMPTS * CANDIDATES * PLANNED
    assert {next_step(store, person).name for person in people} == {"done"}
    sizes = [wave["ratings"] for wave in wave_rows(store)[1:-1]]
    tenth = PROMPTS * CANDIDATES * PLANNED / 10
    assert max(sizes) <= 2 * (tenth + 1)
    store.close()


def test_the_budget_is_spent_exactly_at_no_price(place: str, tmp_path: Path) -> None:
    config = adaptive(tmp_path, adaptive={"price": 0.0, "budget": 100})
    store = new_store(place, config)
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)
    work(store, people)
    assert check_counts(store) in (99, 100)
    assert wave_rows(store)[-1]["ending"] == "budget"
    store.close()


def test_the_answers_of_a_prompt_go_to_one_rater_in_a_row(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), adaptive(tmp_path))
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)
    pilot = PROMPTS * CANDIDATES + 2 * CANDIDATES
    rated = work(store, people, pilot)
    for person in people:
        prompts = [prompt for who, prompt, _ in rated if who == person]
        runs = [p for i, p in enumerate(prompts) if i == 0 or prompts[i - 1] != p]
        assert len(runs) == len(set(runs)), "a prompt is rated without a break"
        assert all(count == CANDIDATES for count in Counter(prompts).values())
    assert {who for who, _, _ in rated} == set(people)
    store.close()


def test_a_restarted_study_goes_on_with_the_same_plan(place: str, tmp_path: Path) -> None:
    """Two studies with the same seed and people rate the same, one of them opened ever anew."""
    people = list(range(1, PEOPLE + 1))
    first = new_store(str(tmp_path / "other.db"), adaptive(tmp_path))
    ready(first, *people)
    through = work(first, people)
    expected = request_rows(first)
    first.close()
    store = new_store(place, adaptive(tmp_path))
    ready(store, *people)
    rated: list[tuple[int, str, str]] = []
    while len(rated) < len(through):
        for person in people:
            step = next_step(store, person)
            if len(rated) % 9 == 0:
                store.close()
                store = open_store(place)
                again = next_step(store, person)
                assert again.name == step.name
                step = again
            if step.name == "task":
                rated.append((person, *rate_one(store, person, step)))
    work(store, people)
    assert sorted(rated) == sorted(through)
    assert request_rows(store) == expected
    store.close()


def test_threads_never_overfill_and_plan_each_wave_once(place: str, tmp_path: Path) -> None:
    store = new_store(place, adaptive(tmp_path))
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)

    def live(person: int) -> None:
        while (step := next_step(store, person)).name != "done":
            if step.name == "task":
                rate_one(store, person, step)

    threads = [threading.Thread(target=live, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    check_counts(store)
    numbers = [wave["number"] for wave in wave_rows(store)]
    assert numbers == list(range(len(numbers)))
    store.close()


def test_an_excluded_raters_ratings_are_asked_of_others(place: str, tmp_path: Path) -> None:
    store = new_store(place, adaptive(tmp_path))
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)
    work(store, people, 90)
    before = wanted(store)
    lost = [unit for _, unit, who in request_rows(store) if who == 2]
    exclude_by_name(store, "r002", "careless")
    assert wanted(store) == before
    assert sum(valid(store).values()) < sum(before.values())
    work(store, people)
    check_counts(store)
    with store.read() as connection:
        query = select(func.count()).where(tasks.c.annotator_id == 2, tasks.c.valid)
        assert connection.execute(query).scalar_one() == 0
        query = select(tasks.c.unit_id).where(tasks.c.valid, tasks.c.annotator_id != 2)
        assert set(lost) <= set(connection.execute(query).scalars())
    restored, surplus = reinstate(store, "r002")
    assert (restored, surplus > 0) == (0, True)
    check_counts(store)
    store.close()


def test_erasing_a_person_reopens_their_ratings(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), adaptive(tmp_path))
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)
    work(store, people, 80)
    assert erase(store, "r003") > 0
    work(store, [person for person in people if person != 3])
    check_counts(store)
    store.close()


def test_a_rater_at_work_is_waited_for_and_one_who_is_away_is_not(tmp_path: Path) -> None:
    clock = FakeTime()
    config = adaptive(tmp_path, study={"annotators": 3})
    store = new_store(str(tmp_path / "s.db"), config, clock)
    ready(store, 1, 2, 3)
    assert next_step(store, 3).name == "task"
    rated = work(store, [1, 2])
    assert next_step(store, 1).name == "wait"
    held = {prompt for _, prompt, _ in rated}
    assert len(held) < PROMPTS, "the prompts of the third person are left to them"
    clock.now += 31 * 60
    late = work(store, [1, 2])
    assert held | {prompt for _, prompt, _ in late} == {f"p{i}" for i in range(PROMPTS)}
    work(store, [1, 2, 3])
    check_counts(store)
    store.close()


def test_ratings_that_nobody_is_left_to_give_are_withdrawn(tmp_path: Path) -> None:
    config = adaptive(
        tmp_path, study={"annotators": 3}, adaptive={"price": 0.0}, quality={"share": 0.0}
    )
    store = new_store(str(tmp_path / "s.db"), config)
    ready(store, 1, 2, 3)
    work(store, [1, 2, 3], 110)
    exclude_by_name(store, "r001", "careless")
    work(store, [2, 3])
    counts = check_counts(store)
    assert max(wanted(store).values()) == 2
    assert wave_rows(store)[-1]["ending"] == "raters"
    assert counts == sum(valid(store).values())
    store.close()


def test_a_study_waits_for_those_who_have_not_begun(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), adaptive(tmp_path, adaptive={"price": 0.0}))
    ready(store, 1, 2)
    work(store, [1, 2])
    assert wave_rows(store)[-1]["ending"] == ""
    assert next_step(store, 1).name == "done", "they have rated everything"
    ready(store, 3)
    assert len(work(store, [3])) > 0
    check_counts(store)
    store.close()


def test_people_added_later_take_part(tmp_path: Path) -> None:
    config = adaptive(tmp_path, study={"annotators": 3})
    store = new_store(str(tmp_path / "s.db"), config)
    ready(store, 1, 2, 3)
    work(store, [1, 2, 3], 60)
    add_links(store, 2)
    ready(store, 4, 5)
    rated = work(store, [1, 2, 3, 4, 5])
    assert {4, 5} <= {person for person, _, _ in rated}
    check_counts(store)
    store.close()


def test_a_cap_holds(tmp_path: Path) -> None:
    config = adaptive(tmp_path, study={"items_each": 15, "annotators": 9})
    store = new_store(str(tmp_path / "s.db"), config)
    people = list(range(1, 10))
    ready(store, *people)
    rated = work(store, people)
    check_counts(store)
    assert max(Counter(person for person, _, _ in rated).values()) <= 15
    store.close()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"study": {"mode": "pairwise"}}, "pairs"),
        ({"study": {"ratings": 1}}, "study.ratings"),
        ({"adaptive": {"price": -1.0}}, "adaptive.price"),
        ({"adaptive": {"budget": 10}}, "pilot takes 56"),
    ],
)
def test_what_cannot_be_adaptive_is_refused(
    tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        new_store(str(tmp_path / "s.db"), adaptive(tmp_path, **given))


def test_prompts_with_one_answer_each_leave_nothing_to_choose(tmp_path: Path) -> None:
    config = config_for(tmp_path, 6, ("alone",), study={"design": "adaptive"})
    with pytest.raises(InputError, match="one only"):
        new_store(str(tmp_path / "s.db"), config)


def test_somebody_who_waits_may_say_that_they_are_done(tmp_path: Path) -> None:
    study = {"ratings": 2, "annotators": 2, "completion_code": "SEEN"}
    with (
        running(str(tmp_path / "s.db"), adaptive(tmp_path, study=study)) as one,
        Robot(one.url, one.links[0][1], lambda text: "5") as robot,
        Robot(one.url, one.links[1][1], lambda text: "5") as other,
    ):
        for _ in range(2):
            other.step()
        _, fields = form_of(other.page())
        assert other.post("/finish", fields).status_code == 404, "nothing is rated yet"
        while 'id="wait"' not in robot.page():
            assert robot.step()
        page = robot.page()
        assert "/static/wait.js" in page
        assert robot.client.get("/static/wait.js").status_code == 200
        assert "SEEN" not in page
        assert "last answer" in robot.client.get("/back").text
        path, fields = form_of(page, "/finish")
        assert robot.post(path, fields).status_code == 303
        assert "SEEN" in robot.page()
        with lead_of(one) as lead:
            page = lead.get("/lead").text
        assert "Certainty of each prompt" in page
        assert page.count("<td>8</td>") >= PROMPTS, "what a fixed design takes of each prompt"
        assert not any(system in page for system in SYSTEMS)


def test_the_lead_sees_certainty_savings_and_the_next_wave(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), adaptive(tmp_path))
    people = list(range(1, PEOPLE + 1))
    ready(store, *people)
    early = status(store).adaptive
    assert early is not None
    assert (early.wave, early.certainty, early.next_ratings) == (0, None, 0)
    work(store, people, 70)
    middle = status(store).adaptive
    assert middle is not None
    assert middle.wave >= 1
    assert middle.next_ratings == sum(prompt.next_wave for prompt in middle.prompts) > 0
    assert all(0 < (prompt.certainty or 0) <= 1 for prompt in middle.prompts)
    assert {(prompt.prompt_id, prompt.choice) for prompt in middle.prompts} == {("", "")}
    work(store, people)
    late = status(store).adaptive
    assert late is not None
    total = sum(valid(store).values())
    assert late.ending in ("price", "raters")
    assert late.wanted_ratings == total
    assert late.saved_ratings == PROMPTS * CANDIDATES * PLANNED - total > 0
    assert (late.certainty or 0) > (middle.certainty or 0)
    share = re.search(r"\((\d+)%\)", " ".join(late.sentences))
    assert share is not None
    assert int(share[1]) == round(100 * late.saved_ratings / late.fixed_ratings)
    close(store, force=False)
    named = status(store).adaptive
    assert named is not None
    assert [prompt.prompt_id for prompt in named.prompts] == [f"p{i}" for i in range(PROMPTS)]
    assert {prompt.choice for prompt in named.prompts} <= set(SYSTEMS)
    store.close()


def test_a_study_with_waves_left_is_closed_by_force_only(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), adaptive(tmp_path))
    ready(store, *range(1, PEOPLE + 1))
    for person in range(1, PEOPLE + 1):
        while next_step(store, person).name == "task" and sum(valid(store).values()) < 56:
            rate_one(store, person, next_step(store, person))
    with pytest.raises(InputError, match="force"):
        close(store, force=False)
    close(store)
    store.close()
