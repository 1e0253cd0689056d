import json
from pathlib import Path

import numpy as np
import pytest

from darc.cli import main
from darc.errors import InputError, UnknownName
from darc.training.recipe import FORMS, Loss

Z = np.linspace(-6.0, 6.0, 25)


def worst(z: float, noise: float) -> float:
    """The largest cross-entropy over labels that are right with probability 1 - noise to 1."""
    shares = np.linspace(1.0 - noise, 1.0, 501)
    return float(np.max(shares * np.logaddexp(0, -z) + (1 - shares) * np.logaddexp(0, z)))


def test_sup_is_the_worst_case_over_smoothing() -> None:
    found = Loss("sup", 0.2).value(Z)
    assert np.allclose(found, [worst(z, 0.2) for z in Z], atol=1e-12)


def test_cdpo_is_the_cross_entropy_of_smoothed_labels() -> None:
    expected = 0.9 * np.logaddexp(0, -Z) + 0.1 * np.logaddexp(0, Z)
    assert np.allclose(Loss("cdpo").value(Z), expected, atol=1e-12)


def test_unbiased_is_dpo_on_average_over_flips() -> None:
    loss = Loss("unbiased", 0.3)
    average = 0.7 * loss.value(Z) + 0.3 * loss.value(-Z)
    assert np.allclose(average, np.logaddexp(0, -Z), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_soft_labels_mix_the_loss_and_its_mirror(form: str) -> None:
    loss = Loss(form, 0.2)
    mixed = 0.7 * loss.value(Z) + 0.3 * loss.value(-Z)
    assert np.allclose(loss.value(Z, 0.7), mixed, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_no_noise_is_dpo(form: str) -> None:
    assert np.allclose(Loss(form, 0.0).value(Z), np.logaddexp(0, -Z), atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(UnknownName, match="unbiased"):
        Loss("unbias")
    for form, noise in (("cdpo", 0.5), ("unbiased", 0.5), ("sup", 0.5), ("sup", -0.1)):
        with pytest.raises(InputError, match=f"the noise of {form} is {noise:g}: "):
            Loss(form, noise)


def test_the_command_refuses_half_of_the_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "rdpo", "--noise", "0.5", "--data", "x.jsonl", "--out", str(tmp_path / "o")]
    assert main(command) == 2
    assert "the noise of sup is 0.5" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_presets_name_their_model_and_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "presets", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    paper = next(row for row in rows if row["preset"] == "paper")
    assert paper["model"] == "meta-llama/Llama-3.1-8B-Instruct"
    assert all(row["data"] for row in rows)
    assert main(["train", "presets"]) == 0
    assert "model: meta-llama/Llama-3.1-8B-Instruct" in capsys.readouterr().out
