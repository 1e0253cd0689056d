import pytest

from darc.language.inflection import loose_stem, stem, verb_forms


def test_verb_forms() -> None:
    assert verb_forms("modify") == ("modify", "modifies", "modified", "modified", "modifying")
    assert verb_forms("put off") == ("put off", "puts off", "put off", "put off", "putting off")
    assert verb_forms("begin")[2:] == ("began", "begun", "beginning")


@pytest.mark.parametrize(
    "words",
    ["use uses used using", "study studies studied studying", "create created creation creating"],
)
def test_inflections_share_a_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "words", ["run running runs", "bake baked baking", "city cities", "quick quickly"]
)
def test_inflections_share_a_loose_stem(words: str) -> None:
    assert len({loose_stem(word) for word in words.split()}) == 1
