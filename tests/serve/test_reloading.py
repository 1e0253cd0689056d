"""A gateway that reads its files again at SIGHUP, while requests come."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.grading import make_grading
from tests.serve.served import Served, served, wait_until

from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import Calibrations
from darc.web.keys import make_key

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGHUP")

QUESTION = [{"role": "user", "content": "Why are there two tides?"}]
CLIENTS = 8


def write_calibration(path: Path, lam: float) -> str:
    """Write a calibration, and return what decisions call it."""
    calibration = Calibration(lam=lam)
    Calibrations({"": calibration}).save(path)
    return calibration.name


def write_panel(path: Path, *names: str) -> None:
    path.write_text("".join(f'[[rater]]\nname = "{name}"\nview = "A {name}."\n' for name in names))


async def keep_asking(url: str, until: Callable[[], bool]) -> list[tuple[int, str]]:
    """Ask from several clients; the status and the calibration of each answer, in order."""
    results: list[tuple[int, str]] = []

    async def ask_again_and_again(client: httpx.AsyncClient) -> None:
        body = {"model": "m", "messages": QUESTION, "darc": {"metadata": True}}
        while not until():
            answer = await client.post(f"{url}/v1/chat/completions", json=body, timeout=60)
            name = ""
            if answer.status_code == 200:
                name = answer.json()["darc"]["parameters"].get("calibration", "")
            results.append((answer.status_code, name))

    async with httpx.AsyncClient() as client:
        await asyncio.gather(*(ask_again_and_again(client) for _ in range(CLIENTS)))
    return results


def options_of(server: FakeServer, tmp_path: Path) -> list[str]:
    write_panel(tmp_path / "panel.toml", "expert", "beginner")
    return [
        "--backend", server.url, "-k", "2", "--rule", "auto",
        "--panel", str(tmp_path / "panel.toml"),
        "--calibration", str(tmp_path / "calibration.json"),
        "--log-level", "info",
    ]  # fmt: skip


def reloads(gateway: Served, result: str) -> float:
    return gateway.metrics().get(("darc_reloads_total", result), 0.0)


def test_no_request_fails_while_files_are_read_again(
    openai_server: FakeServer, tmp_path: Path
) -> None:
    make_grading(openai_server)
    openai_server.latency = 0.02
    path = tmp_path / "calibration.json"
    old = write_calibration(path, 1.0)
    with served(*options_of(openai_server, tmp_path)) as gateway:
        new = write_calibration(path, 3.0)
        assert old != new
        readiness: list[int] = []

        async def run() -> list[tuple[int, str]]:
            is_over = False

            async def reload_meanwhile() -> None:
                nonlocal is_over
                await asyncio.sleep(0.5)
                gateway.tell(signal.SIGHUP)
                async with httpx.AsyncClient() as client:
                    for _ in range(20):
                        answer = await client.get(f"{gateway.url}/readyz", timeout=20)
                        readiness.append(answer.status_code)
                        await asyncio.sleep(0.05)
                    while not await asyncio.to_thread(reloads, gateway, "done"):
                        await asyncio.sleep(0.05)
                await asyncio.sleep(0.5)
                is_over = True

            asking = keep_asking(gateway.url, lambda: is_over)
            results, _ = await asyncio.gather(asking, reload_meanwhile())
            return results

        results = asyncio.run(run())
    assert {status for status, _ in results} == {200}
    assert set(readiness) == {200}
    names = [name for _, name in results]
    assert set(names) == {old, new}
    # Those of one client overtake those of another by a request at most.
    assert old not in names[names.index(new) + CLIENTS :]


@pytest.mark.slow
def test_raters_and_keys_are_read_again(openai_server: FakeServer, tmp_path: Path) -> None:
    make_grading(openai_server)
    write_calibration(tmp_path / "calibration.json", 1.0)
    keys = tmp_path / "keys.jsonl"
    headers = {"authorization": f"Bearer {make_key(keys, 'first')}"}
    options = [*options_of(openai_server, tmp_path), "--api-keys", str(keys)]
    gateway = Served(*options)
    try:
        gateway.ready()
        models = httpx.get(f"{gateway.url}/v1/models", headers=headers).json()["data"]
        assert models[0]["darc"]["raters"] == ["expert", "beginner"]
        write_panel(tmp_path / "panel.toml", "hurried", "careful", "sceptic")
        new_headers = {"authorization": f"Bearer {make_key(keys, 'second')}"}
        assert httpx.get(f"{gateway.url}/v1/models", headers=new_headers).status_code == 401
        gateway.tell(signal.SIGHUP)
        wait_until(
            lambda: httpx.get(f"{gateway.url}/v1/models", headers=new_headers).status_code == 200
        )
        models = httpx.get(f"{gateway.url}/v1/models", headers=headers).json()["data"]
        assert models[0]["darc"]["raters"] == ["hurried", "careful", "sceptic"]
    finally:
        gateway.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["calibration.json", "panel.toml"])
def test_a_file_that_cannot_be_used_changes_nothing(
    openai_server: FakeServer, tmp_path: Path, name: str
) -> None:
    make_grading(openai_server)
    old = write_calibration(tmp_path / "calibration.json", 1.0)
    with served(*options_of(openai_server, tmp_path)) as gateway:
        (tmp_path / name).write_text("{ this is neither JSON nor TOML")
        gateway.tell(signal.SIGHUP)
        wait_until(lambda: reloads(gateway, "failed") == 1)
        body: dict[str, Any] = {"model": "m", "messages": QUESTION, "darc": {"metadata": True}}
        answer = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=60)
        assert answer.json()["darc"]["parameters"]["calibration"] == old
        assert answer.json()["darc"]["panel"]["raters"] == ["expert", "beginner"]
        assert httpx.get(f"{gateway.url}/readyz").status_code == 200
        errors = [row["message"] for row in gateway.log() if row["level"] == "error"]
    assert len(errors) == 1
    assert name in errors[0]
    assert "\n" not in json.dumps(errors[0])


def test_a_dead_backend_is_named_at_the_start() -> None:
    gateway = Served("--backend", "http://127.0.0.1:9")
    try:
        warnings = [row["message"] for row in gateway.log() if row["level"] == "warning"]
        wait_until(lambda: any("http://127.0.0.1:9" in line for line in gateway.lines[1:]))
        answer = httpx.get(f"{gateway.url}/readyz")
        assert (answer.status_code, "backend" in answer.json()["reason"]) == (503, True)
        assert gateway.metrics()["darc_backend_ready",] == 0
        warnings = [row["message"] for row in gateway.log() if row["level"] == "warning"]
        assert any("cannot be reached" in warning for warning in warnings)
    finally:
        gateway.stop()
