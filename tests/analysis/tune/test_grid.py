import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from darc.analysis.tune.grid import (
    BEST_OF_K,
    grid,
    one_two_five,
    scale_of,
    tunable,
)
from darc.analysis.tune.trials import choices
from darc.cli import main
from darc.decide.method import Method
from darc.decide.sample_batch import SampleBatch
from darc.decide.tuning_grid import Scale
from darc.errors import InputError, UnknownName

SPREADS = (("atypicality", 0.2), ("log_likelihood", 0.5), ("similarity", 0.1))


@pytest.mark.parametrize(
    ("value", "near"), [(0.9, 1.0), (1.4, 1.0), (1.5, 2.0), (3.0, 2.0), (3.3, 5.0), (0.08, 0.1)]
)
def test_units_are_round(value: float, near: float) -> None:
    assert one_two_five(value) == near


@pytest.mark.parametrize("rule", tunable(2, dict.fromkeys([*dict(SPREADS), "dropout"]))[0])
@pytest.mark.parametrize("size", ["coarse", "fine"])
def test_settings_read_back_as_they_are(rule: str, size: str) -> None:
    settings = grid(rule, Scale(0.2, 16, SPREADS), size)
    texts = [setting.text for setting in settings]
    assert len(set(texts)) == len(texts)
    for setting, text in zip(settings, texts, strict=True):
        spec = Method.parse(text)
        assert spec.rule.parameters == setting.rule.parameters
        assert spec.beta == setting.beta


def test_fine_grid_has_ten_thousand_settings() -> None:
    known, _ = tunable(1, {})
    assert sum(len(grid(rule, Scale(1.0, 16), "fine")) for rule in known) >= 10_000


def test_first_setting_is_the_mildest() -> None:
    samples = np.random.default_rng(0).normal(size=(30, 1, 6, 5))
    batch = SampleBatch(samples, range(30))
    expected = choices(batch, [BEST_OF_K])[0]
    for rule in (name for name in tunable(1, {})[0] if name != "auto"):
        first = grid(rule, Scale(1.0, 6))[0]
        agree = float((choices(batch, [first])[0] == expected).mean())
        assert agree >= (0.9 if rule == "poisson" else 1.0), rule


def test_scale_follows_the_samples() -> None:
    samples = np.random.default_rng(0).normal(0.0, 20.0, size=(50, 1, 6, 5))
    assert scale_of(samples, {}, False).unit == 20.0
    assert scale_of(samples, {}, True).unit == 1.0
    side = {"log_likelihood": samples[:, 0, :, 0] / 200, "dropout": samples[:, 0]}
    assert scale_of(samples, side, False).spreads == (("log_likelihood", 0.1),)


def test_rules_without_their_inputs_are_named() -> None:
    known, absent = tunable(1, {"similarity": 0})
    assert "rbon" in known
    assert set(absent) == {"caution", "majority", "mc_dropout", "uwo"}
    assert "uwo" in tunable(2, {})[0]


def test_refusals() -> None:
    with pytest.raises(InputError, match="do not vary"):
        scale_of(np.ones((4, 1, 3, 5)), {}, False)
    with pytest.raises(UnknownName, match="grid"):
        grid("epsilon", Scale(1.0, 4), "medium")


def test_text_of_a_setting() -> None:
    assert Method.of("tau", {"quantile": 0.5, "objective": "mean", "beta": 2.0}).text == (
        "tau:quantile=0.5,objective=mean,beta=2"
    )
    assert BEST_OF_K.text == "mean"


def test_a_rule_of_another_package_is_tuned_by_its_own_grid(tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.csv"
    assert main(["simulate", "--n-prompts", "12", "--n-raters", "6", "--out", str(ratings)]) == 0
    code = (
        "import darc_median.trimmed, sys; from darc.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    rules = ["--rule", "trimmed", "--rule", "lcb", "--splits", "2"]
    done = subprocess.run(
        [sys.executable, "-c", code, "tune", str(ratings), *rules],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "trimmed  weight=" in done.stdout
