"""`darc check` against servers that lack one thing or another."""

import json
import socket
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault

from darc.cli import main

KEY = "sk-very-secret-1234"
PAGE = b"<!doctype html><html><title>Nothing here</title></html>"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", *arguments])
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    return code, told.out, told.err


def found(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    ended, out, err = check(capsys, *arguments, "--json")
    assert ended == code, err
    data: dict[str, Any] = json.loads(out)
    assert data["usable"] == (code == 0)
    data["by"] = {one["what"]: one for one in data["findings"]}
    return data


def test_server_that_does_everything(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.marks = 4
    code, out, err = check(capsys, openai_server.url)
    assert code == 0
    words = " ".join(out.split())
    for told in (
        "models fake",
        "max_tokens kept",
        "seed honoured",
        "n 3 choices in one call",
        "logprobs given, with top_logprobs",
        "stream 11 events",
        "chat template applied: 4 tokens per turn",
        "system role accepted",
        "tools accepted, and called",
        "response_format JSON as asked",
        f"{len(openai_server.paths)} calls, 283 tokens",
        f"--generator openai:fake@{openai_server.url}/v1",
    ):
        assert told in words
    assert out.rstrip().endswith(f"darc serve --backend {openai_server.url}/v1 --model fake")
    assert "up to 16 calls" in err
    assert len(openai_server.paths) <= 16


@pytest.mark.parametrize(
    ("change", "what", "result", "option"),
    [
        ({"refuses": {"n"}}, "n", "refused (400)", True),
        ({"ignores": {"n"}}, "n", "ignored: 1 of 3 choices", True),
        ({"copies": True}, "n", "3 copies of one text", True),
        ({"ignores": {"seed"}}, "seed", "ignored", False),
        ({"reply": lambda body, index: "Salt."}, "seed", "other seeds give the same text", False),
        ({"reply": lambda body, index: ""}, "seed", "not known", False),
        ({"refuses": {"logprobs"}}, "logprobs", "refused", False),
        ({"ignores": {"logprobs"}}, "logprobs", "not given", False),
        ({"refuses": {"top_logprobs"}}, "logprobs", "given; top_logprobs is refused", False),
        ({"ignores": {"top_logprobs"}}, "logprobs", "given, without top_logprobs", False),
        ({"refuses": {"max_tokens"}}, "max_tokens", "max_completion_tokens is kept", False),
        ({"ignores": {"max_tokens"}, "reply": lambda b, i: "a " * 40}, "max_tokens", "ign", False),
        ({"refuses": {"stream"}}, "stream", "refused (400)", False),
        ({"ignores": {"stream"}}, "stream", "no events", False),
        ({"refuses": {"system"}}, "system role", "refused (400): Only user", False),
        ({"refuses": {"tools"}}, "tools", "refused (400)", False),
        ({"refuses": {"response_format"}}, "response_format", "refused (400)", False),
        ({"reply": lambda body, index: f"Sea {body}"}, "response_format", "no JSON", False),
        ({"marks": 0}, "chat template", "no sign of one", False),
        ({"models": []}, "models", "none", False),
    ],
)
def test_what_is_missing_is_told_and_stops_nothing(
    openai_server: FakeServer,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    what: str,
    result: str,
    option: bool,
) -> None:
    for name, value in change.items():
        setattr(openai_server, name, value)
    data = found(capsys, openai_server.url)
    assert result in data["by"][what]["result"]
    assert len(data["findings"]) == 12
    assert all((",n=false" in command) == option for command in data["commands"][:2])


def test_chance_likeness_of_two_seeds_is_no_finding(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.reply = lambda body, index: "Salt." if body.get("seed") in (1, 2) else "Sweet."
    assert found(capsys, openai_server.url)["by"]["seed"]["result"] == "honoured"


def test_what_a_server_says_cannot_command_the_terminal(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.models = ["\x1b[2Jm", "$(touch x) m"]
    code, out, _ = check(capsys, openai_server.url)
    assert code == 0
    assert "\x1b" not in out
    assert f"--generator 'openai:$(touch x) m@{openai_server.url}/v1'" in out


def test_model_may_be_named_either_way(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.models = [f"m{i}" for i in range(7)]
    assert found(capsys, openai_server.url)["model"] == "m0"
    data = found(capsys, f"a@b@{openai_server.url}/v1/")
    assert data["model"] == "a@b"
    assert data["by"]["models"]["result"] == "m0, m1, m2, m3, m4 and 2 more"
    assert "not listed" in data["by"]["model"]["result"]
    assert openai_server.bodies[-1]["model"] == "a@b"
    assert found(capsys, openai_server.url, "--model", "m3")["model"] == "m3"


def test_call_that_breaks_leaves_the_rest(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = Fault("bytes", 200, content=b"{}")
    openai_server.faults = [fine, Fault("empty")]
    assert found(capsys, openai_server.url, code=1)["by"]["models"]["result"] == "not listed (200)"

    asked = 0

    def hang(body: dict[str, Any], index: int) -> str:
        nonlocal asked
        if body.get("tools"):
            openai_server.closing.wait(1.5)
        asked += 1
        return f"Text {body.get('seed')} {index}"

    openai_server.reply = hang
    data = found(capsys, openai_server.url, "--timeout", "1")
    assert data["by"]["tools"]["result"] == "not known"
    assert "within 1 s" in data["by"]["tools"]["meaning"]
    assert data["by"]["response_format"]["result"].startswith("accepted")


def test_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code, out, err = check(capsys, f"http://127.0.0.1:{port}")
    assert code == 1
    assert "reachable         no" in out
    assert "cannot be reached: Connection refused" in err
    assert err.count("\n") == 2


def test_slow_server(openai_server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    openai_server.latency = 0.6
    code, _, err = check(capsys, openai_server.url, "--timeout", "0.3")
    assert code == 1
    assert "did not answer within 0.3 s" in err
    assert len(openai_server.received) == 1


def test_pages_instead_of_answers(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.faults = [Fault("bytes", 404, content=PAGE)] * 20
    code, out, err = check(capsys, openai_server.url)
    assert code == 1
    assert "not listed (404): Nothing here" in " ".join(out.split())
    assert "answered 404: Nothing here" in err
    assert "<title>" not in out + err


def test_key_is_never_printed(
    openai_server: FakeServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    openai_server.key = "another"
    openai_server.models = [f"model-{KEY}"]
    monkeypatch.setenv("MY_KEY", KEY)
    code, out, err = check(capsys, openai_server.url, "--key-env", "MY_KEY")
    assert code == 1
    assert "MY_KEY, which is not accepted" in err
    assert KEY not in out + err
    assert [one.path for one in openai_server.received] == ["/v1/chat/completions"]
    openai_server.key = KEY
    code, out, err = check(capsys, f"m@{openai_server.url}", "--key-env", "MY_KEY")
    assert code == 0
    assert ",key_env=MY_KEY" in out
    assert out.rstrip().endswith("--model m --backend-key-env MY_KEY")
    assert KEY not in out + err
    code, out, err = check(capsys, openai_server.url, "--key-env", KEY)
    assert code == 2
    assert KEY not in out + err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["localhost:8000"], "write http://HOST:PORT"),
        (["http://me:secret@localhost"], "has a name or password in it"),
        (["http://localhost/rerank"], "use /score instead"),
        (["a@http://localhost", "--model", "b"], "two models: a and b"),
        (["http://localhost", "--timeout", "0"], "timeout"),
        (["http://localhost", "--reward-form", "plane"], "did you mean 'plain'?"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    code, out, err = check(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "secret" not in err
