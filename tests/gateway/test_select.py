"""The choice among scores that the playground makes again at every move of a slider."""

import time
from typing import Any

import httpx
import numpy as np
import pytest
from tests.fakes import FakeServer
from tests.gateway.running import QUESTION, Running, parts, running

import darc

MOVES = 100


def select(gateway: Running, body: Any) -> Any:
    return httpx.post(f"{gateway.url}/v1/select", json=body, timeout=20)


def pool_of(said: dict[str, Any], **method: Any) -> dict[str, Any]:
    """What the page sends of a decision, to have it made again."""
    names = ("name", "location", "scale", "bounds")
    kept = {name: said["parameters"][name] for name in ("beta", "gamma", "normalize")}
    kept |= {name: said[name] for name in ("n_aug", "include_original")}
    return {
        "scores": said["scores"],
        "scorers": [{name: each[name] for name in names} for each in said["scorers"]],
        **{name: said[name] for name in ("side", "prompt_id", "min_samples")},
        "darc": {**kept, **method},
    }


def test_a_decision_is_made_again_by_every_rule(openai_server: FakeServer) -> None:
    scorers = ("form", f"{openai_server.url}/plain,name=reward,location=0,scale=8")
    with running(openai_server, k=5, parts=parts(scorers=scorers, n_aug=4)) as gateway:
        form = {"model": "fake", "messages": QUESTION, "seed": 1}
        first = {"metadata": "full", "full": True}

        def asked(**method: Any) -> dict[str, Any]:
            body = {**form, "darc": {**first, **method}}
            answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=20)
            assert answer.status_code == 200, answer.text
            return dict(answer.json()["darc"])

        said = asked()
        best = asked(rule="mean")["index"]
        for method in (
            {}, {"rule": "epsilon", "epsilon": 0.4}, {"rule": "tau", "tau": 0.02}, {"rule": "soft"},
            {"rule": "poisson", "rate": 3}, {"rule": "worst"}, {"rule": "cvar", "beta": 4},
        ):  # fmt: skip
            expected = asked(**method)
            found = select(gateway, pool_of(said, **method)).json()
            assert found["index"] == expected["index"], method
            assert expected["explanation"].startswith(found["explanation"].rstrip("."))
            assert found["best_of_k"] == best
            rows = [
                {name: each[name] for name in ("value", "mean", "sigma", "risk_premium")}
                for each in expected["candidates"]
            ]
            for own, row in zip(found["candidates"], rows, strict=True):
                assert own == {**own, **row}
        capped = select(gateway, pool_of(said, rule="tau", quantile=0.5)).json()
        assert capped["facts"]["threshold"] >= 0


def test_side_inputs_and_scales_are_taken(gateway: Running) -> None:
    scores = [[1.0, 2.0], [1.0, 1.0]]
    likely = {"scores": scores, "darc": {"rule": "rbon", "b": 9.0}}
    assert select(gateway, likely).status_code == 400
    answer = select(gateway, {**likely, "side": {"log_likelihood": [-5.0, -1.0]}})
    assert answer.json()["index"] == 1
    wrong = select(gateway, {**likely, "side": {"log_likelihood": [-5.0]}})
    assert wrong.status_code == 400, wrong.text
    scale = {"name": "a", "location": 1.0, "scale": 2.0, "bounds": [0.0, 1.5]}
    fixed = {"scores": [scores], "scorers": [scale], "darc": {"normalize": "fixed", "rule": "mean"}}
    rows = select(gateway, fixed).json()["candidates"]
    decision = darc.select(np.clip(scores, 0.0, 1.5), "mean", normalize=([1.0], [2.0]))
    assert [each["mean"] for each in rows] == pytest.approx(decision.statistics.mean.tolist())
    changes: list[dict[str, Any]] = [{"scorers": []}, {"scorers": [scale] * 2}, {"raters": ["x"]}]
    for odd in changes:
        assert select(gateway, {**fixed, **odd}).status_code == 400, odd


def test_sliders_are_instant(gateway: Running) -> None:
    random = np.random.default_rng(0)
    scores = random.normal(0, 1, (3, 8, 9)).round(3).tolist()
    rounds = [1.0]
    with httpx.Client(base_url=gateway.url) as client:
        while min(rounds) >= 0.05 and len(rounds) < 4:
            taken = []
            for move in range(MOVES):
                method = {"rule": "epsilon", "epsilon": move / MOVES}
                begun = time.perf_counter()
                answer = client.post("/v1/select", json={"scores": scores, "darc": method})
                taken.append(time.perf_counter() - begun)
                assert answer.status_code == 200
            rounds.append(float(np.quantile(taken, 0.95)))
    print(f"a move of a slider: p95 {1000 * min(rounds):.1f} ms")
    assert min(rounds) < 0.05
