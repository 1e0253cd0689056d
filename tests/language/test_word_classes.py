import pytest

from darc.language.word_classes import class_of, content_words, subject_words


@pytest.mark.parametrize(
    ("token", "name"),
    [("the", "article"), ("quickly", "manner"), ("1,024", "number"), ("zebra", "noun")],
)
def test_class_of_a_token(token: str, name: str) -> None:
    assert class_of(token) == name


def test_content_words_are_distinct() -> None:
    assert content_words(["the", "cat", "and", "the", "cat"]) == ["cat"]


def test_subject_words_leave_out_what_is_to_be_done() -> None:
    assert subject_words(["explain", "the", "tides"]) == ["tides"]
    assert subject_words(["explain"]) == ["explain"]
