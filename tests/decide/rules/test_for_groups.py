import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers import Array

import darc
from darc.cli import main
from darc.decide.model.calibration import Calibration
from darc.errors import InputError

RATERS = [f"r{place}" for place in range(10)]
GROUPS = {name: ("old", "young")[place % 2] for place, name in enumerate(RATERS)}


def draw(apart: float, prompts: int = 60, seed: int = 0) -> tuple[Array, Array]:
    """Ratings (P, K, n) on 1 to 5, and the true mean of each group, (P, K, 2)."""
    generator = np.random.default_rng(seed)
    worth = generator.normal(3, 0.4, (prompts, 4, 1))
    truth = worth + generator.normal(0, apart, (prompts, 4, 2))
    noise = generator.normal(0, 0.7, (prompts, 4, 10))
    return truth[..., [place % 2 for place in range(10)]] + noise, truth


def decide(table: Array, **options: Any) -> darc.Decisions:
    ids = np.broadcast_to(RATERS, table.shape)
    return darc.select_batch(table, "for_groups", rater_ids=ids, rater_groups=GROUPS, **options)


def gained(truth: Array, choice: Any, group: int) -> float:
    return float(truth[np.arange(len(truth)), choice, group].mean())


def test_a_choice_for_a_group_serves_it() -> None:
    table, truth = draw(0.8)
    usual = darc.select_batch(table).index
    for place, name in enumerate(("old", "young")):
        chosen = decide(table, group=name).index
        assert gained(truth, chosen, place) > gained(truth, usual, place) + 0.1
    everybody = decide(table, mix="old=1,young=1").index
    assert truth[np.arange(60), everybody].mean() > truth.mean()


def test_the_worst_group_is_better_off() -> None:
    table, truth = draw(0.8)
    rows = np.arange(60)
    worst = decide(table, worst=True)
    usual = darc.select_batch(table).index
    assert truth[rows, worst.index].min(axis=1).mean() > truth[rows, usual].min(axis=1).mean()
    assert not worst.flags["few_per_group"].any()
    few = decide(_without(table), worst=True)
    assert few.flags["few_per_group"].all()


def _without(table: Array) -> Array:
    """The ratings without most of one group's."""
    table = table.copy()
    table[..., 2::2] = np.nan
    return table


def test_groups_that_agree_are_served_by_the_mean() -> None:
    table, _ = draw(0.0)
    assert decide(table, worst=True).flags["no_groups"].all()
    same = decide(table, group="old").index == decide(table).index
    assert same.mean() > 0.8


def test_no_group_is_probably_below_a_floor() -> None:
    table, _ = draw(0.8)
    decisions = decide(table, floor=2.5)
    means = [decision.group_means[decision.name] for decision in decisions]
    is_met = ~decisions.flags["below_floor"]
    assert is_met.any()
    assert all(min(mean.values()) > 2.5 for mean, met in zip(means, is_met, strict=True) if met)
    assert decide(table, floor=9.0).flags["below_floor"].all()


def test_one_prompt_goes_by_the_calibration() -> None:
    table, _ = draw(0.8)
    many = decide(table, group="old")
    calibration = many.rule.parameters["calibration"]
    for place in range(5):
        one = darc.select(
            table[place],
            "for_groups",
            rater_ids=RATERS,
            rater_groups=GROUPS,
            group="old",
            calibration=calibration,
        )
        assert one.index == many.index[place]
        assert "the group old" in one.explain()
    alone = darc.select(table[0], "for_groups", rater_ids=RATERS, rater_groups=GROUPS, group="old")
    assert "no_groups" in alone.flags
    again = Calibration.from_json(calibration.to_json())
    assert again.groups == calibration.groups


def test_wrong_groups_are_refused() -> None:
    table, _ = draw(0.8)
    with pytest.raises(InputError, match="old, young"):
        decide(table, group="ancient")
    with pytest.raises(InputError, match="exclude"):
        decide(table, group="old", worst=True)
    with pytest.raises(InputError, match="groups of raters"):
        darc.select_batch(table, "for_groups", group="old")


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    table, _ = draw(0.8)
    lines = ["prompt_id,candidate_id,rater_id,rater_group,rating"]
    for p, k, j in np.ndindex(table.shape):
        lines.append(f"p{p},c{k},r{j},{GROUPS[f'r{j}']},{table[p, k, j]:.3f}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines))
    return path


def test_the_command_line_chooses_for_groups(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def chosen(*options: str) -> list[str]:
        assert main(["select", str(ratings), "--json", *options]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [json.loads(line)["candidate"] for line in lines]

    old = chosen("--for", "old")
    young = chosen("--for", "young")
    assert sum(a != b for a, b in zip(old, young, strict=True)) > 10
    assert chosen("--mix", "old=1") == old
    assert chosen("--worst-group", "--no-group-below", "2") != old
    learnt = tmp_path / "calibration.json"
    assert main(["calibrate", str(ratings), "--out", str(learnt)]) == 0
    assert "Groups of raters" in capsys.readouterr().out
    assert chosen("--for", "old", "--calibration", str(learnt)) == old
    one = tmp_path / "one.csv"
    one.write_text("\n".join(ratings.read_text().splitlines()[:41]))
    assert main(["select", str(one), "--json", "--for", "old", "--calibration", str(learnt)]) == 0
    assert json.loads(capsys.readouterr().out)["candidate"] == old[0]
    assert main(["select", str(ratings), "--for", "old", "--prompt", "p0"]) == 0
    assert "expected mean of each group" in capsys.readouterr().out
    assert main(["select", str(ratings), "--for", "nobody"]) == 2


def test_an_evaluation_says_what_the_worst_group_gains(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["eval", str(ratings), "--rule", "for_groups:worst=true", "--splits", "2", "--json"]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)["frames"]["human"]["rows"]
    gains = {row["method"]: row["delta_worst_group"] for row in rows if row["subset"] == "overall"}
    assert gains["mean"] == 0
    assert gains["for_groups:worst=true"] > 0
