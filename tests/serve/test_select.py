"""The choice among scores that the playground makes again at every move of a slider."""

import time
from typing import Any

import httpx
import numpy as np
import pytest
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, parts, running

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
        "scorers": [{name: row[name] for name in names} for row in said["scorers"]],
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

        result = asked()
        best = asked(rule="mean")["index"]
        for method in (
            {}, {"rule": "epsilon", "epsilon": 0.4}, {"rule": "tau", "tau": 0.02}, {"rule": "soft"},
            {"rule": "poisson", "rate": 3}, {"rule": "worst"}, {"rule": "cvar", "beta": 4},
        ):  # fmt: skip
            expected = asked(**method)
            found = select(gateway, pool_of(result, **method)).json()
            assert found["index"] == expected["index"], method
            assert expected["explanation"].startswith(found["explanation"].rstrip("."))
            assert found["best_of_k"] == best
            rows = [
                {name: row[name] for name in ("value", "mean", "sigma", "risk_premium")}
                for row in expected["candidates"]
            ]
            for own, row in zip(found["candidates"], rows, strict=True):
                assert own == {**own, **row}
        capped = select(gateway, pool_of(result, rule="tau", quantile=0.5)).json()
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
    assert [row["mean"] for row in rows] == pytest.approx(decision.statistics.mean.tolist())
    changes: list[dict[str, Any]] = [{"scorers": []}, {"scorers": [scale] * 2}, {"raters": ["x"]}]
    for odd in changes:
        assert select(gateway, {**fixed, **odd}).status_code == 400, odd


DIVIDED = [[9, 9, 9, 9, 9, 2, 2, 2], [6, 6, 6, 6, 6, 6, 6, 6]]
NAMES = ["ann", "bob", "cy", "di", "ed", "flo", "gus", "hal"]


def test_ratings_are_explained_with_the_names_of_the_unhappy(gateway: Running) -> None:
    body = {"scores": DIVIDED, "raters": NAMES, "darc": {"scale": [0, 10]}}
    found = select(gateway, body).json()
    assert (found["index"], found["best_of_k"], found["sample"]) == (1, 0, "rater")
    assert found["explanation"] == (
        "candidate 1, not candidate 0: candidate 0 has the higher average (6.4 against 6.0), but "
        "3 of 8 are unhappy with it (flo, gus and hal) and nobody with candidate 1; that is very "
        "unlikely to be chance. Medium caution gives up 0.38 points of the average for this."
    )
    people = found["people"]
    assert people["unhappy_below"] == 5
    assert [row["unhappy"] for row in people["answers"]] == [3, 0]
    assert people["answers"][0]["unhappy_raters"] == ["flo", "gus", "hal"]
    assert found["held"] is False


def test_ratings_on_no_known_scale_make_nobody_unhappy(gateway: Running) -> None:
    found = select(gateway, {"scores": DIVIDED, "raters": NAMES}).json()
    assert found["index"] == 1
    assert found["people"]["unhappy_below"] is None
    assert "3 of 8 rate it clearly lower (flo, gus and hal)" in found["explanation"]
    assert "unhappy" not in found["explanation"]


def test_the_bounds_of_the_only_scorer_are_the_scale_of_ratings(gateway: Running) -> None:
    panel = {"scores": [DIVIDED], "scorers": [{"name": "panel", "bounds": [0, 10]}]}
    found = select(gateway, {**panel, "raters": NAMES}).json()
    assert found["people"]["unhappy_below"] == 5
    own = {**panel, "raters": NAMES, "darc": {"scale": "0-20", "threshold": 8}}
    assert select(gateway, own).json()["people"]["unhappy_below"] == 8


def test_caution_decides_on_ratings_and_not_on_rewrites(gateway: Running) -> None:
    indices = {
        caution: select(gateway, {"scores": DIVIDED, "darc": {"caution": caution}}).json()["index"]
        for caution in ("none", "medium", "high", 0, 2)
    }
    assert indices == {"none": 0, "medium": 1, "high": 1, 0: 0, 2: 1}
    wording = {"scores": DIVIDED, "sample": "rewrite"}
    for caution in ("none", "high"):
        found = select(gateway, {**wording, "darc": {"caution": caution}}).json()
        assert found["index"] == 0
        assert found["people"] is None
        assert "over the wordings of each answer" in found["explanation"]
        assert found["caution_note"].startswith("rewrites measure sensitivity to wording")
    assert "caution_note" not in select(gateway, wording).json()


def test_scores_of_described_scorers_are_of_rewrites_unless_raters_are_named(
    gateway: Running,
) -> None:
    reward = {"scores": [DIVIDED], "scorers": [{"name": "reward"}]}
    assert select(gateway, reward).json()["sample"] == "rewrite"
    assert select(gateway, {**reward, "sample": "rater"}).json()["sample"] == "rater"
    assert select(gateway, {**reward, "raters": NAMES}).json()["sample"] == "rater"
    wrong = select(gateway, {**reward, "sample": "dice"})
    assert (wrong.status_code, wrong.json()["error"]["param"]) == (400, "sample")


def test_no_rating_may_be_below_a_limit(gateway: Running) -> None:
    scores = [[9, 9, 9, 8, 9, 3], [7, 7, 6, 7, 7, 6]]
    assert select(gateway, {"scores": scores}).json()["index"] == 0
    found = select(gateway, {"scores": scores, "darc": {"no_rating_below": 4}}).json()
    assert (found["index"], found["best_of_k"]) == (1, 0)
    assert "1 of 6 rates it below 4" in found["explanation"]


def test_poor_ratings_are_held(gateway: Running) -> None:
    poor = {"scores": [[2, 1, 2, 1, 2], [1, 2, 1, 1, 1]]}
    assert select(gateway, poor).json()["held"] is False
    for method in ({"scale": "1-5"}, {"poor_below": 3}):
        found = select(gateway, {**poor, "darc": method}).json()
        assert found["held"] is True
        assert found["notes"] == ["none of these answers is good"]
    fine = {**poor, "darc": {"scale": "1-5", "poor_below": 1}}
    assert select(gateway, fine).json()["held"] is False


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
