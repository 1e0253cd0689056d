import csv
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pytest
from sqlalchemy import select, update
from tests.study.making import config_for, new_store, running, write_checks
from tests.study.robots import Robot, form_of, obedient

from darc.cli import main
from darc.ratings.simulated import simulate, two_minds
from darc.study import schema
from darc.study.answers import Submission, agree
from darc.study.answers import submit as send
from darc.study.export import export
from darc.study.links import issue_links
from darc.study.status import close, status
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
            unit, code = step.task.unit, step.task.row["code"]
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


@pytest.mark.slow
def test_a_population_comes_back_from_the_pages(tmp_path: Path) -> None:
    people = simulate(two_minds(prompts=6, candidates=4, raters=7, polarising=0.4), seed=2)
    config = config_for(
        tmp_path,
        6,
        systems=("c0", "c1", "c2", "c3"),
        study={"ratings": 7, "annotators": 7},
    )

    def rater(number: int) -> Callable[[str], str]:
        def answer(text: str) -> str:
            words = text.split()
            prompt, candidate = (int(word.strip("pc.")) for word in (words[-3], words[-1]))
            return f"{people.ratings[prompt, candidate, number]:g}"

        return obedient(answer)

    with running(str(tmp_path / "s.db"), config) as one:
        for number, (_, token) in enumerate(one.links):
            with Robot(one.url, token, rater(number)) as robot:
                robot.work()
        assert close(one.store) == 0
        export(one.store, tmp_path / "out")
    out = tmp_path / "decisions.csv"
    assert (
        main(
            [
                "select",
                str(tmp_path / "out" / "ratings.csv"),
                "--rule",
                "epsilon",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    with (tmp_path / "out" / "ratings.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = np.full(people.ratings.shape, np.nan)
    for row in rows:
        place = (
            int(row["prompt_id"][1:]),
            int(row["candidate_id"][1:]),
            int(row["rater_id"][1:]) - 1,
        )
        found[place] = float(row["rating"])
    np.testing.assert_array_equal(found, people.ratings)
    sigma, truth = found.std(axis=2, ddof=1).ravel(), people.truth.sigma.ravel()
    assert np.corrcoef(sigma, truth)[0, 1] > 0.8
    with out.open() as file:
        chosen = {row["prompt_id"]: row["candidate_id"] for row in csv.DictReader(file)}
    assert set(chosen) == {f"p{p}" for p in range(6)}
    divided = people.polarising
    picked = [divided[int(p[1:]), int(c[1:])] for p, c in chosen.items()]
    assert np.mean(picked) < divided.mean()


def test_open_enrolment_with_prolific(tmp_path: Path) -> None:
    config = config_for(
        tmp_path,
        4,
        study={
            "annotators": "open",
            "items_each": 4,
            "completion_code": "CODE17",
            "completion_url": "https://app.prolific.com/submissions/complete?cc=CODE17",
        },
    )

    def enter(one: object, person: str, session: str) -> httpx.Response:
        url = getattr(one, "url", "")
        with httpx.Client(base_url=url) as client:
            query = {"PROLIFIC_PID": person, "STUDY_ID": "s", "SESSION_ID": session}
            page = client.get(f"/enrol/{getattr(one, 'enrol', '')}", params=query)
            assert page.status_code == 200
            path, fields = form_of(page.text)
            return client.post(path, data=fields)

    with running(str(tmp_path / "s.db"), config) as one:
        with one.store.read() as connection:
            assert connection.execute(select(schema.annotators)).all() == []
        for person in ("anna", "ben", "carl", "dora"):
            reply = enter(one, person, f"{person}-session")
            assert reply.status_code == 303
            token = reply.cookies["darc_study"]
            with Robot(one.url, token, obedient(lambda text: "6")) as robot:
                robot.work()
                assert "CODE17" in robot.pages[-1]
        assert [item.valid for item in status(one.store).items] == [2] * 8
        assert enter(one, "anna", "anna-session").status_code == 303
        assert enter(one, "anna", "another").status_code == 403
        assert len(status(one.store).people) == 4
        wrong = httpx.get(f"{one.url}/enrol/{one.lead}")
        assert wrong.status_code == 404


def test_pairs_are_balanced_and_read_back(tmp_path: Path) -> None:
    config = config_for(
        tmp_path,
        4,
        systems=("a", "b", "c"),
        study={"mode": "pairwise", "ratings": 4, "annotators": 4},
        quality={"share": 0.0},
    )

    def prefer(text: str) -> str:
        words = [
            word.strip(".") for word in text.split() if word.startswith("c") and word[1:2].isdigit()
        ]
        return "left" if words[0] < words[1] else "right"

    with running(str(tmp_path / "s.db"), config) as one:
        for _, token in one.links:
            with Robot(one.url, token, prefer) as robot:
                robot.work()
        close(one.store)
        export(one.store, tmp_path / "out")
    with (tmp_path / "out" / "comparisons.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 3 * 4
    better = {"left": "left_id", "right": "right_id"}
    assert all(row[better[row["winner"]]] < max(row["left_id"], row["right_id"]) for row in rows)
    assert Counter(row["winner"] for row in rows) == {"left": 24, "right": 24}
    assert all(row["shown_left"] == row["left_id"] for row in rows)
    path = tmp_path / "out" / "comparisons.csv"
    assert main(["select", str(path), "--rule", "mean", "--out", str(tmp_path / "d.csv")]) == 0
    with (tmp_path / "d.csv").open() as file:
        assert {row["candidate_id"] for row in csv.DictReader(file)} == {"a"}
    assert main(["eval", str(path), "--rule", "mean"]) == 0


def test_links_are_made_once(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    assert [name for name, _ in issue_links(store)] == ["r001", "r002", "r003"]
    assert issue_links(store) == []
    store.close()
