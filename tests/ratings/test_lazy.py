import pytest

from darc.ratings.lazy import LazyMapping, LazySequence


def test_items_of_a_sequence_are_made_on_every_access() -> None:
    indices: list[int] = []

    def make_item(index: int) -> int:
        indices.append(index)
        return 10 * index

    items = LazySequence(3, make_item)
    assert (len(items), items[1], items[-1], items[1:]) == (3, 10, 20, [10, 20])
    assert indices == [1, 2, 1, 2]
    with pytest.raises(IndexError):
        items[3]


def test_values_of_a_mapping_are_made_once() -> None:
    names: list[str] = []

    def make_value(name: str) -> str:
        names.append(name)
        return name.upper()

    values = LazyMapping(["a", "b"], make_value)
    assert (values["a"], values["a"], list(values), len(values)) == ("A", "A", ["a", "b"], 2)
    assert names == ["a"]
    with pytest.raises(KeyError):
        values["c"]
