"""Loose stems and words that carry content."""

from darc.language.classes import content_words, subject_words
from darc.language.classes import loose_stem as stem


def test_stems_join_the_forms_of_a_word() -> None:
    for forms in ("run running runs", "bake baked baking", "city cities", "quick quickly"):
        assert len({stem(word) for word in forms.split()}) == 1, forms
    assert content_words(["the", "cat", "and", "the", "cat"]) == ["cat"]
    assert subject_words(["explain", "the", "tides"]) == ["tides"]
    assert subject_words(["explain"]) == ["explain"]
