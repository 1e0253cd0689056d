import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.fakes import FakeServer

from darc.cli import main

pytest.importorskip("starlette")


def test_public_address_without_a_key_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "0.0.0.0", "--backend", "http://127.0.0.1:9"]) == 2
    assert "no API keys" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [["-k", "0"], ["--rule", "nonsense"], ["--scorer", "nonsense"], ["--backend", "ftp://x"],
     ["--api-keys", "/nonexistent/keys"], ["--n-aug", "-1"], ["--allowed-host", "http://x"],
     ["--header-timeout", "0"], ["--body-timeout", "-1"], ["--max-header", "0"],
     ["--max-work", "0"], ["--backend", "openai:m@http://127.0.0.1:9,n=false"],
     ["-k", "9", "--max-k", "8"], ["--n-aug", "9", "--max-n-aug", "8"]],
)  # fmt: skip
def test_settings_are_checked_before_serving(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--backend", "http://127.0.0.1:9", *options]) == 2
    assert capsys.readouterr().err.startswith("darc: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "epsilon", "--caution", "high"], "the rule epsilon has no caution"),
        (["--caution", "huge"], "use none, low, medium, high, or a number from 0 up"),
        (["--scale", "5-1"], "does not rise"),
        (["--poor-below", "nan"], "poor_below"),
    ],
)
def test_what_counts_as_good_is_checked_before_serving(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--backend", "http://127.0.0.1:9", *options]) == 2
    assert message in capsys.readouterr().err


def test_what_counts_as_good_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    from darc.cli.commands import read_settings
    from darc.cli.serve import gateway_settings_of

    options = {
        "--caution": "0.5", "--no-rating-below": "2", "--poor-below": "2.5", "--threshold": "3",
        "--scale": "1-5", "--when-held": "more",
    }  # fmt: skip
    words = [word for pair in options.items() for word in pair]
    found = gateway_settings_of(read_settings(["serve", *words]))
    assert (found.caution, found.when_held) == ("0.5", "more")
    assert (found.scale, found.threshold) == ("1-5", 3)
    assert (found.no_rating_below, found.poor_below) == (2, 2.5)
    with pytest.raises(SystemExit):
        main(["serve", "--help-all"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in options)


def test_the_start_says_what_more_answers_cost(
    openai_server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    from darc.cli.commands import read_settings
    from darc.cli.serve import gateway_settings_of, say_room
    from darc.serve.app import make_gateway

    for when_held, calls in (("flag", 3 + 1 + 2), ("more", 2 * (3 + 1 + 2))):
        words = ["--backend", openai_server.url, "-k", "2", "--panel", "3", "--workers", "0"]
        words += ["--when-held", when_held, "--max-upstream-calls", "3"]
        settings = gateway_settings_of(read_settings(["serve", *words]))
        say_room(settings, make_gateway(settings))
        said = capsys.readouterr().err
        assert f"raise it to {calls} or more" in said
        assert ("an answer takes at most 12 calls in all" in said) == (when_held == "more")


def test_options_have_the_defaults_of_the_settings() -> None:
    from darc.cli.commands import read_settings
    from darc.cli.serve import gateway_settings_of
    from darc.serve.settings import ServeSettings

    plain = gateway_settings_of(read_settings(["serve"]))
    assert plain == ServeSettings(parts=plain.parts)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://h:1/v1", ("http://h:1/v1", "", "OPENAI_API_KEY")),
        ("openai:m@http://h:1", ("http://h:1/v1", "m", "OPENAI_API_KEY")),
        ("openai:m@http://h:1|http://h:2,key_env=K", ("http://h:1/v1|http://h:2/v1", "m", "K")),
        ("openai:m", ("http://usual/v1", "m", "OPENAI_API_KEY")),
        ("embedded", ("", "", "OPENAI_API_KEY")),
    ],
)
@pytest.mark.parametrize("option", ["--backend", "--generator"])
def test_a_backend_is_written_as_a_generator_is(
    option: str, given: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from darc.cli.commands import read_settings
    from darc.cli.serve import gateway_settings_of

    monkeypatch.setenv("OPENAI_BASE_URL", "http://usual/v1")
    found = gateway_settings_of(read_settings(["serve", option, given]))
    url, *others = expected
    assert found.backend == ((url,) if url else ())
    assert [found.model, found.backend_key_env] == others


def test_key_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "keys.jsonl"
    assert main(["serve", "--make-key", "alice", "--api-keys", str(path), "--rate", "5"]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed.startswith("darc-")
    row = json.loads(path.read_text())
    assert (row["name"], row["rate"]) == ("alice", 5.0)
    assert printed not in path.read_text()
    assert main(["serve", "--make-key", "alice", "--api-keys", str(path)]) == 2
    assert main(["serve", "--make-key", "bob"]) == 2


def test_serves_until_it_is_told_to_stop(openai_server: FakeServer, tmp_path: Path) -> None:
    settings = tmp_path / "darc.toml"
    settings.write_text('[serve]\nk = 3\nn_aug = 1\nscorer = ["form"]\nguard = false\n')
    command = [
        sys.executable, "-m", "darc", "serve", "--port", "0", "--backend", openai_server.url,
        "--config", str(settings), "--log-level", "info", "--audit", str(tmp_path / "audit.jsonl"),
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OPENAI_API_KEY": "sk-hush"}
    )
    assert process.stderr is not None
    try:
        url = process.stderr.readline().strip().rpartition(" ")[2]
        note = json.loads(process.stderr.readline())
        body = {"model": "m", "messages": [{"role": "user", "content": "Why?"}]}
        asked = urllib.request.Request(
            f"{url}/chat/completions",
            json.dumps(body).encode(),
            {
                "Authorization": "Bearer client-secret-key",
                "Content-Type": "application/json",
                "X-Request-Id": "mine",
            },
        )
        with urllib.request.urlopen(asked) as answer:
            assert json.load(answer)["choices"][0]["message"]["content"]
    finally:
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=20)
    assert process.returncode in (0, -signal.SIGTERM)
    rows = [json.loads(line) for line in logged.splitlines()]
    assert note["message"].startswith("Only surface scorers decide here (form)")
    (row,) = [row for row in rows if row.get("request_id") == "mine"]
    assert (row["status"], row["path"]) == (200, "/v1/chat/completions")
    assert "secret" not in logged
    assert "hush" not in logged
    assert openai_server.received[0].headers["authorization"] == "Bearer sk-hush"
    assert openai_server.bodies[0]["n"] == 3
    assert json.loads((tmp_path / "audit.jsonl").read_text())["request_id"] == "mine"


def test_a_fallback_needs_its_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--when-held", "fallback"]) == 2
    assert "--fallback-model" in capsys.readouterr().err
