import pytest

from darc.language.data_files import read_rows
from darc.language.inflection import stem
from darc.language.reading import Reading
from darc.language.synonyms import WORDINGS, same_sense
from darc.parts.rewriters.content_filters import content_change
from darc.parts.rewriters.filters import FILTERS
from darc.parts.rewriters.phrasing import MARKERS
from darc.parts.rewriters.wording import Wording, all_wordings

UNCHANGED = [FILTERS[name] for name in ("negations", "conditions", "quantities", "comparisons")]


def test_the_table_is_large_and_without_repetition() -> None:
    table = [pair for kind in ("both", "one way", "verb") for pair in WORDINGS[kind]]
    assert len(table) >= 120
    assert len({frozenset(pair) for pair in table}) == len(table)


def test_every_guard_is_of_a_known_wording() -> None:
    phrases = {wording.phrase for wording in all_wordings()}
    guarded = {phrase for _, phrase, _ in read_rows("neighbours.tsv")}
    assert guarded <= phrases, guarded - phrases


@pytest.mark.parametrize("pair", list(all_wordings()))
def test_filters_count_every_wording_as_its_replacement(pair: Wording) -> None:
    first, second = (Reading(f"We saw {words} there.") for words in pair[:2])
    assert not content_change(first, second).added, pair
    for unchanged in UNCHANGED:
        assert unchanged(first, second, "style") is None, pair


@pytest.mark.parametrize("group", MARKERS)
def test_discourse_markers_of_a_kind_count_as_one(group: tuple[str, ...]) -> None:
    readings = [Reading(f"{marker} we saw it.") for marker in group]
    for unchanged in UNCHANGED:
        assert not any(unchanged(readings[0], other, "style") for other in readings), group
    assert not any(content_change(readings[0], other).added for other in readings)


def test_opposites_are_never_the_same() -> None:
    opposites = "increase decrease, open close, buy sell, hot cold, win lose, leave arrive"
    for pair in opposites.split(", "):
        first, second = map(stem, pair.split())
        assert not same_sense(first, second), pair
