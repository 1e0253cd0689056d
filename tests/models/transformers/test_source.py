import json
from pathlib import Path

import pytest

from darc.errors import InputError, MissingExtra
from darc.models.file_hash import hash_files
from darc.models.transformers.loading import ModelSource, require_torch, resolve


def folder(path: Path, **files: object) -> str:
    path.mkdir()
    for name, content in files.items():
        (path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_hub_names_folders_and_files(tmp_path: Path) -> None:
    assert resolve("owner/name-1.5") == ModelSource("owner/name-1.5", "owner/name-1.5")
    model = folder(tmp_path / "model", config={})
    assert resolve(model) == ModelSource(model, model)
    weights = tmp_path / "model" / "small.gguf"
    weights.touch()
    assert resolve(str(weights)) == ModelSource(str(weights), model, gguf="small.gguf")


def test_adapters_name_their_base(tmp_path: Path) -> None:
    model = folder(tmp_path / "model", config={})
    adapter = folder(tmp_path / "adapter", adapter_config={"base_model_name_or_path": model})
    assert resolve(adapter) == ModelSource(adapter, model, adapter=adapter)
    assert resolve(adapter, "owner/other").weights == "owner/other"
    assert resolve("owner/adapter", model) == ModelSource(
        "owner/adapter", model, adapter="owner/adapter"
    )
    nameless = folder(tmp_path / "nameless", adapter_config={})
    with pytest.raises(InputError, match="names no base model"):
        resolve(nameless)
    with pytest.raises(InputError, match="is not an adapter"):
        resolve(model, "owner/other")
    with pytest.raises(InputError, match="an adapter itself"):
        resolve(nameless, adapter)


@pytest.mark.parametrize(
    "text", ["/no/such/folder", "./here", "a/b/c", "two words", "/no/such.gguf", "x.gguf"]
)
def test_what_is_not_there_is_named(text: str) -> None:
    with pytest.raises(InputError, match=text.replace(".", "[.]")):
        resolve(text)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no model.*config\.json"):
        resolve(str(tmp_path))


def test_embedded_is_the_installed_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="run: darc models install"):
        resolve("embedded")


def test_hashes_follow_content(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"one")
    before = hash_files([path])
    path.write_bytes(b"two")
    assert hash_files([path]) != before
    path.write_bytes(b"one")
    assert hash_files([path]) == before


def test_a_missing_library_names_the_extra() -> None:
    with pytest.raises(MissingExtra, match=r"\[hf\]"):
        require_torch("the model x", "no_such_library")
