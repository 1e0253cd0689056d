"""Which model answers where none is named: on fake servers of this machine, and a real gateway."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from tests.fakes import FakeServer
from tests.fakes.listings import LISTINGS
from tests.helpers import run_command
from tests.serve.running import Running, settings_for

from darc.cli.commands import actions_of
from darc.cli.first_model import FirstModel, find_model
from darc.models.catalogue import CATALOGUE, QWEN
from darc.models.discovery import find_servers
from darc.models.installed import Installed, model_folder, write_note
from darc.settings.discovery import DISCOVERY_ENV, DiscoverySettings

KEY = "sk-very-secret"
FEW = ("-k", "2", "--scorer", "form", "--n-aug", "0", "--no-cache")


@pytest.fixture(autouse=True)
def _discovery_is_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(DISCOVERY_ENV)
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("darc.models.discovery.DISCOVERY_SECONDS", 5)


@pytest.fixture
def ollama(openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """A server on a free port, and a key for another service in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai_server.listing = LISTINGS["Ollama"]
    return openai_server


def port_of(server: FakeServer) -> tuple[str, str]:
    return "--discovery-port", str(server.port)


def test_ask_takes_the_server_that_is_found_and_says_so(ollama: FakeServer) -> None:
    done = run_command("ask", "Why are there tides?", *port_of(ollama), *FEW, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["index"] in (0, 1)
    assert "Ollama" in done.stderr
    assert "llama3.2:latest" in done.stderr
    assert "--no-discovery" in done.stderr
    assert DISCOVERY_ENV in done.stderr
    assert "is a toy" not in done.stderr
    assert {body["model"] for body in ollama.bodies} == {"llama3.2:latest"}


def test_the_key_never_reaches_a_server_that_was_found(ollama: FakeServer) -> None:
    run_command("ask", "Why?", *port_of(ollama), "-k", "2", "--panel", "2", "--no-cache")
    # The model's own answers, and its grades as a rater.
    assert len(ollama.received) > 1
    for request in ollama.received:
        assert "authorization" not in request.headers
        assert KEY not in json.dumps([request.headers, request.body])


@pytest.mark.parametrize(
    "words",
    [
        ("--no-discovery",),
        ("--generator", "embedded"),
        ("--answer", "It is so.", "--answer", "Nobody knows."),
    ],
)
def test_nothing_is_looked_for_where_it_is_turned_off_or_not_needed(
    words: tuple[str, ...], ollama: FakeServer
) -> None:
    run_command("ask", "Why?", *port_of(ollama), *FEW, *words)
    assert ollama.paths == []


def test_the_environment_and_the_settings_file_turn_it_off(
    ollama: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "darc.toml"
    file.write_text("[ask]\nno_discovery = true\n")
    run_command("ask", "Why?", *port_of(ollama), "--config", file)
    assert ollama.paths == []
    monkeypatch.setenv(DISCOVERY_ENV, "off")
    run_command("ask", "Why?", *port_of(ollama))
    assert ollama.paths == []


def test_only_commands_that_answer_one_user_look_for_servers() -> None:
    for command in ("run", "eval", "reproduce", "study", "train"):
        for action in actions_of(command).values():
            assert "discovery" not in action.settings.model_fields, command
    for command in ("ask", "serve", "mcp"):
        assert "discovery" in actions_of(command)[""].settings.model_fields


def test_a_gateway_of_ones_own_is_not_taken_for_a_model(openai_server: FakeServer) -> None:
    gateway = Running(settings_for(openai_server))
    try:
        port = int(gateway.url.rpartition(":")[2].partition("/")[0])
        assert find_servers([port], seconds=5) == []
        assert find_servers([openai_server.port], seconds=5) != []
    finally:
        gateway.close()


def test_the_larger_installed_model_comes_before_the_small_one() -> None:
    settings = DiscoverySettings(discovery_ports=())
    assert find_model(settings, "--generator") == FirstModel("embedded")
    model = CATALOGUE[QWEN]
    path = model_folder(model, None) / "qwen.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    write_note(Installed(QWEN, path, "", 4, model.sha256, "Q8_0"))
    assert find_model(settings, "--generator") == FirstModel("embedded:qwen")


def test_serve_takes_the_server_and_sends_it_no_key(ollama: FakeServer) -> None:
    command = [sys.executable, "-m", "darc", "serve", "--port", "0", *port_of(ollama)]
    command += ["-k", "2", "--scorer", "form", "--n-aug", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = []
        url = None
        while url is None:
            lines.append(process.stderr.readline())
            assert lines[-1], "".join(lines)
            url = re.search(r"open (http://\S+)/ in", lines[-1])
        assert any("Ollama" in line and "--no-discovery" in line for line in lines)
        body = {"model": "", "messages": [{"role": "user", "content": "Why?"}]}
        request = urllib.request.Request(
            f"{url[1]}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer sk-of-the-client"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            assert json.loads(response.read())["choices"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert ollama.received
    for received in ollama.received:
        assert "authorization" not in received.headers


def on_terminal(words: list[str], answers: list[tuple[str, str]]) -> tuple[int, str]:
    """Run `darc` on a terminal, and type each answer when its question has been printed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "darc", *words])
    output = ""
    deadline = time.monotonic() + 60
    waiting = list(answers)
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            output += piece.decode(errors="replace")
        if waiting and waiting[0][0] in output:
            os.write(terminal, waiting.pop(0)[1].encode() + b"\n")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert not waiting, output
    return os.waitstatus_to_exitcode(status), output


@pytest.fixture
def paid_server(openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """What stands in for OpenAI: the URL and the key are in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{openai_server.url}/v1")
    return openai_server


# Port 9 is where nothing listens.
ASK = ["ask", "Why are there tides?", "--discovery-port", "9", *FEW]


def test_a_key_is_used_after_a_yes_on_a_terminal(paid_server: FakeServer) -> None:
    code, output = on_terminal(ASK, [("[y/N]", "y"), ("which model?", "gpt-x")])
    assert code == 0, output
    assert {body["model"] for body in paid_server.bodies} == {"gpt-x"}
    assert paid_server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in output


def test_without_a_yes_nothing_is_sent(paid_server: FakeServer) -> None:
    code, output = on_terminal(ASK, [("[y/N]", "")])
    assert code == 2
    assert "darc models install" in output
    assert paid_server.paths == []


def test_without_a_terminal_nothing_is_asked_or_sent(paid_server: FakeServer) -> None:
    done = run_command(*ASK, text="y\ngpt-x\n")
    assert done.returncode == 2
    assert "[y/N]" not in done.stderr
    assert paid_server.paths == []
