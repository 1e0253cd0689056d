"""Answers of which none is good: flagged, written anew, or refused."""

import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import openai
import pytest
from tests.engine.test_panel_samples import ANSWERS, answer_of, graded
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, parts, running

import darc
from darc.decide.evidence.promise import Promise
from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import Calibrations

RATERS = 8
# Four answers that everybody dislikes, and four more of which one is liked.
POOR = [[2, 1, 2, 3, 2, 1, 2, 2]] * 4
LATER = [[1] * RATERS, [9, 8, 9, 8, 9, 8, 9, 9], [2] * RATERS, [1] * RATERS]
GRADES = np.array([*POOR, *LATER], dtype=float)
GOOD = 5


@pytest.fixture
def backend(openai_server: FakeServer) -> FakeServer:
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = graded(GRADES)
    return openai_server


def serve(backend: FakeServer, **settings: Any) -> Any:
    return running(backend, parts=parts(panel=darc.Panel(mode="separate")), k=4, **settings)


def ask(gateway: Running, stream: bool = False, **options: Any) -> httpx.Response:
    method = {"metadata": True, "full": True, **options}
    body = {"model": "m", "messages": QUESTION, "seed": 0, "stream": stream, "darc": method}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=30)


def is_grading(body: dict[str, Any]) -> bool:
    return "grade answers" in body["messages"][0]["content"]


def metric(gateway: Running, name: str) -> float:
    lines = httpx.get(f"{gateway.url}/metrics").text.splitlines()
    return float(next(line.split()[-1] for line in lines if line.startswith(f"{name} ")))


@pytest.mark.parametrize("full", [True, False])
def test_a_poor_answer_is_flagged_and_counted(
    backend: FakeServer, tmp_path: Path, full: bool
) -> None:
    with serve(backend, audit=tmp_path / "audit.jsonl") as gateway:
        answer = ask(gateway, full=full)
        streamed = ask(gateway, stream=True, full=full)
        held = metric(gateway, "darc_held_total")
    assert answer.status_code == 200
    assert answer.headers["x-darc-held"] == streamed.headers["x-darc-held"] == "true"
    assert answer.json()["darc"]["held"] is True
    assert "None of these answers is good" in answer.json()["darc"]["explanation"]
    assert '"held": true' in streamed.text
    assert held == 2
    row = json.loads((tmp_path / "audit.jsonl").read_text().splitlines()[0])
    assert "held" in row["flags"]


def test_what_is_poor_is_the_requests_or_the_servers(backend: FakeServer) -> None:
    with serve(backend, poor_below=1.0) as gateway:
        answer = ask(gateway)
        assert answer.json()["darc"]["held"] is False
        assert "x-darc-held" not in answer.headers
        assert ask(gateway, poor_below=4.5).json()["darc"]["held"] is True


def test_more_answers_are_asked_for_once(backend: FakeServer) -> None:
    with serve(backend, when_held="more") as gateway:
        answer = ask(gateway).json()
    assert answer["choices"][0]["message"]["content"] == ANSWERS[GOOD]
    result = answer["darc"]
    assert result["held"] is False
    assert (result["index"], result["k"]) == (GOOD, 8)
    assert "more_candidates:4" in result["flags"]
    assert "none of the first 4 answers was good" in result["explanation"]
    assert [row["seed"] for row in result["candidates"]] == list(range(8))
    # Every answer is graded once by each rater, those of the first round too.
    assert result["spent"]["candidates"]["calls"] == 8
    assert result["spent"]["scores"]["calls"] == 8 * RATERS == result["scored"]
    assert answer["usage"]["upstream"]["calls"] == 8 + 8 * RATERS


def test_answers_that_were_drawn_in_waves_are_not_graded_again(backend: FakeServer) -> None:
    with serve(backend, when_held="more", stop="pandora:cost=0.5") as gateway:
        result = ask(gateway).json()["darc"]
    assert result["index"] == result["k"] - 3
    assert {"stopped_early", "more_candidates:2"} <= set(result["flags"])
    assert result["spent"]["scores"]["calls"] == result["k"] * RATERS


def test_the_time_that_is_up_keeps_the_first_answers(backend: FakeServer) -> None:
    grade = graded(GRADES)

    def reply(body: dict[str, Any], index: int) -> str:
        if not is_grading(body) and body["seed"] >= 4:
            backend.closing.wait(10)
        return grade(body, index)

    backend.reply = reply
    with serve(backend, when_held="more") as gateway:
        result = ask(gateway, budget={"milliseconds": 3000}).json()["darc"]
    assert {"held", "budget_milliseconds"} <= set(result["flags"])
    assert result["k"] == 4


def test_more_answers_that_are_poor_too_are_flagged(backend: FakeServer) -> None:
    backend.reply = graded(np.array([*POOR, *POOR], dtype=float))
    with serve(backend, when_held="more") as gateway:
        answer = ask(gateway)
    assert answer.headers["x-darc-held"] == "true"
    assert answer.json()["darc"]["k"] == 8
    written = [body["seed"] for body in backend.bodies if not is_grading(body)]
    assert sorted(written) == list(range(8))


def test_answers_that_repeat_others_are_counted_and_graded_once(backend: FakeServer) -> None:
    grade = graded(GRADES)

    def reply(body: dict[str, Any], index: int) -> str:
        if is_grading(body):
            return grade(body, index)
        # Two different answers at first, and one further among the next four.
        return ANSWERS[{0: 0, 1: 0, 2: 1, 3: 1, 4: 0, 5: GOOD, 6: GOOD, 7: 1}[body["seed"]]]

    backend.reply = reply
    with serve(backend, when_held="more") as gateway:
        answer = ask(gateway).json()
    result = answer["darc"]
    assert answer["choices"][0]["message"]["content"] == ANSWERS[GOOD]
    assert (result["k"], len(result["candidates"])) == (8, 3)
    assert "more_candidates:4" in result["flags"]
    assert result["spent"]["scores"]["calls"] == 3 * RATERS


def test_good_answers_are_not_written_again(backend: FakeServer) -> None:
    backend.reply = graded(GRADES[::-1])
    with serve(backend, when_held="more") as gateway:
        result = ask(gateway).json()["darc"]
    assert result["k"] == 4
    assert not result["held"]


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_more_answers_that_cannot_be_had(backend: FakeServer, policy: str) -> None:
    grade = graded(GRADES)

    def reply(body: dict[str, Any], index: int) -> str:
        if not is_grading(body) and body["seed"] >= 4:
            raise ValueError("no more answers")
        return grade(body, index)

    backend.reply = reply
    with serve(backend, when_held="more") as gateway:
        answer = ask(gateway, policy=policy)
    if policy == "closed":
        assert answer.status_code == 400
        assert "no more answers" in answer.text
    else:
        assert {"held", "fewer_candidates"} <= set(answer.json()["darc"]["flags"])
        assert answer.json()["darc"]["k"] == 4


def test_a_limit_on_calls_keeps_the_first_answers(backend: FakeServer) -> None:
    with serve(backend, when_held="more", max_upstream_calls=4 + 4 * RATERS) as gateway:
        result = ask(gateway).json()["darc"]
    assert {"held", "budget_upstream"} <= set(result["flags"])
    assert result["k"] == 4


@pytest.mark.parametrize("stream", [False, True])
def test_poor_answers_are_refused_without_their_text(
    backend: FakeServer, stream: bool, tmp_path: Path
) -> None:
    with serve(backend, when_held="refuse", audit=tmp_path / "audit.jsonl") as gateway:
        answer = ask(gateway, stream=stream)
        held = metric(gateway, "darc_held_total")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "held")
    assert error["message"].startswith("none of the 4 answers is good (")
    assert "rated 1.9 on average, below 5" in error["message"]
    assert "Answer number" not in answer.text
    assert answer.headers["x-darc-held"] == "true"
    assert held == 1
    assert "held" in json.loads((tmp_path / "audit.jsonl").read_text())["flags"]


def test_a_refusal_after_the_stream_has_begun_is_an_event(backend: FakeServer) -> None:
    backend.latency = 0.1
    with serve(backend, when_held="refuse", keep_alive=0.05) as gateway:
        answer = ask(gateway, stream=True)
    assert answer.status_code == 200
    assert '"code": "held"' in answer.text
    assert "Answer number" not in answer.text


def test_openai_clients_do_not_try_a_refusal_again(backend: FakeServer) -> None:
    with serve(backend, when_held="refuse") as gateway:
        client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="none", max_retries=3)
        with pytest.raises(openai.UnprocessableEntityError, match="none of the 4 answers is good"):
            client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": "Why are there two tides?"}],
                seed=0,
                extra_body={"darc": {"full": True}},
            )
    graded_answers = {answer_of(body) for body in backend.bodies if is_grading(body)}
    assert graded_answers == {0, 1, 2, 3}
    assert len(backend.bodies) == 4 + 4 * RATERS


def test_a_request_says_what_to_do(backend: FakeServer) -> None:
    with serve(backend, when_held="refuse") as gateway:
        assert ask(gateway, when_held="flag").status_code == 200
        assert ask(gateway, when_held="more").json()["darc"]["index"] == GOOD
        wrong = ask(gateway, when_held="never")
    assert wrong.status_code == 400
    assert wrong.json()["error"]["param"] == "darc.when_held"


def test_the_page_shows_what_would_be_refused(backend: FakeServer) -> None:
    body = {"model": "m", "messages": QUESTION, "seed": 0}
    with serve(backend, when_held="refuse") as gateway:
        shown = httpx.post(f"{gateway.url}/v1/playground", json=body, timeout=30).text
    assert "event: decision" in shown
    assert '"held": true' in shown


def test_further_answers_are_told_to_the_page_by_their_places(backend: FakeServer) -> None:
    body = {"model": "m", "messages": QUESTION, "seed": 0, "darc": {"when_held": "more"}}
    with serve(backend) as gateway:
        shown = httpx.post(f"{gateway.url}/v1/playground", json=body, timeout=30).text
    events = [json.loads(line[6:]) for line in shown.splitlines() if line.startswith("data: {")]
    places = sorted(event["index"] for event in events if "text" in event)
    assert places == list(range(8))


def test_another_model_answers_where_the_first_ones_are_poor(backend: FakeServer) -> None:
    with serve(backend, when_held="fallback", fallback_model="large") as gateway:
        answer = ask(gateway).json()
    assert answer["choices"][0]["message"]["content"] == ANSWERS[GOOD]
    assert "fallback:large" in answer["darc"]["flags"]
    written = [body for body in backend.bodies if not is_grading(body)]
    assert sorted(body["model"] for body in written) == ["large"] * 4 + ["m"] * 4
    assert {body["model"] for body in backend.bodies if is_grading(body)} == {"m"}


def test_a_gateway_without_another_model_refuses_to_ask_it(backend: FakeServer) -> None:
    with serve(backend) as gateway:
        refused = ask(gateway, when_held="fallback")
    assert refused.status_code == 400
    assert "when_held" in refused.text


def test_several_answers_serve_different_raters(backend: FakeServer) -> None:
    # Half of the raters like the first two answers, the others the third one.
    halves = [[9] * 4 + [5] * 4, [9] * 4 + [5] * 4, [2] * 4 + [9] * 4, [4] * 8]
    backend.reply = graded(np.array(halves, dtype=float))
    body = {"model": "m", "messages": QUESTION, "seed": 0, "n": 2}
    texts = {}
    with serve(backend) as gateway:
        for slate in ("different", "best"):
            options = {"metadata": True, "slate": slate}
            answer = httpx.post(
                f"{gateway.url}/v1/chat/completions", json={**body, "darc": options}, timeout=30
            ).json()
            texts[slate] = [choice["message"]["content"] for choice in answer["choices"]]
    assert texts["best"] == [ANSWERS[0], ANSWERS[1]]
    assert texts["different"] == [ANSWERS[0], ANSWERS[2]]


def test_what_falls_below_a_promise_is_held(backend: FakeServer) -> None:
    backend.reply = graded(np.full((8, RATERS), 7.0) + np.arange(RATERS) % 2)
    promise = Promise(
        kind="overall",
        risk="rating < 5",
        level=0.1,
        threshold=9.0,
        caution=1.0,
        prompts=100,
        ratings_per_answer=8.0,
        coverage=0.5,
    )
    calibrations = Calibrations({"": Calibration(promise=promise)})
    with serve(backend, calibrations=calibrations) as gateway:
        answer = ask(gateway, full=False)
        refused = ask(gateway, when_held="refuse")
    assert answer.headers["x-darc-held"] == "true"
    assert {"held", "below_promise"} <= set(answer.json()["darc"]["flags"])
    assert answer.json()["darc"]["certainty"]["expected_mean"] == pytest.approx(7.5, abs=0.5)
    assert refused.status_code == 422
