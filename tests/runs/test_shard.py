import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.runs.makers import Words, contents, many, rows, start

from darc.errors import InputError
from darc.runs.folder import RunFolder
from darc.runs.manifest import method_of
from darc.runs.shard import ORDER
from darc.runs.summary import summarize_run


def test_torn_line_is_cut_off(tmp_path: Path) -> None:
    start(tmp_path / "run")
    seal = tmp_path / "run" / "shards" / "00000" / "shard.json"
    expected = contents(tmp_path / "run")
    seal.unlink()
    for name in ("decisions", "scores", "variants"):
        path = tmp_path / "run" / "shards" / "00000" / f"{name}.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
    assert len(rows(RunFolder(tmp_path / "run"), "scores.jsonl")) == 4
    start(tmp_path / "run")
    assert contents(tmp_path / "run") == expected


def test_shards_have_the_same_prompts_as_one_and_are_sealed(tmp_path: Path) -> None:
    one = start(tmp_path / "one", questions=many(11))
    several = start(tmp_path / "several", questions=many(11), shard_size=3, window=2)
    for name in ORDER:
        assert rows(one, name) == rows(several, name)
    shards = list(several.shards())
    assert [shard.name for shard in shards] == ["00000", "00001", "00002", "00003"]
    for shard in shards:
        assert shard.damage() is None
        turns = {prompt_id.partition("#")[0] for prompt_id in shard.rows("prompts.jsonl")}
        assert len(turns) == (2 if shard.name == "00003" else 3)
    assert several.manifest()["complete"]


PARTED: dict[str, Any] = {"questions": many(12), "shard_size": 4}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three shards."""
    return start(tmp_path_factory.mktemp("sealed") / "run", **PARTED).path


@pytest.mark.parametrize("name", [*ORDER, "shard.json"])
@pytest.mark.parametrize("how", ["change", "cut", "remove"])
def test_a_changed_file_is_named_and_mended(
    name: str, how: str, sealed: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.touch()
    shutil.copytree(sealed, tmp_path / "run")
    path = tmp_path / "run" / "shards" / "00001" / name
    data = path.read_bytes()
    if how == "remove":
        path.unlink()
    else:
        place = len(data) // 2
        changed = bytes([data[place] ^ 1]) + data[place + 1 :] if how == "change" else b""
        path.write_bytes(data[:place] + changed)
    if name != "shard.json" or how != "remove":
        with pytest.raises(
            InputError, match=f"{name} was (changed|removed) since the run wrote it"
        ):
            rows(RunFolder(tmp_path / "run"), "decisions.jsonl")
    start(tmp_path / "run", generator=Words(log), **PARTED)
    assert contents(tmp_path / "run") == contents(sealed)
    again = log.read_text().split()
    kept = name not in ("prompts.jsonl", "candidates.jsonl", "shard.json")
    assert len(again) == (0 if kept or (name, how) == ("shard.json", "remove") else 6)


def test_packed_shards_are_read_and_mended(tmp_path: Path) -> None:
    options: dict[str, Any] = {"questions": many(8), "shard_size": 4}
    plain = start(tmp_path / "plain", **options)
    packed = start(tmp_path / "packed", pack=True, **options)
    for name in ORDER:
        assert rows(plain, name) == rows(packed, name)
    path = tmp_path / "packed" / "shards" / "00001" / "scores.jsonl.zst"
    before = path.read_bytes()
    path.write_bytes(before[:-3] + b"xyz")
    start(tmp_path / "packed", pack=True, **options)
    assert path.read_bytes() == before


@pytest.mark.parametrize("keep", ["scores", "decisions"])
def test_what_is_not_kept_is_said(keep: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"questions": many(8), "shard_size": 4, "keep": keep}
    folder = start(tmp_path / "run", **options)
    whole = start(tmp_path / "all", questions=many(8))
    assert rows(folder, "decisions.jsonl") == rows(whole, "decisions.jsonl")
    with pytest.raises(InputError, match=f"has no variants.jsonl: .*--keep {keep}"):
        rows(folder, "variants.jsonl")
    log = tmp_path / "log"
    start(tmp_path / "run", generator=Words(log), **options)
    assert not log.exists()
    assert summarize_run(folder, method_of(folder))["prompts"] == 12
