"""A gateway whose answers a panel grades, by the backend's own model."""

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine.test_panel_samples import ANSWERS, VIEWS, answer_of, graded, pool, rater_of
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, parts, running

import darc
from darc.analysis.audit_log import load_audit_log
from darc.models.completion import THOUGHT


@pytest.fixture
def backend(openai_server: FakeServer) -> FakeServer:
    openai_server.ignores |= {"logprobs"}
    return openai_server


def panel(**given: Any) -> Any:
    return parts(panel=darc.Panel(mode="separate", **given))


def ask(gateway: Running, headers: Any = None, **more: Any) -> httpx.Response:
    body = {"model": "mine", "messages": QUESTION, "seed": 0, **more}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, headers=headers, timeout=30)


def test_own_model_grades_and_calls_are_saved(backend: FakeServer) -> None:
    table = pool(0)
    backend.reply = graded(table)
    with running(backend, parts=panel(), k=8) as gateway:
        answer = ask(gateway, darc={"metadata": "full", "rule": "epsilon"}).json()
        metrics = httpx.get(f"{gateway.url}/metrics").text
        models = httpx.get(f"{gateway.url}/v1/models").json()
    result = answer["darc"]
    assert result["index"] == darc.select(table, "epsilon").index
    assert answer["choices"][0]["message"]["content"] == ANSWERS[result["index"]]
    assert result["panel"]["raters"] == result["raters"] == list(VIEWS)
    asked = result["panel"]["asked"]
    saved = result["panel"]["saved"]
    assert asked + saved == 64
    assert asked == result["scored"] == result["spent"]["scores"]["calls"] <= 0.45 * 64
    assert answer["usage"]["upstream"]["saved"] == saved
    assert f"darc_calls_saved_total {float(saved)}" in metrics
    assert models["data"][0]["darc"]["raters"] == list(VIEWS)
    assert {body["model"] for body in backend.bodies} == {"mine"}


def test_the_clients_key_goes_to_the_judge_where_it_goes_to_the_backend(
    backend: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    backend.reply = graded(pool(1))
    backend.key = "theirs"
    with running(backend, parts=panel(), k=2) as gateway:
        answer = ask(gateway, {"Authorization": "Bearer theirs"}, darc={"metadata": True}).json()
    assert answer["darc"]["flags"] == ["severity_not_removed"]
    assert {one.headers["authorization"] for one in backend.received} == {"Bearer theirs"}


def test_the_clients_key_goes_to_no_other_server(
    backend: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    backend.reply = graded(pool(1))
    with FakeServer() as other:
        other.reply = graded(pool(1))
        other.ignores = {"logprobs"}
        with running(backend, parts=panel(model=f"judge:*@{other.url}"), k=2) as gateway:
            ask(gateway, {"Authorization": "Bearer theirs"})
        assert other.received
        assert not any("authorization" in one.headers for one in other.received)


def test_audit_rows_name_the_raters(backend: FakeServer, tmp_path: Path) -> None:
    backend.reply = graded(pool(2))
    with running(backend, parts=panel(), k=4, audit=tmp_path / "audit.jsonl") as gateway:
        ask(gateway, darc={"full": True})
    row = json.loads((tmp_path / "audit.jsonl").read_text())
    assert row["raters"] == list(VIEWS)
    assert len(row["scores"][0]) == 4
    assert load_audit_log(tmp_path / "audit.jsonl").rater_names == list(VIEWS)


def test_select_is_judged_by_the_model_that_it_names(backend: FakeServer) -> None:
    backend.reply = lambda body, _: str(answer_of(body))
    body = {"prompt": "Why?", "candidates": ANSWERS[:4], "darc": {"rule": "mean"}}
    with running(backend, parts=panel(), model="usual") as gateway:
        url = f"{gateway.url}/v1/select"
        assert httpx.post(url, json=body).json()["index"] == 3
        assert httpx.post(url, json={**body, "model": "other"}).json()["index"] == 3
        endless = {**body, "candidates": ["Yes.", "<think>Hm."]}
        refused = httpx.post(url, json=endless)
    assert {row["model"] for row in backend.bodies} == {"usual", "other"}
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "candidates.1"


@pytest.mark.parametrize("missing", ["abstain", "pessimistic", "refuse"])
def test_missing_grades(backend: FakeServer, missing: str) -> None:
    grade = graded(pool(3))
    backend.reply = lambda body, i: "?" if rater_of(body) == "expert" else grade(body, i)
    with running(backend, parts=panel(missing=missing), k=3) as gateway:
        answer = ask(gateway, darc={"metadata": "full", "full": True})
    if missing == "refuse":
        assert answer.status_code == 503
        assert "the panel failed" in answer.text
        return
    result = answer.json()["darc"]
    assert result["flags"][-2:] == ["missing_grades:3", "rater_failed:expert"]
    assert "missing_grades:3" in answer.headers["x-darc-flags"]
    assert "Grades that could not be had: 3" in result["explanation"]
    assert result["panel"]["failed"] == [[k, "expert"] for k in range(3)]
    expected = None if missing == "abstain" else 0.0
    assert {row[1] for row in result["scores"][0]} == {expected}


def test_a_prescribed_form_is_graded_by_the_whole_panel(backend: FakeServer) -> None:
    def reply(body: dict[str, Any], index: int) -> str:
        grading = "grade answers" in body["messages"][0]["content"]
        return "7" if grading else json.dumps({"answer": [index, body.get("seed")]})

    backend.reply = reply
    with running(backend, parts=panel(), k=2) as gateway:
        form = {"type": "json_object"}
        result = ask(gateway, response_format=form, darc={"metadata": True, "full": True}).json()
    assert "not_rewritten" not in result["darc"]["flags"]
    assert result["darc"]["candidates"][0]["samples"] == 8


def test_limit_on_upstream_calls_takes_the_best_so_far(backend: FakeServer) -> None:
    backend.reply = graded(pool(4))
    with running(backend, parts=panel(), k=8, max_upstream_calls=20) as gateway:
        answer = ask(gateway, darc={"metadata": True}).json()
    assert "budget_upstream" in answer["darc"]["flags"]
    assert answer["usage"]["upstream"]["calls"] == 20


@pytest.mark.parametrize("stop", ["none", "pandora"])
def test_thoughts_are_not_scored_and_one_without_an_end_is_no_candidate(
    backend: FakeServer, stop: str
) -> None:
    def reply(body: dict[str, Any], _: int) -> str:
        if body["seed"] == 1:
            return f"{THOUGHT}Hm, what"
        return f"{THOUGHT}Hm.</think>Tides follow the Moon, {body['seed']}."

    backend.reply = reply
    with running(backend, k=3) as gateway:
        result = ask(gateway, darc={"metadata": "full", "stop": stop}).json()
    assert result["choices"][0]["message"]["content"].startswith(THOUGHT)
    assert "fewer_candidates" in result["darc"]["flags"]
    texts = [row["text"] for row in result["darc"]["texts"]]
    assert texts == [f"Tides follow the Moon, {seed}." for seed in (0, 2)]


def test_thoughts_without_any_answer_are_passed_on(backend: FakeServer) -> None:
    backend.reply = lambda body, _: f"{THOUGHT}Hm, {body['seed']}"
    with running(backend, k=3) as gateway:
        answer = ask(gateway, darc={"metadata": True})
    assert answer.status_code == 200
    assert answer.json()["darc"]["flags"] == ["fewer_candidates", "one_candidate"]


@pytest.mark.parametrize("ignored", ["n", "nothing"])
@pytest.mark.parametrize("broken", [False, True])
def test_the_default_panel_takes_two_round_trips_and_at_most_17_calls(
    backend: FakeServer, ignored: str, broken: bool
) -> None:
    grade = graded(pool(5))

    def reply(body: dict[str, Any], index: int) -> str:
        if "grade answers" in body["messages"][0]["content"]:
            return "no idea" if broken and rater_of(body) != "safety" else grade(body, index)
        return ANSWERS[((body.get("seed") or 0) + index) % 8]

    backend.reply = reply
    backend.ignores.add(ignored)
    with running(backend, parts=parts(panel=darc.Panel()), k=8) as gateway:
        # The first request finds out what the backend understands.
        ask(gateway, seed=None)
        backend.latency = 0.3
        before = len(backend.received)
        begun = time.perf_counter()
        result = ask(gateway, seed=None, darc={"metadata": True}).json()
        seconds = time.perf_counter() - begun
    calls = len(backend.received) - before
    assert calls == result["usage"]["upstream"]["calls"]
    assert calls <= (17 if ignored == "n" else 10)
    if broken:
        assert any(flag.startswith("missing_grades") for flag in result["darc"]["flags"])
    else:
        assert seconds < 2.6 * backend.latency + 0.2


@pytest.mark.parametrize("panel_options", [{}, {"mode": "separate", "repeats": 2}])
def test_metadata_has_the_grades_as_given_and_decides_the_same_again(
    backend: FakeServer, panel_options: dict[str, Any]
) -> None:
    backend.reply = graded(pool(2))
    with running(backend, parts=parts(panel=darc.Panel(**panel_options)), k=8) as gateway:
        result = ask(gateway, darc={"metadata": "full"}).json()["darc"]
        scorer_fields = ("name", "location", "scale", "bounds")
        scorers = [{name: row[name] for name in scorer_fields} for row in result["scorers"]]
        names = ("scores", "raters", "sample", "judged", "orders", "grades", "prompt_id", "side")
        body = {name: result[name] for name in names if name in result}
        body["darc"] = {"rule": "auto"}
        again = httpx.post(f"{gateway.url}/v1/select", json={**body, "scorers": scorers}).json()
        wrong = {**body, "orders": [0, 1]}
        refused = httpx.post(f"{gateway.url}/v1/select", json={**wrong, "scorers": scorers})
    grades = [grade for row in result["scores"][0] for grade in row]
    assert all(0 <= grade <= 10 for grade in grades)
    assert again["index"] == result["index"]
    assert [row["sigma"] for row in again["candidates"]] == pytest.approx(
        [row["sigma"] for row in result["candidates"]]
    )
    assert again["people"]["answers"] == result["people"]["answers"]
    assert refused.status_code == 400
    assert "orders" in refused.text
