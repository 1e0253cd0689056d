"""`darc ask` with answers of one's own: no language model is needed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.fakes import FakeServer, Fault
from tests.helpers import check_interrupted, run_command

GOOD = (
    "The Moon pulls on the whole Earth, but hardest on the near side. The water there heaps up, "
    "and a second bulge stays behind on the far side. As the planet turns, a coast meets both."
)
ANSWERS = [
    "Ask somebody who cares, you idiot.",
    GOOD,
    "Bread needs flour, water, salt and yeast. Knead it for ten minutes and let it rise.",
    "I cannot help with that.",
]


def darc(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_command("ask", *arguments)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(ANSWERS), encoding="utf-8")
    return path


def test_answer_table_page_and_picture(answers: Path) -> None:
    page = answers.with_name("page.html")
    picture = answers.with_name("picture.png")
    done = darc(
        "Why are there two tides a day?", "--answers", answers, "--html", page, "--plot", picture
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(GOOD)
    assert "candidate 1 " in done.stdout
    assert "sigma" not in done.stdout
    html = page.read_text(encoding="utf-8")
    assert "<svg" in html
    assert "Bread needs flour" in html
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "scored" in done.stderr


def test_caution_is_noted_to_do_little_on_rewrites(answers: Path) -> None:
    question = ("Why are there two tides a day?", "--answers", answers, "--n-aug", 2)
    done = darc(*question, "--caution", "high", "--full", "--details")
    assert done.stderr.count("Note: rewrites measure sensitivity to wording; ") == 1
    assert "spread over wordings" in done.stdout
    assert "unhappy" not in done.stdout
    assert "sigma" in done.stdout
    refused = darc(*question, "--caution", "much")
    assert refused.returncode == 2
    assert "caution is 'much'" in refused.stderr


def test_what_best_of_k_would_have_taken_is_said(answers: Path) -> None:
    question = ("Why are there two tides a day?", "--answers", answers)
    assert "Best-of-K would have taken the same answer.\n" in darc(*question).stdout
    assert json.loads(darc(*question, "--json").stdout)["best_of_k"] == 1
    done = darc(*question, "--rule", "soft:temperature=1000", "--min-samples", 1, "--seed", 1)
    assert not done.stdout.startswith(GOOD)
    assert "Best-of-K would have taken candidate 1: The Moon pulls on the whole" in done.stdout
    assert "Its scores under rewording: relevance " in done.stdout


def test_what_the_scorers_cannot_see_is_said_in_one_line(answers: Path) -> None:
    page = answers.with_name("page.html")
    done = darc("Why are there two tides a day?", "--answers", answers, "--html", page)
    (note,) = [line for line in done.stderr.splitlines() if "surface scorers" in line]
    assert "--scorer judge:MODEL@URL" in note
    assert "--scorer reward:MODEL" in note
    assert note in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("question", "good", "bad"),
    [
        ("Is tea good?", "Tea is good.", "Tea is awful and you are stupid."),
        (
            "I have chest pain. What should I do?",
            "Chest pain can be a sign of a heart attack. Call an ambulance if it lasts.",
            "Chest pain is always harmless, so ignore it. There is no reason to worry at all.",
        ),
    ],
)
def test_insults_and_dangerous_assurances_lose(
    question: str, good: str, bad: str, tmp_path: Path
) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([bad, good]), encoding="utf-8")
    assert darc(question, "--answers", path).stdout.startswith(good)


def test_short_answers_are_judged_on_what_they_have(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(["yes", "no", "maybe so"]), encoding="utf-8")
    done = darc("Will it rain?", "--answers", path)
    assert "nan" not in done.stdout
    path.write_text(json.dumps(["Tea is good.", "Tea is awful and you are stupid."]))
    fair = darc("Is tea good?", "--answers", path)
    assert "too few rewrites" not in fair.stdout
    assert "rewritten few times only were judged on what they have" in fair.stdout
    strict = darc("Is tea good?", "--answers", path, "--min-samples", 5)
    assert "too few rewrites" in strict.stdout


def test_json(answers: Path) -> None:
    done = darc("Why are there two tides a day?", "--answers", answers, "--json", "--n-aug", 2)
    data = json.loads(done.stdout)
    assert data["answer"] == GOOD
    assert data["index"] == 1
    assert data["calls"] <= 12
    assert data["embeddings"] == {"relevance": "wordllama-256", "harm": "wordllama-256"}
    assert "embeddings" not in done.stderr
    notes = {note["name"]: note["text"] for note in data["notes"]}
    assert "see wording, not truth" in notes["surface_scorers"]
    again = darc("Why are there two tides a day?", "--answers", answers, "--json", "--n-aug", 2)
    one = data
    two = json.loads(again.stdout)
    one.pop("milliseconds")
    two.pop("milliseconds")
    assert one == two


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["  "], "there is no question"),
        (["Why?", "--answers", "none.json"], "none.json: it cannot be read"),
        (["Why?", "--rule", "epsilom"], "did you mean 'epsilon'?"),
        (["Why?", "--rule", "mc_dropout"], "name a scorer for it: --side dropout=dropout:MODEL"),
        (["Why?", "--n-aug", "-1"], "n_aug"),
        (["Why?", "--plot", "x.doc"], "does not end in"),
    ],
)
def test_bad_input(answers: Path, arguments: list[str], words: str) -> None:
    rest = [] if "--answers" in arguments else ["--answers", str(answers)]
    done = darc(*arguments, *rest)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is POSIX")
@pytest.mark.parametrize("presses", [1, 2])
def test_an_interrupt_ends_it_soon(presses: int, openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("hang")] * 100
    model = f"openai:fake@{openai_server.url}/v1"
    command = [sys.executable, "-m", "darc", "ask", "Why?", "--generator", model, "--panel", "2"]
    asking = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    limit = time.monotonic() + 60
    while not openai_server.received and time.monotonic() < limit:
        time.sleep(0.01)
    pressed = time.monotonic()
    for _ in range(presses):
        os.killpg(asking.pid, signal.SIGINT)
        time.sleep(0.1)
    check_interrupted(asking, pressed, "nothing was written", 2.0)


def test_answers_that_repeat_are_one_row_with_their_number(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([*ANSWERS, GOOD, f"{GOOD}\n"]), encoding="utf-8")
    question = ("Why are there two tides a day?", "--answers", path)
    done = darc(*question)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The Moon pulls on the whole") == 2
    assert done.stdout.count("written 3 times") == 1
    assert "answers that repeat another one and count with it: 2" in done.stdout.lower()
    said = json.loads(darc(*question, "--json").stdout)
    assert [each.get("copies") for each in said["candidates"]] == [None, 3, None, None]
    assert "copies:2" in said["flags"]


def test_nothing_is_compared_where_all_answers_are_the_same(tmp_path: Path) -> None:
    question = ("Why are there two tides a day?", *(["--answer", GOOD] * 3))
    page = tmp_path / "page.html"
    done = darc(*question, "--html", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{GOOD}\n\nall 3 answers are the same.\n"
    assert "scored 0 of" in done.stderr
    assert "--full scores them anyway" in done.stderr
    assert not page.exists()
    said = json.loads(darc(*question, "--json").stdout)
    assert (said["answer"], said["index"], said["flags"]) == (GOOD, 0, ["one_answer:3"])
    assert darc(*question, "--full", "--html", page).returncode == 0
    assert page.exists()
