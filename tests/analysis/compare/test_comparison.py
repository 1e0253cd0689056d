from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from darc.analysis.compare.comparison import compare_systems
from darc.analysis.compare.leaderboard import Leaderboard
from darc.errors import InputError
from darc.ratings.load import load_table
from darc.ratings.ratings import Ratings


def ratings(
    path: Path, means: dict[str, float], prompts: int = 60, raters: int = 12, per_answer: int = 4
) -> Path:
    """A file in which system s has the mean means[s], and raters differ in severity by up to 2."""
    draw = np.random.default_rng(3)
    severity = np.linspace(-1, 1, raters)
    rows = ["prompt_id,candidate_id,system,rater_id,rater_group,rating"]
    for p in range(prompts):
        for place, (system, mean) in enumerate(means.items()):
            for r in draw.choice(raters, per_answer, replace=False):
                dislike = 4.0 if system == "divisive" and r % 2 == 0 else 0.0
                value = mean + severity[r] - dislike + draw.normal(0, 0.3)
                rows.append(f"p{p},c{place},{system},r{r},{'ab'[r % 2]},{value:.3f}")
    path.write_text("\n".join(rows) + "\n")
    return path


def compare(path: Path, means: dict[str, float], **options: float) -> Leaderboard:
    return compare_systems(load_table(ratings(path, means)), draws=300, **options)  # type: ignore[arg-type]


def test_means_are_recovered_and_ranks_are_theirs(tmp_path: Path) -> None:
    board = compare(tmp_path / "r.csv", {"good": 4.0, "fair": 3.0, "poor": 1.0})
    assert [standing.system for standing in board.standings] == ["good", "fair", "poor"]
    assert [standing.rank for standing in board.standings] == [1, 2, 3]
    for standing, mean in zip(board.standings, (4.0, 3.0, 1.0), strict=True):
        low, high = standing.interval
        assert low < standing.mean < high
        assert standing.mean == pytest.approx(mean, abs=0.15)
        assert high - low < 0.35, "severity is taken out"
    assert board.severity_removed
    assert board.wins[0, 2] == 1.0
    assert board.wins[2, 0] == 0.0
    assert np.isnan(board.wins[0, 0])
    assert board.verdict.startswith("good is best")


def test_systems_alike_share_a_rank(tmp_path: Path) -> None:
    board = compare(tmp_path / "r.csv", {"one": 3.0, "two": 3.0, "poor": 1.0})
    assert [standing.rank for standing in board.standings] == [1, 1, 3]
    assert "cannot be told apart" in board.verdict
    assert board.reversals
    assert all(by > 0 for _, by in board.reversals)


def test_a_system_that_divides_raters_is_not_called_best(tmp_path: Path) -> None:
    board = compare(tmp_path / "r.csv", {"divisive": 5.6, "steady": 3.3}, threshold=2.0)
    standings = {standing.system: standing for standing in board.standings}
    assert standings["divisive"].unhappy > standings["steady"].unhappy
    assert standings["divisive"].disagreement > standings["steady"].disagreement
    assert [standing.rank for standing in board.standings] == [1, 1], "raters are drawn too"
    assert "steady leaves the fewest people unhappy" in board.verdict


def test_different_prompts_are_compared_by_two_way_means(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    rows = ["prompt_id,candidate_id,system,rater_id,rating"]
    for prompt in range(60):
        # The second system answers easy prompts only, and is no better.
        easy = prompt >= 40
        for system in ("first", "second") if easy else ("first", "third"):
            for rater in range(6):
                value = 3.0 + 3.0 * easy + generator.normal(0, 0.5)
                rows.append(f"p{prompt},{system},{system},r{rater},{value:.3f}")
    path = tmp_path / "r.csv"
    path.write_text("\n".join(rows) + "\n")
    board = compare_systems(load_table(path), pair=("second", "third"))
    assert board.method == "two-way"
    assert {standing.rank for standing in board.standings} == {1}
    assert board.difference is not None
    assert abs(board.difference.difference) < 0.3
    low, high = board.difference.interval
    assert low < 0 < high
    assert board.difference.more_ratings > 0


def test_few_raters_are_warned_of(tmp_path: Path) -> None:
    path = ratings(tmp_path / "r.csv", {"one": 3.0, "two": 3.0}, raters=3, per_answer=3)
    board = compare_systems(load_table(path))
    assert any("only 3 raters" in note for note in board.notes)
    for standing in board.standings:
        low, high = standing.unhappy_interval
        assert low <= standing.unhappy <= high
        assert low < high
    with pytest.raises(InputError, match="not two systems"):
        compare_systems(load_table(path), pair=("one", "three"))


def test_groups_have_standings_of_their_own(tmp_path: Path) -> None:
    board = compare(tmp_path / "r.csv", {"good": 4.0, "poor": 1.0})
    assert set(board.by_group) == {"a", "b"}
    for standing in board.standings:
        means = {
            group: each.mean
            for group, standings in board.by_group.items()
            for each in standings
            if each.system == standing.system
        }
        assert standing.worst_group == min(means, key=lambda group: means[group])
        assert standing.worst_group_mean == min(means.values())


def test_one_system_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column `system`"):
        compare(tmp_path / "r.csv", {"alone": 4.0})


def source_of(path: Path, means: dict[str, float]) -> Ratings:
    return load_table(ratings(path, means, prompts=10))


def test_people_are_unhappy_below_the_middle_of_the_scale(tmp_path: Path) -> None:
    source = source_of(tmp_path / "r.csv", {"good": 4.0, "fair": 3.0})
    likely = compare_systems(source, draws=100)
    assert likely.standards.scale == (1, 6)
    assert likely.threshold == 3.5
    wide = compare_systems(source, draws=100, scale="0-100")
    assert wide.threshold == 50
    assert [each.unhappy for each in wide.standings] == [1, 1]
    own_limit = compare_systems(source, 3.25, draws=100, scale=(0, 100))
    assert own_limit.threshold == 3.25
    panel = compare_systems(replace(source, kind="panel"), draws=100)
    assert panel.standards.scale == (0, 10)


def test_scores_of_rewrites_say_nothing_of_people(tmp_path: Path) -> None:
    source = source_of(tmp_path / "r.csv", {"good": 4.0, "poor": 1.0})
    board = compare_systems(replace(source, kind="rewrite"), draws=100)
    assert not board.rated_by_people
    assert board.verdict == "good has the highest mean score."
