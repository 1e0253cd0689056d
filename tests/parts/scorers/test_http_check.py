"""`darc check` against reward servers."""

from typing import Any

import pytest
from tests.cli.test_check import check, found, no_key
from tests.fakes import FakeServer

__all__ = ["no_key"]


@pytest.mark.parametrize("path", ["/classify", "/pooling", "/score", "/predict", "/v1/score"])
def test_reward_server(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    data = found(capsys, openai_server.url + path)
    assert data["kind"] == "reward"
    assert data["by"]["classes"]["result"] == "1"
    assert data["by"]["raw scores"]["result"] == "yes, and squeezed ones when asked"
    assert data["by"]["repeatable"]["fine"]
    assert data["by"]["question"]["result"] == "moves the score"
    assert data["commands"][0].endswith(f" --scorer http:{openai_server.url}{path}")
    assert data["calls"] == len(openai_server.received) <= 8


def test_reward_server_of_the_plain_form(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    data = found(capsys, f"{openai_server.url}/plain", "--reward-form", "plain", "--model", "judge")
    assert data["by"]["raw scores"]["result"] == "yes, as far as can be seen"
    assert data["commands"][0].endswith("/plain,form=plain,model=judge")


def test_reward_server_that_squeezes(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.raw = False
    data = found(capsys, f"{openai_server.url}/classify")
    assert data["by"]["raw scores"]["result"].startswith("probably squeezed")
    assert ",low=0,high=1" in data["commands"][0]
    openai_server.classes = 3
    code, out, err = check(capsys, f"{openai_server.url}/classify")
    assert code == 1
    assert "no: each row sums to 1" in out
    assert "gives probabilities that sum to 1" in err
    assert "darc ask" not in out


def test_reward_server_with_several_classes_names_one(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.classes = 3
    data = found(capsys, f"{openai_server.url}/predict")
    assert data["by"]["classes"]["result"] == "3"
    assert f",label={data['options']['label']}" in data["commands"][0]


def test_chat_url_of_a_reward_server_is_understood(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = openai_server.answer

    def rewards_only(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return answer(path, body) if path == "/pooling" else (404, {"detail": "Not Found"})

    monkeypatch.setattr(openai_server, "answer", rewards_only)
    data = found(capsys, openai_server.url)
    assert data["kind"] == "reward"
    assert data["url"] == f"{openai_server.url}/pooling"
    assert data["by"]["chat completions"]["result"] == "no"
    assert data["calls"] == len(openai_server.paths)


@pytest.mark.parametrize(
    ("scores", "code", "what", "result"),
    [
        ([1.5] * 6, 1, "spread", "all 1.5"),
        ([90, 80, -70, -60, -50, 40], 0, "spread", "-70 to 90"),
        ([3, 2, -1, 0, 3, 4], 0, "question", "does not move the score"),
        ([-3, -2, 1, 2, 3, -4], 0, "direction", "0 of 6"),
        ([5, 4, 1, 2, 3, 6], 0, "direction", "6 of 6"),
    ],
)
def test_scores_that_say_little(
    openai_server: FakeServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    scores: list[float],
    code: int,
    what: str,
    result: str,
) -> None:
    def fixed(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return 200, {"scores": scores[: len(body["pairs"])]}

    monkeypatch.setattr(openai_server, "answer", fixed)
    data = found(capsys, f"{openai_server.url}/mine", "--reward-form", "plain", code=code)
    assert result in data["by"][what]["result"]
    if min(scores) < -10:
        assert ",low=-180,high=180" in data["commands"][0]


def test_reward_server_that_is_broken_is_told_as_such(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return (500 if path == "/score" else 404), {"error": {"message": f"{path} it is"}}

    monkeypatch.setattr(openai_server, "answer", broken)
    code, _, err = check(capsys, openai_server.url)
    assert code == 1
    assert "/score answered 500: /score it is" in err
