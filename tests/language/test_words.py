import pytest

from darc.language.words import forms, stem


def test_verb_forms() -> None:
    assert forms("modify") == ("modify", "modifies", "modified", "modified", "modifying")
    assert forms("put off") == ("put off", "puts off", "put off", "put off", "putting off")
    assert forms("begin")[2:] == ("began", "begun", "beginning")


@pytest.mark.parametrize(
    "words",
    ["use uses used using", "study studies studied studying", "create created creation creating"],
)
def test_inflections_share_a_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1
