"""Second ratings by the same rater, and copied rows."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.ratings.helpers import TIDY, cells_of, table_of

from darc.analysis.diagnose.candidate_ratings import candidate_ratings
from darc.analysis.diagnose.variance_components import variance_components
from darc.ratings.load import load_table

Row = tuple[str, str, str, float]


def csv_of(rows: list[Row]) -> str:
    return TIDY + "".join(",".join(map(str, row)) + "\n" for row in rows)


def random_rows(
    seed: int = 0, raters: int = 3, prompts: int = 20, levels: int = 5, noise: float = 1.0
) -> list[Row]:
    """Ratings of four candidates per prompt on a scale of whole points."""
    draw = np.random.default_rng(seed)
    rows = []
    for prompt in range(prompts):
        for candidate in "abcd":
            quality = draw.uniform(1, levels)
            for rater in range(raters):
                value = np.clip(np.round(quality + draw.normal(0, noise)), 1, levels)
                rows.append((f"p{prompt}", candidate, f"r{rater}", float(value)))
    return rows


def renamed(rows: list[Row]) -> list[Row]:
    return [(prompt, candidate, f"{rater} copy", value) for prompt, candidate, rater, value in rows]


def test_a_repeat_is_averaged() -> None:
    rows = [("q", "a", "r", 1), ("q", "b", "r", 2), ("q", "a", "s", 5), ("q", "a", "r", 2)]
    data = csv_of([*rows, ("q", "b", "r", 2)])
    first, second = cells_of(data)
    assert first.samples == (("r", 1.5), ("s", 5.0))
    assert second.samples == (("r", 2.0),)
    with table_of(data) as table:
        assert table.repeats is not None
        assert table.repeats.repeated_cells == 2
        assert table.repeats.cells == 3
        assert table.repeats.noise_variance == (0.25,)
        assert "averaged" in table.notes[0]
        assert table.all_prompts().notes == table.notes


def test_a_wide_table_may_have_a_candidate_twice() -> None:
    data = "prompt_id,candidate_id,ann,bob\nq,a,1,2\nq,b,1,1\nq,a,3,\n"
    assert [cell.samples for cell in cells_of(data)] == [
        (("ann", 2.0), ("bob", 2.0)),
        (("ann", 1.0), ("bob", 1.0)),
    ]


def test_repeats_are_averaged_in_every_batch() -> None:
    rows = random_rows()
    again = [(*row[:3], row[3] + 1) for row in rows]
    expected = [
        tuple((rater, value + 0.5) for rater, value in cell.samples)
        for cell in cells_of(csv_of(rows))
    ]
    cells = cells_of(csv_of([*rows, *again]), batch_rows=7)
    assert [cell.samples for cell in cells] == expected


def test_repeats_show_the_noise_of_a_rating() -> None:
    draw = np.random.default_rng(1)
    rows: list[Row] = []
    for prompt in range(60):
        for candidate in "abcd":
            quality = draw.normal()
            for rater in range(4):
                opinion = quality + draw.normal(0, 1.0)
                for _ in range(2):
                    value = opinion + draw.normal(0, 0.5)
                    rows.append((f"p{prompt}", candidate, f"r{rater}", value))
    with table_of(csv_of(rows)) as table:
        assert table.repeats is not None
        assert table.repeats.noise_variance[0] == pytest.approx(0.25, rel=0.15)
        ratings = table.all_prompts()
    shares = {part.name: part.variance for part in variance_components(candidate_ratings(ratings))}
    assert shares["noise"] == pytest.approx(0.125, rel=0.15)
    assert shares["taste"] == pytest.approx(1.0, rel=0.2)


def test_rows_copied_under_the_same_rater_count_once() -> None:
    rows = random_rows()
    with table_of(csv_of([*rows, *rows])) as table:
        assert table.repeats is not None
        assert table.repeats.are_copies
        assert np.isnan(table.repeats.noise_variance[0])
        assert "copied rows" in table.notes[0]
    assert cells_of(csv_of([*rows, *rows])) == cells_of(csv_of(rows))


@pytest.mark.parametrize("levels", [3, 5, 100])
@pytest.mark.parametrize("raters", [1, 2, 3, 4])
def test_rows_copied_under_other_names_count_once(raters: int, levels: int) -> None:
    rows = random_rows(raters=raters, levels=levels, noise=levels / 5)
    data = csv_of([*rows, *renamed(rows)])
    with table_of(data, batch_rows=50) as table:
        assert table.copies is not None
        assert table.copies.left_out == len(rows)
        assert "copied rows" in table.notes[0]
    assert cells_of(data) == cells_of(csv_of(rows))


@pytest.mark.parametrize("levels", [2, 3, 5, 100])
@pytest.mark.parametrize("raters", [2, 4, 6, 8])
def test_agreement_is_no_copy(raters: int, levels: int) -> None:
    for seed in range(10):
        for noise in (0.04, 0.1, 0.2):
            rows = random_rows(seed, raters, levels=levels, noise=noise * levels)
            with table_of(csv_of(rows)) as table:
                assert table.copies is None


def test_only_answers_whose_ratings_come_in_pairs_are_changed() -> None:
    rows = random_rows(raters=2, levels=100, noise=20)
    odd = [("odd", "a", "x", 1.0), ("odd", "a", "y", 1.0), ("odd", "a", "z", 2.0)]
    cells = cells_of(csv_of([*rows, *renamed(rows), *odd]))
    assert [value for _, value in cells[-1].samples] == [1.0, 1.0, 2.0]


def test_copied_rows_of_real_ratings() -> None:
    folder = Path(os.environ.get("DARC_DATA", "no folder is named by DARC_DATA"))
    if not folder.is_dir():
        pytest.skip("DARC_DATA names no folder")
    with_copies = load_table(folder / "ratings" / "realsumm.csv.gz")
    assert "copied rows" in with_copies.notes[0]
    for name in ("summeval", "recipe", "squality", "mqm_zhen"):
        assert not load_table(folder / "ratings" / f"{name}.csv.gz").notes
