"""Files that appear whole, full disks, and who may read what."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers import run_command
from tests.runs.makers import start

from darc.errors import InputError
from darc.files import append_private, atomic_path, atomic_writer, name_in_errors, private_folder
from darc.runs.folder import RunFolder
from darc.serve.audit import AuditLog
from darc.study.backup import backup
from darc.study.store import open_store
from darc.web.keys import make_key


def darc(*arguments: object, most: int | None = None) -> subprocess.CompletedProcess[str]:
    """A command that may make files of `most` bytes only, which ends as a full disk does."""
    if most is None:
        return run_command(*arguments)
    limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))"
    code = f"import sys, resource; {limit}; from darc.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="limits of files are POSIX")
def test_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    run = tmp_path / "run"
    parts = ("--generator", "echo", "--scorer", "brevity", "-k", "6")
    done = darc("run", "--prompts", "examples", "--out", run, "--sample", 9, *parts, most=9000)
    assert done.returncode == 1
    *warnings, said = done.stderr.splitlines()[-2:]
    # Prompts are at work side by side, so that it may be any of the larger files.
    full = {run / "shards" / "00000" / f"{name}.jsonl" for name in ("candidates", "variants")}
    assert said in {f"darc: {path}: File too large" for path in full}
    # The kept scores are told of once, and the run goes on without them.
    assert all(f"not kept: {tmp_path / 'cache' / 'scores.sqlite'}" in each for each in warnings)
    again = darc("run", "--prompts", "examples", "--out", run, "--sample", 9, *parts)
    assert again.returncode == 0, again.stderr
    for form in ("alpaca", "mt-bench", "tidy", "parquet"):
        out = tmp_path / f"out.{form}"
        done = darc("export", run, "--format", form, "--out", out, most=2000)
        assert done.returncode == 1
        assert done.stderr.startswith(f"darc: {out}: ")
        assert "too large" in done.stderr
        assert not out.exists()
    shown = darc("show", run, "advice-2", "--html", tmp_path / "page.html", most=2000)
    assert shown.stderr == f"darc: {tmp_path / 'page.html'}: File too large\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_full_device_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("prompt_id,candidate_id,a,b\np,x,1,2\np,y,3,3\n", encoding="utf-8")
    done = darc("select", path, "--out", "/dev/full")
    assert done.returncode == 1
    assert done.stderr.endswith("darc: /dev/full: No space left on device\n")
    code = "import sys; from darc.cli import main; sys.exit(main())"
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", code, "select", str(path)]
        said = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode != 0
    assert said.stderr.startswith("darc: standard output: No space left on device\n")
    with pytest.raises(OSError, match="somewhere"), name_in_errors("somewhere"):
        raise OSError(28, "No space left on device")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_answers_and_ratings_are_for_their_owner(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        run = start(tmp_path / "made" / "run").path
        audit = AuditLog(tmp_path / "log" / "audit.jsonl", max_bytes=300)
        for number in range(9):
            audit.add({"number": number, "text": "long enough"})
        make_key(tmp_path / "keys.jsonl", "me")
        store = open_store(str(tmp_path / "study.db"), new=True)
        backup(store, tmp_path / "study.backup")
        private_folder(tmp_path / "made")
    finally:
        os.umask(before)
    shard = run / "shards" / "00000"
    assert mode(run) == mode(shard) == mode(tmp_path / "log") == 0o700
    assert mode(tmp_path / "made") == 0o755
    private = [*run.glob("*.*"), *shard.iterdir()]
    private += [*(tmp_path / "log").iterdir(), *tmp_path.glob("*.*")]
    names = {path.name for path in private}
    assert names >= {"decisions.jsonl", ".lock", "audit.jsonl.1", "keys.jsonl", "study.db-wal"}
    assert {path.name: mode(path) for path in private} == dict.fromkeys(names, 0o600)
    store.close()


def test_private_file_keeps_what_its_owner_made_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    append_private(path, b"1\n")
    path.chmod(0o640)
    append_private(path, b"2\n")
    assert path.read_bytes() == b"1\n2\n"
    assert os.name == "nt" or mode(path) == 0o640
    with pytest.raises(InputError, match="is not a run folder"):
        RunFolder(tmp_path).manifest()


def test_the_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with atomic_writer(target) as stream:
        stream.write("é\r\n\n")
        assert not target.exists()
    assert target.read_bytes() == "é\r\n\n".encode()
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError])
def test_on_any_error_what_was_there_stays(tmp_path: Path, stop: type[BaseException]) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old", encoding="utf-8")

    def fail() -> None:
        with atomic_writer(str(target)) as stream:
            stream.write("new")
            raise stop

    with pytest.raises(stop):
        fail()
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"), atomic_writer(tmp_path / "no" / "x.csv"):
        pass
    with pytest.raises(InputError, match="is a folder"), atomic_writer(tmp_path):
        pass


def test_the_suffix_is_kept_for_those_who_look_at_it(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "plot.png") as path:
        assert path.suffix == ".png"
        path.write_bytes(b"picture")
    assert (tmp_path / "plot.png").read_bytes() == b"picture"


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions and links")
def test_modes_and_links_survive(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    link = tmp_path / "link.csv"
    target.touch()
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_writer(link) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path(os.devnull).is_char_device(), reason="no such device")
def test_a_device_is_written_to_and_not_replaced() -> None:
    with atomic_writer(os.devnull) as stream:
        stream.write("gone")
    assert Path(os.devnull).is_char_device()
