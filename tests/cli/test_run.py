"""`darc run`, with the plugin's parts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.runs import darc
from tests.helpers import ECHO

# Seconds after which an interrupted run is to have ended, where the machine is not busy.
ENDING = 2.0


def test_samples_without_the_original(
    tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "run"
    options = ("--no-original", "--max-attempts", "5")
    done = darc(environment, "run", "--prompts", prompts, "--out", folder, *ECHO, *options)
    assert done.returncode == 0, done.stderr
    rewrites = json.loads((folder / "manifest.json").read_text())["settings"]["rewrites"]
    assert (rewrites["include_original"], rewrites["max_attempts"]) == (False, 5)
    settings = (folder / "run.toml").read_text()
    assert "include_original = false" in settings
    assert "max_attempts = 5" in settings
    lines = (folder / "shards" / "00000" / "scores.jsonl").read_text().splitlines()
    firsts = {own[0] for row in lines for each in json.loads(row)["scores"] for own in each}
    assert firsts == {None}
    told = darc(environment, "show", folder, "82", "--json")
    assert told.returncode == 0, told.stderr
    refused = darc(environment, "show", folder, "82", "--rule", "poisson:reward=original")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "needs the original's score" in refused.stderr
    other = darc(environment, "run", "--prompts", prompts, "--out", folder, *ECHO)
    assert other.returncode == 2
    for command in (("run", "--prompts", prompts, "--out", tmp_path / "x"), ("ask", "Why?")):
        nothing = darc(environment, *command, *ECHO, "--n-aug", "0", "--no-original")
        assert nothing.returncode == 2
        assert "nothing to score" in nothing.stderr
    for name in ("ask", "run", "serve"):
        told = darc(environment, name, "--help-all")
        assert "--no-original" in told.stdout
        assert "--max-attempts" in told.stdout


def test_lazy_run_names_the_command_that_completes_it(
    tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "run"
    lazily = (*ECHO, "--lazy", "--rule", "epsilon", "--workers", "0")
    done = darc(environment, "run", "--prompts", prompts, "--out", folder, *lazily)
    assert done.returncode == 0, done.stderr
    assert "left out" in done.stdout
    refused = darc(environment, "export", folder, "--format", "tidy")
    assert refused.returncode == 2
    command = refused.stderr.split("make the rest with: darc ")[1].split()
    completed = darc(environment, *command, "--workers", "0")
    assert completed.returncode == 0, completed.stderr
    assert "left out" not in completed.stdout
    assert darc(environment, "export", folder, "--format", "tidy").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--generator", "ecko"], "unknown generator 'ecko'; did you mean 'echo'?"),
        (["--scorer", "brevity,hlaf=2"], "unknown option 'hlaf'"),
        (["--scorer", "form", "--scorer", "form"], "scorer 'form' is given twice"),
        (["--rule", "caution"], "rule 'caution' needs 'atypicality'; name a scorer for it"),
        (["--rule", "mc_dropout"], "name a scorer for it: --side dropout=dropout:MODEL"),
        (["--rule", "rbon"], "--side log_likelihood=loglik:MODEL"),
        (["--side", "colour=form"], "--side colour: there is no such side input"),
        (["--k", "0"], "k is 0"),
        (["--stop", "box"], "stop is 'box'; it is none, pandora"),
    ],
)
def test_bad_input(
    arguments: list[str], words: str, tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    command = ["run", "--prompts", prompts, "--out", tmp_path / "run", *ECHO, *arguments]
    done = darc(environment, *command, "--workers", "0")
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is POSIX")
@pytest.mark.parametrize("written_first", ["prompts", "candidates"])
def test_interrupted_run_says_how_to_go_on(
    written_first: str, tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    command = ["run", "--prompts", "examples", "--out", tmp_path / "run", *ECHO, "--n-aug", "40"]
    process = subprocess.Popen(
        [sys.executable, "-m", "darc", *map(str, command), "--workers", "2"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    written = tmp_path / "run" / "shards" / "00000" / f"{written_first}.jsonl"
    while not written.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    pressed = time.monotonic()
    # A terminal tells every process of the group, those that are just starting too.
    for pause in (0.1, 0.0):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(pause)
    process.wait(timeout=60)
    ended = time.monotonic() - pressed
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "darc: interrupted; go on with the same command\n"
    print(f"it ended after {ended:.1f} s; the goal is {ENDING:g} s")
    assert ended < 3 * ENDING


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--address", "auto"],
            "--address, --ray-actors, --ray-cpus and --ray-gpus are for Ray; add",
        ),
        (["--engine", "ray", "--ray-gpus", "1"], "GPUs are held by actors; say how many"),
        (["--engine", "ray", "--ray-cpus", "0"], "ray_cpus is 0"),
        (["--engine", "ray", "--ray-actors", "-1"], "ray_actors is -1"),
    ],
)
def test_options_of_a_cluster_that_mean_nothing_are_refused(
    options: list[str], said: str, tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    command = ("run", "--prompts", prompts, "--out", tmp_path / "run", *options)
    done = darc(environment, *command)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"darc: {said}")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_run_keeps_what_its_rule_goes_by(
    tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    first = tmp_path / "first"
    learnt = tmp_path / "learnt.json"
    folder = tmp_path / "run"
    assert darc(environment, "run", "--prompts", prompts, "--out", first, *ECHO).returncode == 0
    made = darc(environment, "calibrate", first, "--out", learnt)
    assert made.returncode == 0, made.stderr
    assert list(json.loads(learnt.read_text())["scorers"]) == ["brevity", "form"]
    auto = ("--rule", "auto", "--calibration", learnt)
    run = ("run", "--prompts", prompts, "--out")
    done = darc(environment, *run, folder, *ECHO, *auto)
    assert done.returncode == 0, done.stderr
    lazy = darc(environment, *run, tmp_path / "lazy", *ECHO, *auto, "--lazy")
    assert lazy.returncode == 0, lazy.stderr
    lines = (folder / "shards" / "00000" / "decisions.jsonl").read_text().splitlines()
    decisions = {row["prompt_id"]: row for row in map(json.loads, lines)}
    assert {len(row["parameters"]["calibration"]) for row in decisions.values()} == {2}

    other = json.loads(learnt.read_text())
    other["scorers"]["form"]["lam"] = 1.0
    (tmp_path / "other.json").write_text(json.dumps(other))
    changed = (*ECHO, "--rule", "auto", "--calibration", tmp_path / "other.json")
    for options in (changed, (*ECHO, "--rule", "auto")):
        refused = darc(environment, *run, folder, *options)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "its decision differs (calibration: " in refused.stderr

    # A file that was written anew since does not matter: the folder has its own.
    learnt.unlink()
    again = darc(environment, "run", "--config", folder / "run.toml", "--out", folder)
    assert again.returncode == 0, again.stderr
    for prompt, row in decisions.items():
        shown = json.loads(darc(environment, "show", folder, prompt, "--json").stdout)
        assert (shown["index"], shown["parameters"]) == (row["index"], row["parameters"])

    (folder / "calibration.json").write_text(json.dumps(other))
    broken = darc(environment, "show", folder, "82")
    assert (broken.returncode, broken.stderr.count("\n")) == (2, 1)
    assert "calibration.json was changed since the run wrote it" in broken.stderr


def test_prompts_that_are_not_english_are_flagged_and_shown(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    prompts = tmp_path / "prompts.jsonl"
    rows = [
        {"id": "english", "prompt": "Why is the sky blue during the day?"},
        {"id": "german", "prompt": "Warum ist der Himmel am Tag blau?"},
    ]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    folder = tmp_path / "run"
    options = (*ECHO, "--workers", "0", "--json")
    done = darc(environment, "run", "--prompts", prompts, "--out", folder, *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["flags"]["not_english"] == 1
    assert "do not look like English" in darc(environment, "show", folder, "german").stdout
    assert "do not look like English" not in darc(environment, "show", folder, "english").stdout
