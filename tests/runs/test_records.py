"""Run folders with something wrong in them: one sentence that names the file, or no change."""

import io
import json
import logging
import os
import random
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.helpers import ECHO
from tests.runs.makers import contents, rows, start

from darc.cli import main
from darc.errors import InputError
from darc.runs.folder import RunFolder, check_complete
from darc.runs.manifest import method_of
from darc.runs.shard import ORDER, SEAL, TIMINGS, TIMINGS_SEAL

SHARD = Path("shards") / "00000"
IN_SHARD = [str(SHARD / name) for name in (*ORDER, TIMINGS, TIMINGS_SEAL, SEAL)]
FILES = (*IN_SHARD, "manifest.json", "run.toml")
PARTS = [*ECHO, "--rule", "epsilon", "--no-cache", "--workers", "0"]
QUICK = ["--no-figures", "--splits", "1", "--draws", "20", "--rule", "mean", "--rule", "epsilon"]
# Values that JSON can have and a run never does; the raw ones are written as they stand.
RAW = ("NaN", "-Infinity", "1e400", "9" * 5000, "[" * 100_000, '"\\ud800"', '"\\u0000"', "-0")
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    7,
    10**30,
    2.5,
    "",
    "x",
    "3",
    [],
    {},
    [[]],
    [1, "a"],
    {"a": 1},
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished run, one that was lazy and one that is packed."""
    place = tmp_path_factory.mktemp("runs")
    rows = [
        {"question_id": 81, "category": "writing", "turns": ["Why is it?", "And then?"]},
        {"question_id": 82, "turns": ["How is it?"]},
    ]
    (place / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    level = logging.root.level
    handlers = logging.root.handlers[:]
    for name, more in (("full", []), ("lazy", ["--lazy"]), ("packed", ["--compress"])):
        folder = place / name / "run"
        run = ("run", "--prompts", place / "prompts.jsonl", "--out", folder, "--json", *more)
        code, out, said = darc(*run)
        assert code == 0, said
        (place / name / "summary.json").write_text(out)
    yield place
    logging.captureWarnings(False)
    logging.root.level = level
    logging.root.handlers[:] = handlers


def darc(command: object, *arguments: object) -> tuple[int, str, str]:
    """The exit code of a command run here, and what it said on standard output and error."""
    out = io.StringIO()
    said = io.StringIO()
    parts = PARTS if command == "run" and "--config" not in arguments else []
    with redirect_stdout(out), redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            code = main([str(command), *map(str, arguments), *parts])
        except SystemExit as done:
            code = int(str(done.code))
    return code, out.getvalue(), said.getvalue()


def commands(
    folder: Path, prompts: Path, lazy: bool, choose: random.Random
) -> list[tuple[object, ...]]:
    """Everything that reads a run; the one that may change it comes last."""
    form = choose.choice(["alpaca", "mt-bench", "tidy"])
    run: tuple[object, ...] = ("run", "--prompts", prompts, "--out", folder, "--json")
    if choose.random() < 0.3:
        run = ("run", "--config", folder / "run.toml", "--out", folder, "--json", "--workers", "0")
    if lazy:
        run = (*run, "--lazy")
    return [
        ("show", folder, choose.choice(["81", "81#2", "82"])),
        ("eval", folder, *QUICK),
        ("export", folder, "--format", form, "--out", folder.with_name("exported")),
        run,
    ]


def damage(path: Path, choose: random.Random) -> str:
    """Do something to a file, and say what."""
    data = path.read_bytes()
    kinds: list[Callable[[], bytes | None]] = [
        lambda: b"",
        lambda: choose.randbytes(choose.choice([1, 100, 5000])),
        lambda: data[: choose.randrange(len(data))],
        lambda: flipped(data, choose),
        lambda: put(
            data, choose, choose.choice([b"\0", b"\xff\xfe", b"\n", b"{", b'"', b"9" * 400])
        ),
        lambda: mixed(data, choose),
        lambda: as_folder(path),
        lambda: path.unlink(),
    ]
    if path.suffix in (".json", ".jsonl"):
        kinds += [lambda: changed(data, choose)] * 8
    kind = choose.randrange(len(kinds))
    made = kinds[kind]()
    if made is not None:
        path.write_bytes(made)
    return f"{path.name}, kind {kind}"


def flipped(data: bytes, choose: random.Random) -> bytes:
    place = choose.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << choose.randrange(8))]) + data[place + 1 :]


def put(data: bytes, choose: random.Random, what: bytes) -> bytes:
    place = choose.randrange(len(data))
    return data[:place] + what + data[place:]


def mixed(data: bytes, choose: random.Random) -> bytes:
    """Lines twice, away, cut or in another order."""
    lines = data.splitlines(keepends=True)
    place = choose.randrange(len(lines))
    which = choose.randrange(4)
    if which == 0:
        lines.insert(choose.randrange(len(lines) + 1), lines[place])
    elif which == 1:
        lines.pop(place)
    elif which == 2:
        lines[place] = lines[place][: choose.randrange(len(lines[place]))] + b"\n"
    else:
        choose.shuffle(lines)
    return b"".join(lines)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def changed(data: bytes, choose: random.Random) -> bytes:
    """One value of one line replaced, removed or added."""
    whole = data.startswith(b"{\n")
    lines = [data] if whole else data.splitlines(keepends=True)
    place = choose.randrange(len(lines))
    row = json.loads(lines[place])
    parent, key = choose.choice(list(slots(row)))
    mark = "@@@"
    what = choose.randrange(4)
    if what == 0 and isinstance(parent, dict):
        del parent[key]
    elif what == 1 and isinstance(parent, list):
        parent.append(choose.choice(VALUES))
    elif what == 2:
        parent[key] = mark
    else:
        parent[key] = choose.choice(VALUES)
    text = json.dumps(row, ensure_ascii=False).replace(f'"{mark}"', choose.choice(RAW))
    lines[place] = text.encode() + b"\n"
    return b"".join(lines)


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value where something stands."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from slots(value[key])


def made(command: tuple[object, ...], folder: Path) -> tuple[int, Any, str]:
    """The exit code, everything that a command printed or wrote but times, and its complaints."""
    code, out, said = darc(*command)
    result: Any = out.replace(str(folder.parent), "")
    if code == 0 and command[0] == "export":
        written = folder.with_name("exported").read_text(encoding="utf-8")
        result += re.sub(r'"tstamp": [0-9.]+', "", written)
    if code == 0 and command[0] == "run":
        result = {**json.loads(out), "cost": None, "folder": None}, contents(folder)
    return code, result, said


KNOWN: dict[str, Any] = {}


def expected(whole: Path, command: tuple[object, ...]) -> Any:
    """What a command gives of a run as it was."""
    key = " ".join(
        each.name if isinstance(each, Path) else str(each) for each in (whole.parent, *command)
    )
    if key not in KNOWN:
        if command[0] == "run":
            told = json.loads(whole.with_name("summary.json").read_text())
            KNOWN[key] = {**told, "cost": None, "folder": None}, contents(whole)
        else:
            same = [
                whole.with_name(each.name) if isinstance(each, Path) else each for each in command
            ]
            code, KNOWN[key], said = made(tuple(same), whole)
            assert code == 0, said
    return KNOWN[key]


def check_case(base: Path, place: Path, seed: int) -> int:
    """Damage a copy of a run and read it by every command; how many of them refused it.

    The others give what they give of the run as it was.
    """
    choose = random.Random(seed)
    kind = choose.choice(["full", "full", "lazy"])
    name = choose.choice(FILES)
    folder = place / "run"
    shutil.copytree(base / kind / "run", folder)
    told = damage(folder / name, choose)
    refused = 0
    for command in commands(folder, base / "prompts.jsonl", kind == "lazy", choose):
        where = f"seed {seed}: {told}: darc {' '.join(map(str, command))}"
        try:
            code, result, said = made(command, folder)
        except Exception as problem:
            raise AssertionError(f"{where}: {problem!r}") from problem
        assert code in (0, 1, 2), where
        if code == 0:
            assert result == expected(base / kind / "run", command), where
        if code:
            refused += 1
            assert said.count("\n") <= 1 + said.count("WARNING"), f"{where}: {said}"
            if name != "run.toml":
                assert str(folder) in said, f"{where}: {said}"
    shutil.rmtree(place)
    return refused


@pytest.mark.parametrize("seed", range(30))
def test_damaged_run_is_refused_in_one_sentence(seed: int, base: Path, tmp_path: Path) -> None:
    check_case(base, tmp_path / "case", seed)


@pytest.mark.load
def test_many_damaged_runs(base: Path, tmp_path: Path) -> None:
    refused = [check_case(base, tmp_path / "case", seed) for seed in range(1000, 1300)]
    print(f"{sum(refused)} of {4 * len(refused)} commands refused {len(refused)} damaged runs")
    assert sum(refused) > 2 * len(refused)


@pytest.mark.parametrize(
    ("name", "field", "value", "said"),
    [
        ("prompts", "messages", [], "messages is empty"),
        ("prompts", "prompt_id", 3, "prompt_id cannot be 3"),
        ("candidates", "candidates", [{"index": 1, "text": "a"}], "not numbered 0, 1, 2"),
        ("candidates", "candidates", [{"index": 0, "text": "a"}], "names candidate 3, and"),
        ("variants", "rewritten", [9], "it names candidate 9, and candidates.jsonl has 4"),
        ("scores", "scorers", ["length"], "scores is of 2 scorers, and scorers names 1"),
        ("scores", "scores", [[[1, 2]], [[1]]], "rows of different lengths"),
        ("scores", "scores", [[[1.0] * 4] * 3] * 2, r"scores is \(2, 3, 4\), not \(2, 4, 4\)"),
        ("scores", "scores", [[[None] * 4] * 4] * 2, "the samples that have scores are not"),
        ("side", "tokens", [1, 2], "tokens is not of 4 candidates"),
        ("decisions", "index", 7, "index is 7, and no candidate has it"),
    ],
)
def test_row_is_refused_by_file_and_line(
    name: str, field: str, value: object, said: str, tmp_path: Path
) -> None:
    start(tmp_path / "run")
    path = tmp_path / "run" / SHARD / f"{name}.jsonl"
    # As in a run that is at work: nothing tells of a change but the row itself.
    path.with_name(SEAL).unlink()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1][field] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    blamed = "rejected|variants" if said.startswith("names") else name
    with pytest.raises(InputError, match=rf"/({blamed})\.jsonl, line 2: .*{said}.*; restore it"):
        rows(RunFolder(tmp_path / "run"), "decisions.jsonl")


@pytest.mark.parametrize("name", ORDER)
def test_lost_lines_are_made_again_by_a_run_and_missed_by_the_others(
    name: str, tmp_path: Path
) -> None:
    start(tmp_path / "run")
    expected = contents(tmp_path / "run")
    (tmp_path / "run" / SHARD / SEAL).unlink()
    (tmp_path / "run" / SHARD / name).write_bytes(b"")
    if name != ORDER[-1]:
        with pytest.raises(InputError, match=rf"{name} has no line for its prompt 'tides'"):
            rows(RunFolder(tmp_path / "run"), "decisions.jsonl")
    with pytest.raises(InputError, match="no line for"):
        check_complete(RunFolder(tmp_path / "run"))
    start(tmp_path / "run")
    assert contents(tmp_path / "run") == expected


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("seed",), "x", "seed cannot be 'x'"),
        (("settings", "scorers"), [], "settings.scorers is empty"),
        (("settings", "scorers", 0, "bounds"), [1, 0], r"settings.scorers\[0\].bounds cannot be"),
        (("settings", "decision", "beta"), float("nan"), "settings.decision.beta cannot be nan"),
        (("settings", "decision", "rule"), "epsilom", "unknown rule 'epsilom'"),
        (("settings", "decision", "normalize"), "x", "normalize is 'x'"),
        (("settings", "colour"), {}, "settings.colour is unknown"),
        (("settings", "decision", "beta"), 0.5, "it was changed since the run wrote it"),
        (("versions", "numpy"), "0", "it was changed since the run wrote it"),
        (("shard_size",), "x", "it was changed since the run wrote it"),
        (("schema",), 1, "it was changed since the run wrote it"),
    ],
)
def test_manifest_is_refused_by_its_part(
    path: tuple[Any, ...], value: object, said: str, tmp_path: Path
) -> None:
    start(tmp_path / "run")
    file = tmp_path / "run" / "manifest.json"
    data: Any = json.loads(file.read_text())
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if "changed" not in said:
        # As before there were seals.
        del data["seal"]
        data["schema"] = 1
    file.write_text(json.dumps(data))
    with pytest.raises(InputError, match=rf"manifest\.json: {said}"):
        method_of(RunFolder(tmp_path / "run"))


def test_lost_shard_is_missed_and_made_again(tmp_path: Path) -> None:
    for lost in (SHARD, SHARD / SEAL):
        start(tmp_path / "run", shard_size=2)
        expected = contents(tmp_path / "run")
        gone = tmp_path / "run" / lost
        gone.unlink() if gone.is_file() else shutil.rmtree(gone)
        with pytest.raises(InputError, match="is not finished: 1 of its shards are not sealed"):
            check_complete(RunFolder(tmp_path / "run"))
        start(tmp_path / "run", shard_size=2)
        assert contents(tmp_path / "run") == expected


def test_changed_timings_are_told_of_and_left_out(
    base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(base / "full" / "run", folder)
    (folder / SHARD / TIMINGS).write_bytes(b"")
    assert darc("show", folder, "82")[0] == 2
    code, out, _ = darc("run", "--config", folder / "run.toml", "--out", folder, "--json")
    assert (code, json.loads(out)["cost"]) == (0, {})
    assert f"{TIMINGS} was changed since the run wrote it; the times of shard 00000" in caplog.text
    assert darc("show", folder, "82")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("junk", [b"\x00\xff\n", b"[" * 100_000 + b"\n"])
def test_damaged_run_from_outside(junk: bytes, sealed: bool, base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(base / "full" / "run", folder)
    path = folder / SHARD / "scores.jsonl"
    path.write_bytes(junk)
    if not sealed:
        path.with_name(SEAL).unlink()
    for command in (["show", folder, "82"], ["eval", folder], ["export", folder]):
        done = subprocess.run(
            [sys.executable, "-m", "darc", *map(str, command)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONWARNINGS": "error"},
        )
        assert done.returncode == 2
        expected = " was changed since the run wrote it" if sealed else ", line 1: it is "
        assert done.stderr.startswith(f"darc: {path}{expected}")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["prompts.jsonl.zst", "decisions.jsonl.zst"])
@pytest.mark.parametrize("how", ["junk", "flip", "folder"])
def test_damaged_packed_file_is_one_sentence(
    name: str, how: str, base: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(base / "packed" / "run", folder)
    path = folder / SHARD / name
    data = path.read_bytes()
    if how == "folder":
        as_folder(path)
    else:
        last = bytes([data[-1] ^ 1])
        path.write_bytes(b"no packed file" if how == "junk" else data[:-1] + last)
    # As after a crash before the seal was written.
    path.with_name(SEAL).unlink()
    again = ("run", "--prompts", base / "prompts.jsonl", "--out", folder, "--compress")
    for command in (("show", folder, "82"), ("eval", folder), ("export", folder), again):
        code, _, said = darc(*command)
        assert code == 2, command
        why = "cannot be read" if how == "folder" else "cannot be unpacked"
        assert said.startswith(f"darc: {path}: it {why}"), said
        assert said.count("\n") == 1
    if how != "folder":
        path.unlink()
        assert darc(*again)[0] == 0
        whole = base / "packed" / "run" / SHARD
        for each in whole.glob("*.zst"):
            assert (path.parent / each.name).read_bytes() == each.read_bytes()
