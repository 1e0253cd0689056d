from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.engine.test_panel_samples import ANSWERS, VIEWS, graded
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, parts, read_audit, running

import darc
from darc.analysis.audit_log import load_audit_log

# Three raters hate the first answer, nobody minds the second.
GRADES = np.array([[9, 9, 9, 9, 9, 2, 2, 2], [6] * 8, [3] * 8, [4] * 8], dtype=float)
UNHAPPY = list(VIEWS)[-3:]


@pytest.fixture
def panel_gateway(openai_server: FakeServer, tmp_path: Path) -> Iterator[Running]:
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = graded(GRADES)
    panel = parts(panel=darc.Panel(mode="separate"))
    with running(openai_server, parts=panel, k=4, audit=tmp_path / "audit.jsonl") as gateway:
        yield gateway


def ask(gateway: Running, **options: Any) -> dict[str, Any]:
    method = {"metadata": True, "full": True, **options}
    body = {"model": "m", "messages": QUESTION, "seed": 0, "darc": method}
    answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["darc"])


@pytest.mark.parametrize("full", [True, False])
def test_a_choice_is_told_in_words_about_people(panel_gateway: Running, full: bool) -> None:
    result = ask(panel_gateway, full=full)
    assert (result["index"], result["best_of_k"], result["held"]) == (1, 0, False)
    assert result["explanation"].startswith(
        "candidate 1, not candidate 0: candidate 0 has the higher average (6.4 against 6.0), but "
        f"3 of 8 are unhappy with it ({UNHAPPY[0]}, {UNHAPPY[1]} and {UNHAPPY[2]}) and nobody with "
        "candidate 1; that is very unlikely to be chance."
    )
    people = result["people"]
    assert (people["chosen"], people["best_mean"], people["unhappy_below"]) == (1, 0, 5)
    assert people["scale"] == [0, 10]
    assert people["answers"][0]["unhappy_raters"] == UNHAPPY
    assert "caution_note" not in result


def test_numbers_of_candidates_are_for_those_who_ask_for_everything(panel_gateway: Running) -> None:
    row = ask(panel_gateway)["candidates"][0]
    assert (row["mean"], row["samples"], row["seed"]) == (6.375, 8, 0)
    assert not {"value", "sigma", "risk_premium"} & row.keys()
    result = ask(panel_gateway, metadata="full")
    assert {"value", "sigma", "risk_premium", "mean", "samples"} <= result["candidates"][0].keys()
    assert (result["sample"], result["raters"]) == ("rater", list(VIEWS))


def test_caution_and_threshold_of_a_request_count(panel_gateway: Running) -> None:
    result = ask(panel_gateway, caution="none")
    assert (result["index"], result["people"]["caution"]) == (0, 0)
    assert ask(panel_gateway, caution=1)["index"] == 1
    strict = ask(panel_gateway, threshold=7)
    assert strict["people"]["unhappy_below"] == 7
    assert strict["people"]["answers"][1]["unhappy"] == 8
    limited = ask(panel_gateway, caution="none", no_rating_below=3)
    assert (limited["index"], limited["best_of_k"]) == (1, 0)


def test_an_answer_that_is_not_the_best_of_k_is_counted(panel_gateway: Running) -> None:
    ask(panel_gateway)
    ask(panel_gateway, caution="none")
    assert "darc_other_choices_total 1.0" in httpx.get(f"{panel_gateway.url}/metrics").text


def test_candidates_that_were_ruled_out_early_have_no_numbers(panel_gateway: Running) -> None:
    result = ask(panel_gateway, metadata="full", full=False, rule="mean")
    early = [row for row in result["candidates"] if row.get("bounded")]
    assert early
    assert {row[name] for row in early for name in ("mean", "value", "sigma")} == {None}
    assert result["best_of_k"] == 0
    assert [result["panel"]["disagreement"][row["index"]] for row in early] == [None] * len(early)


def test_best_of_k_is_not_guessed(panel_gateway: Running, openai_server: FakeServer) -> None:
    # One zero rules the first answer out, which may yet have the highest average.
    openai_server.reply = graded(np.array([[0, *[10] * 7], [6] * 8, [5] * 8, [4] * 8], dtype=float))
    method = {"rule": "entropic", "beta": 4}
    assert ask(panel_gateway, full=False, **method)["best_of_k"] is None
    result = ask(panel_gateway, **method)
    assert (result["index"], result["best_of_k"]) == (1, 0)


def test_people_are_told_of_by_the_places_of_the_clients_answers(panel_gateway: Running) -> None:
    answers = [ANSWERS[2], ANSWERS[2], ANSWERS[0], ANSWERS[0], ANSWERS[1]]
    body = {"messages": QUESTION, "candidates": answers, "darc": {"full": True}}
    result = httpx.post(f"{panel_gateway.url}/v1/select", json=body, timeout=30).json()
    people = result["people"]
    assert (
        (result["index"], result["best_of_k"]) == (people["chosen"], people["best_mean"]) == (4, 2)
    )
    assert [row["index"] for row in people["answers"]] == [0, 2, 4]
    assert result["explanation"].startswith("candidate 4, not candidate 2: ")
    assert "sigma" not in result["candidates"][0]


def test_the_log_has_all_numbers_and_is_read_again(panel_gateway: Running, tmp_path: Path) -> None:
    ask(panel_gateway)
    (row,) = read_audit(tmp_path / "audit.jsonl")
    assert {"value", "sigma", "risk_premium", "mean"} <= row["candidates"][0].keys()
    assert row["people"]["answers"][0]["unhappy"] == 3
    assert row["answer"] == ANSWERS[1]
    source = load_audit_log(tmp_path / "audit.jsonl")
    assert source.rater_names == list(VIEWS)
    assert np.array_equal(source.samples[0, 0], GRADES)


def test_caution_on_rewrites_is_told_to_have_no_effect(gateway: Running) -> None:
    result = ask(gateway, caution="high")
    assert result["people"] is None
    assert result["caution_note"].startswith("rewrites measure sensitivity to wording")
    assert "caution_note" not in ask(gateway)
    assert ask(gateway, metadata="full")["sample"] == "rewrite"
