"""Bodies that are refused at once although they hold very many values."""

import time
from typing import Any

import httpx
import numpy as np
import pytest
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, running

SECONDS = 5.0


def test_many_candidates_by_scores_are_refused(gateway: Running) -> None:
    for rule in ("borda", "veto"):
        body = {"scores": [[1, 2]] * 25_000, "darc": {"rule": rule}}
        started = time.monotonic()
        answer = httpx.post(f"{gateway.url}/v1/select", json=body, timeout=30)
        assert answer.status_code == 400
        assert "max_scored_candidates" in answer.text
        assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("rule", ["borda", "veto", "leximin", "auto", "entropic"])
def test_as_many_candidates_as_allowed_are_chosen_among(gateway: Running, rule: str) -> None:
    scores = np.random.default_rng(0).normal(size=(1000, 50)).round(3).tolist()
    body = {"scores": scores, "darc": {"rule": rule}}
    started = time.monotonic()
    answer = httpx.post(f"{gateway.url}/v1/select", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    assert time.monotonic() - started < 6 * SECONDS


def hostile_bodies() -> list[tuple[str, dict[str, Any]]]:
    count = 200_000
    ones = [1] * count
    objects: list[dict[str, Any]] = [{}] * count
    return [
        ("select", {"scores": [[]] * count}),
        ("select", {"scores": [[1], [2]], "raters": ones}),
        ("select", {"scores": [[1], [2]], "scorers": objects}),
        ("select", {"scores": [[1], [2]], "names": ones}),
        ("select", {"scores": [[1], [2]], "side": {"tokens": ones}}),
        ("select", {"prompt": "Why?", "candidates": ones}),
        ("chat/completions", {"messages": ones}),
        ("chat/completions", {"messages": objects}),
        ("chat/completions", {"messages": [{"role": "user", "content": ones}]}),
        ("chat/completions", {"messages": [{"role": "user"}] * 20_000}),
        ("chat/completions", {"messages": QUESTION, "x": [[]] * 300_000}),
    ]


@pytest.mark.parametrize(("path", "body"), hostile_bodies())
def test_bodies_with_many_wrong_values_are_refused_at_once(
    gateway: Running, path: str, body: dict[str, Any]
) -> None:
    started = time.monotonic()
    answer = httpx.post(f"{gateway.url}/v1/{path}", json=body, timeout=30)
    assert answer.status_code == 400, answer.text
    assert len(answer.content) < 1000
    assert time.monotonic() - started < SECONDS


def test_bodies_share_a_memory_limit(openai_server: FakeServer) -> None:
    text = "x" * 200_000
    with running(openai_server, max_body_memory=100_000) as gateway:
        url = f"{gateway.url}/v1/chat/completions"
        large = [{"role": "user", "content": text}]
        assert httpx.post(url, json={"messages": large}, timeout=30).status_code == 429
        assert httpx.post(url, json={"messages": QUESTION}, timeout=30).status_code == 200
