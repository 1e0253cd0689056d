import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.checkpoints import causal, reward

from darc.errors import InputError
from darc.models.completion import Request
from darc.models.transformers import Checkpoint, TransformersModel
from darc.models.transformers.loading import SEQUENCE
from darc.types import Message

pytestmark = pytest.mark.hf

HELLO = [Request((Message("user", "Hello"),), max_tokens=12, temperature=0.0)]


def adapter(base: str, folder: Path) -> str:
    """A random low-rank adapter of a tiny model."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(5)
    model = Checkpoint(base).loaded.model
    settings = LoraConfig(
        r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", init_lora_weights=False
    )
    get_peft_model(model, settings).save_pretrained(folder)
    return str(folder)


def test_adapters_change_the_model(tmp_path: Path) -> None:
    base = causal(tmp_path / "base")
    text = adapter(base, tmp_path / "adapter")
    plain = TransformersModel(base)
    changed = TransformersModel(text)
    named = TransformersModel(text, base=base)
    ours, theirs, same = (model.complete(HELLO)[0].text for model in (plain, changed, named))
    assert ours != theirs
    assert same == theirs
    assert plain.version not in changed.version
    assert changed.version == named.version
    other = TransformersModel(text, base=causal(tmp_path / "other", seed=9))
    assert other.complete(HELLO)[0].text != theirs
    assert other.version != changed.version


def test_a_model_without_the_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no weights for score\.weight"):
        _ = Checkpoint(causal(tmp_path / "causal"), SEQUENCE).loaded
    with pytest.raises(InputError, match=r"no weights for lm_head\.weight"):
        _ = Checkpoint(reward(tmp_path / "reward")).loaded


def test_broken_files_are_named(tmp_path: Path) -> None:
    folder = causal(tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="broken cannot be loaded as a model"):
        _ = Checkpoint(folder).loaded
    (tmp_path / "x.gguf").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"x\.gguf cannot be loaded as a model"):
        _ = Checkpoint(str(tmp_path / "x.gguf")).loaded


def test_remote_code_is_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    causal(folder)
    (folder / "config.json").write_text(
        '{"model_type": "strange", "auto_map": {"AutoConfig": "evil.C", '
        '"AutoModelForCausalLM": "evil.M"}}',
        encoding="utf-8",
    )
    (folder / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be loaded"):
        _ = Checkpoint(str(folder)).loaded


def test_a_hub_model_that_cannot_be_had() -> None:
    program = (
        "from darc.errors import InputError\n"
        "from darc.models.transformers import Checkpoint\n"
        "one = Checkpoint('nobody/nothing-here')\n"
        "for ask in (lambda: one.version, lambda: one.loaded):\n"
        "    try: ask()\n"
        "    except InputError as problem: print(problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("nobody/nothing-here cannot be loaded as a model" in line for line in lines)


def test_the_terminal_stays_quiet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = causal(tmp_path / "quiet")
    capfd.readouterr()
    TransformersModel(folder).complete(HELLO)
    assert capfd.readouterr() == ("", "")


class Trap:
    """What a hostile weights file would run on being unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("sprung",)


def test_old_weights_files_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "old"
    before = TransformersModel(causal(folder)).complete(HELLO)[0].text
    weights = Checkpoint(str(folder)).loaded.model.state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    assert TransformersModel(str(folder)).complete(HELLO)[0].text == before
    torch.save({**weights, "trap": Trap()}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="cannot be loaded as a model"):
        _ = Checkpoint(str(folder)).loaded
    assert not (tmp_path / "sprung").exists()
