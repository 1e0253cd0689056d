from pathlib import Path

import numpy as np
import pytest

from darc.errors import DarcError
from darc.models.transformers.loading import ModelSource
from darc.train.machine import Machine, check_machine, count_parameters
from darc.train.recipe import PRESETS, TrainingRecipe

GIGA = 10**9


def test_the_presets_numbers() -> None:
    paper = PRESETS["paper"]
    assert (paper.rank, paper.alpha, paper.dropout, paper.beta) == (16, 32, 0.05, 0.1)
    assert (paper.learning_rate, paper.batch, paper.accumulation) == (1e-5, 1, 16)
    assert (paper.epochs, paper.seed, paper.quantised, paper.dtype) == (5, 7, True, "bf16")
    assert (paper.prompt_tokens, paper.response_tokens) == (512, 512)
    assert PRESETS["cpu-small"].model == "embedded"
    changed = paper.changed(rank=4, alpha=None)
    assert changed == TrainingRecipe(model=paper.model, rank=4, quantised=True, dtype="bf16")


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (Machine(None, 64 * GIGA, True), "GPU, and there is none"),
        (Machine(24 * GIGA, 64 * GIGA, False), "bitsandbytes"),
        (Machine(4 * GIGA, 64 * GIGA, True), r"8000 million parameters .* 4\.0 GB are free"),
    ],
)
def test_what_is_missing_is_said(machine: Machine, said: str) -> None:
    with pytest.raises(DarcError, match=said):
        check_machine(PRESETS["paper"], 8 * GIGA, machine)


def test_what_suffices_passes() -> None:
    check_machine(PRESETS["paper"], 8 * GIGA, Machine(24 * GIGA, 64 * GIGA, True))
    check_machine(PRESETS["paper"], None, Machine(GIGA, GIGA, True))
    check_machine(PRESETS["cpu-small"], 135_000_000, Machine(None, 4 * GIGA, False))
    with pytest.raises(DarcError, match="memory"):
        check_machine(PRESETS["cpu-small"], 8 * GIGA, Machine(None, 8 * GIGA, False))


def test_parameters_are_counted_from_headers(tmp_path: Path) -> None:
    save_file = pytest.importorskip("safetensors.numpy").save_file
    save_file({"a": np.zeros((3, 4)), "b": np.zeros(5)}, tmp_path / "model.safetensors")
    assert count_parameters(ModelSource("x", str(tmp_path))) == 17
    assert count_parameters(ModelSource("owner/name", "owner/name")) is None
