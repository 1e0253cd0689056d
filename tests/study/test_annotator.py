from pathlib import Path

import httpx
import pytest
from sqlalchemy import select
from tests.study.making import Running, config_with, five, lead_of, running, write_checks
from tests.study.robots import Robot, form_of
from tests.study.test_export import rows_of

from darc.cli import main
from darc.study import schema
from darc.study.export import files
from darc.study.markdown import render_markdown as render
from darc.study.people import erase
from darc.study.status import close, status

COMPREHENSION = [
    {"question": "Whose opinion?", "choices": ["Mine", "Theirs"], "answer": "Mine"},
    {"question": "How many?", "choices": ["One", "Two", "Three"], "answer": "Three"},
]
GROUPS = [
    {"name": "age", "question": "How old are you?", "choices": ["Under 30", "30 or older"]},
    {"name": "field", "question": "Your field?", "choices": ["Law", "Medicine"]},
]


class Visitor(Robot):
    """An annotator who says what a form does not hold yet."""

    def send(self, path: str, **more: str) -> httpx.Response:
        found, fields = form_of(self.page())
        assert found == path
        return self.post(path, {**fields, **more})


def visitor(one: Running, place: int = 0) -> Visitor:
    return Visitor(one.url, one.links[place][1], five)


def test_prose_keeps_its_paragraphs_and_answers_their_lines() -> None:
    wrapped = "A sentence that\ngoes on.\n\nAnother."
    assert render(wrapped, breaks=False).count("<p>") == 2
    assert "<br" not in render(wrapped, breaks=False)
    assert "<br" in render(wrapped)


def test_texts_of_the_study_have_no_line_breaks(tmp_path: Path) -> None:
    with running(str(tmp_path / "s.db"), config_with(tmp_path)) as one, visitor(one) as robot:
        robot.work(2)
        robot.page()
    assert len(robot.pages) == 3
    assert not any("<br" in page for page in robot.pages)


def test_the_ends_of_the_scale_are_in_words(tmp_path: Path) -> None:
    texts = {"low": "no <good>", "high": "all good", "question": "How good?"}
    with (
        running(str(tmp_path / "s.db"), config_with(tmp_path, texts=texts)) as one,
        visitor(one) as robot,
    ):
        robot.work(2)
        page = robot.page()
    assert "<legend>How good?</legend>" in page
    assert "0: no &lt;good&gt;</span>" in page
    assert 'value="10" required aria-label="10: all good"' in page


def test_a_study_of_pairs_has_its_own_rubric(tmp_path: Path) -> None:
    config = config_with(tmp_path, study={"mode": "pairwise"})
    with running(str(tmp_path / "s.db"), config) as one, visitor(one) as robot:
        robot.work(2)
        pages = "".join([*robot.pages, robot.page()])
    assert "rather have been given" in pages
    assert "| 10 |" not in pages
    assert "I could not wish" not in pages


def test_comments_are_kept_and_exported(tmp_path: Path) -> None:
    with running(str(tmp_path / "s.db"), config_with(tmp_path, study={"comments": True})) as one:
        with visitor(one) as robot:
            robot.work(2)
            assert 'name="comment"' in robot.page()
            assert robot.send("/answer", answer="4", comment=" <b>Odd</b> ").status_code == 303
            assert "&lt;b&gt;Odd&lt;/b&gt;</textarea>" in robot.client.get("/back").text
            assert robot.send("/answer", answer="4", comment="x" * 5000).status_code == 303
            robot.work()
        with lead_of(one) as lead:
            page = lead.get("/lead").text
        rows = rows_of(files(one.store, unblind=True)["ratings.csv"])
    assert "Comment of r001" in page
    assert "&lt;b&gt;Odd" in page
    assert sorted(row["comment"] for row in rows)[-2:] == ["<b>Odd</b>", "x" * 1000]


def test_without_the_options_nothing_is_offered_or_taken(tmp_path: Path) -> None:
    with running(str(tmp_path / "s.db"), config_with(tmp_path)) as one:
        with visitor(one) as robot:
            robot.work(2)
            page = robot.page()
            assert 'name="comment"' not in page
            assert 'name="skip"' not in page
            assert robot.send("/answer", skip="yes").status_code == 400
            assert robot.send("/answer", answer="4", comment="no").status_code == 303
        made = files(one.store, unblind=True)
    assert "comment" not in made["ratings.csv"]


def test_a_skipped_item_is_left_to_others(tmp_path: Path) -> None:
    config = config_with(tmp_path, study={"skip": True, "ratings": 1, "annotators": 2})
    with running(str(tmp_path / "s.db"), config) as one:
        with visitor(one) as robot:
            robot.work(2)
            for _ in range(6):
                assert robot.send("/answer", skip="yes").status_code == 303
            assert "Thank you" in robot.page()
        assert status(one.store).valid_ratings == 0
        found = status(one.store)
        assert [item.skipped for item in found.items] == [1] * 6
        assert found.people[0].care.flags == ("skips most",)
        with visitor(one, 1) as robot:
            robot.work()
        assert status(one.store).complete == 6
        close(one.store)
        made = files(one.store)
    rows = rows_of(made["ratings.csv"])
    skipped = [row for row in rows if row["exclusion_reason"] == "skipped"]
    assert {(r["rater_id"], r["rating"], r["given"], r["valid"]) for r in skipped} == {
        ("r001", "", "", "false")
    }
    assert len(skipped) == 6
    for name in ("ratings.csv", "ratings.jsonl"):
        (tmp_path / name).write_text(made[name])
        assert main(["select", str(tmp_path / name), "--rule", "mean"]) == 0


def test_a_skip_may_be_taken_back_and_an_answer_too(tmp_path: Path) -> None:
    config = config_with(tmp_path, study={"skip": True, "ratings": 1, "annotators": 2})
    with running(str(tmp_path / "s.db"), config) as one, visitor(one) as robot:
        robot.work(2)
        robot.send("/answer", skip="yes")
        for answer, valid in (({"answer": "7"}, 1), ({"skip": "yes"}, 0), ({"answer": "3"}, 1)):
            path, fields = form_of(robot.client.get("/back").text)
            assert robot.post(path, {**fields, **answer}).status_code == 303
            assert status(one.store).valid_ratings == valid


def test_training_cannot_be_skipped(tmp_path: Path) -> None:
    training = write_checks(tmp_path, "training", 1)
    config = config_with(
        tmp_path, study={"skip": True, "comments": True}, training={"training": str(training)}
    )
    with running(str(tmp_path / "s.db"), config) as one, visitor(one) as robot:
        robot.work(2)
        page = robot.page()
        assert 'name="skip"' not in page
        assert robot.send("/answer", skip="yes").status_code == 404


def test_who_fails_the_comprehension_check_twice_is_thanked_and_seen(tmp_path: Path) -> None:
    config = config_with(tmp_path, comprehension=COMPREHENSION)
    with running(str(tmp_path / "s.db"), config) as one:
        with visitor(one) as robot:
            robot.work(2)
            path, first = form_of(robot.page())
            for _ in range(2):  # the same form twice is one try
                reply = robot.post(path, {**first, "q0": "0", "q1": "1"})
                assert reply.status_code == 303
            page = robot.page()
            assert "one more try" in page
            assert "Instructions" in page
            assert robot.send("/comprehension", q0="0").status_code == 303
            page = robot.page()
            assert "did not match the instructions" in page
            assert "<form" not in page
        with visitor(one, 1) as robot:
            robot.work(2)
            robot.send("/comprehension", q0="1", q1="2")
            assert robot.send("/comprehension", q0="0", q1="2").status_code == 303
            robot.work()
            assert "Thank you" in robot.page()
        found = {person.name: (person.state, person.reason) for person in status(one.store).people}
        with lead_of(one) as lead:
            assert "excluded: comprehension" in lead.get("/lead").text
            path, fields = form_of(lead.get("/lead").text, "/lead/decide")
            lead.post(path, data={**fields, "rater": "r001", "action": "reinstate"})
        with visitor(one) as robot:
            assert form_of(robot.page())[0] == "/answer"
    assert found["r001"] == ("excluded", "comprehension")
    assert found["r002"] == ("finished", "")


def test_groups_are_columns_that_others_read(tmp_path: Path) -> None:
    config = config_with(tmp_path, groups=GROUPS)
    with running(str(tmp_path / "s.db"), config) as one:
        for place, said in enumerate(({"q0": "0", "q1": "1"}, {"q0": "1", "q1": ""}, {"q0": "9"})):
            with visitor(one, place) as robot:
                robot.step()
                assert "Prefer not to say" in robot.page()
                assert robot.send("/groups", **said).status_code == 303
                robot.work()
        with lead_of(one) as lead:
            page = lead.get("/lead").text
        assert "Under 30 (1)" in page
        erase(one.store, "r003")
        with one.store.read() as connection:
            kept = connection.execute(select(schema.annotators.c.groups)).scalars().all()
        assert [said and said["age"] for said in kept] == ["Under 30", "30 or older", None]
        close(one.store)
        made = files(one.store)
    rows = {row["rater_id"]: row for row in rows_of(made["ratings.csv"])}
    columns = ("rater_group", "rater_group_age", "rater_group_field")
    found = {name: tuple(row[column] for column in columns) for name, row in rows.items()}
    expected = {
        "r001": ("Under 30", "Under 30", "Medicine"),
        "r002": ("30 or older", "30 or older", ""),
    }
    assert found == {name: expected[name] for name in found}
    from darc.ratings import read_ratings

    (tmp_path / "ratings.csv").write_text(made["ratings.csv"])
    with read_ratings(tmp_path / "ratings.csv") as table:
        groups = table.groups
    assert groups == {name: said[0] for name, said in found.items() if said[0]}


def test_the_last_page_says_what_happens_next(tmp_path: Path) -> None:
    with running(str(tmp_path / "s.db"), config_with(tmp_path)) as one, visitor(one) as robot:
        robot.work()
        assert "You may close this page" in robot.pages[-1]
        assert "completion code" not in robot.pages[-1]
    given = {"completion_code": "CODE17"}
    (tmp_path / "s.db").unlink()
    config = config_with(tmp_path, study=given, texts={"thanks": "We will write to *you*."})
    with running(str(tmp_path / "s.db"), config) as one, visitor(one) as robot:
        robot.work()
        assert "CODE17" in robot.pages[-1]
        close(one.store)
        assert "CODE17" in robot.page()
        assert "/back" not in robot.pages[-1]
        assert "write to <em>you</em>" in robot.pages[-1]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/", 403, "personal link"),
        ("/join/wrong", 403, "cut off"),
        ("/enrol/wrong", 404, "whoever invited you"),
        ("/lead", 403, "darc study links --lead"),
    ],
)
def test_a_wrong_link_says_what_to_do(tmp_path: Path, path: str, status: int, words: str) -> None:
    with running(str(tmp_path / "s.db"), config_with(tmp_path)) as one:
        reply = httpx.get(one.url + path)
    assert reply.status_code == status
    assert "<h1>This link does not work</h1>" in reply.text
    assert words in reply.text
