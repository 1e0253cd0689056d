from pathlib import Path

import pytest

from darc.language.data_files import DATA, any_of, read_lists, read_rows, word_set


@pytest.mark.parametrize("path", sorted(DATA.glob("*.tsv")), ids=lambda path: path.name)
def test_every_data_file_has_one_shape_and_no_row_twice(path: Path) -> None:
    rows = read_rows(path.name)
    assert len({len(row) for row in rows}) == 1
    assert len(set(map(tuple, rows))) == len(rows)
    assert all(cell == cell.strip() for row in rows for cell in row)


def test_a_list_goes_on_in_more_rows() -> None:
    light = read_lists("words.tsv")["light"].split()
    assert {"about", "yourself"} <= set(light)
    assert len(light) == len(set(light))


def test_patterns_and_sets_of_words() -> None:
    assert any_of("a lot|many", "few").findall("a lot of many, fewer few") == [
        "a lot",
        "many",
        "few",
    ]
    assert word_set("one two", "two three") == {"one", "two", "three"}
