from pathlib import Path

import pytest
from tests.viewer.makers import index_of, write_ratings, write_texts

from darc.errors import InputError
from darc.viewer.comparison import changed_entries, compare, lonely_prompts
from darc.viewer.index import DecisionIndex, beginning
from darc.viewer.query import Query
from darc.viewer.words import match_expression


def found(index: DecisionIndex, **values: str) -> list[str]:
    entries = index.entries(Query(**{"sort": "file", **values}), limit=1000)
    assert index.count(Query(**{"sort": "file", **values})) == len(entries)
    return [entry["prompt_id"] for entry in entries]


def test_search_finds_words_in_prompts_answers_and_ids(toasts: Path) -> None:
    with index_of(toasts) as index:
        assert found(index, q="zurich toast") == [f"p{n}" for n in range(12) if n != 3]
        assert found(index, q="TOAST number 7") == ["p7"]
        assert found(index, q="forg") == [f"p{n}" for n in range(12)]
        assert found(index, q="p11") == ["p11"]
        assert found(index, q="乾杯") == ["p3"]
        assert found(index, q="nowhere") == []
        # Signs of the search's own language are text.
        for query in ('"', "toast OR nowhere", "toast*", "NEAR(", "text: toast", "%_", "' --"):
            found(index, q=query)
        assert found(index, q="toast OR nowhere") == []


def test_words_become_an_expression() -> None:
    assert match_expression('to "be') == '"to"* """be"*'
    assert match_expression(" - ?") == ""


def test_filters_and_orders(toasts: Path) -> None:
    with index_of(toasts, rules=["mean"]) as index:
        every = found(index)
        assert found(index, show="differs") == []
        assert len(found(index, show="divided")) == 1
        assert found(index, system="roast") == every
        assert found(index, system="story") == []
        assert found(index, group="old") == every
        assert found(index, group="young") == []
        assert every == [f"p{n}" for n in range(12)]
        for sort, column, sign in (("", "disagreement", -1), ("mean", "mean", 1)):
            entries = index.entries(Query(sort=sort), limit=100)
            numbers = [sign * entry["first"][column] for entry in entries]
            assert numbers == sorted(numbers)
        (first,) = index.entries(Query(), limit=1)
        assert found(index, show="divided") == [first["prompt_id"]]
        pages = [index.entries(Query(), offset, 5) for offset in (0, 5, 10)]
        numbers = [entry["number"] for page in pages for entry in page]
        assert sorted(numbers) == list(range(1, 13))
    with index_of(toasts, rules=["auto:caution=high"]) as index:
        assert found(index, show="differs") == every
        assert found(index, group="old") == []


def test_two_sources_are_joined_by_prompt(tmp_path: Path) -> None:
    first = write_ratings(tmp_path / "first.csv", prompts=6)
    second = write_ratings(tmp_path / "second.csv", prompts=6)
    lines = second.read_text().splitlines()
    kept = [line.replace("p0,", "q0,") for line in lines if not line.startswith("p5,")]
    second.write_text("\n".join(kept) + "\n")
    with index_of(first, second, rules=["mean", "auto:caution=high"]) as index:
        comparison = compare(index)
        assert (comparison.both, comparison.changed) == (4, 4)
        assert [entry["prompt_id"] for entry in changed_entries(index)] == ["p1", "p2", "p3", "p4"]
        assert [entry["prompt_id"] for entry in changed_entries(index, 2)] == ["p1", "p2"]
        assert lonely_prompts(index, "first") == ["p0", "p5"]
        assert lonely_prompts(index, "second") == ["q0"]
        assert (comparison.first.alone, comparison.second.alone) == (2, 1)
        entries = index.entries(Query(show="changed"), limit=10)
        old = [entry["first"] for entry in entries]
        new = [entry["second"] for entry in entries]
        assert {row["chosen"] for row in old} == {"roast"}
        assert {row["chosen"] for row in new} == {"story"}
        assert comparison.first.mean == pytest.approx(sum(row["mean"] for row in old) / 4)
        assert comparison.mean_change == pytest.approx(
            sum(row["mean"] for row in new) / 4 - sum(row["mean"] for row in old) / 4
        )
        assert comparison.first.unhappy == sum(row["unhappy"] for row in old) == 12
        assert comparison.second.unhappy == 0
        assert found(index, show="second") == ["q0"]
        assert found(index, q="q0") == ["q0"]


def test_answers_with_the_same_text_are_the_same(tmp_path: Path) -> None:
    first = write_ratings(tmp_path / "first.csv", prompts=3)
    second = write_ratings(tmp_path / "second.csv", prompts=3)
    for path in (first, second):
        write_texts(path, prompts=3)
    for path in (second, second.with_name("second.texts.jsonl")):
        text = path.read_text().replace(",roast,", ",draft 2,").replace('"roast"', '"draft 2"')
        path.write_text(text)
    with index_of(first, second, rules=["mean"]) as index:
        assert {entry["second"]["chosen"] for entry in index.entries(Query())} == {"draft 2"}
        assert compare(index).changed == 0


def test_a_source_without_decisions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("prompt_id,candidate_id,rater_id,rating\n")
    with pytest.raises(InputError), index_of(path):
        pass


def test_long_texts_are_cut_on_one_line() -> None:
    assert beginning("two\n words") == "two words"
    assert len(beginning("word " * 900)) < 300
