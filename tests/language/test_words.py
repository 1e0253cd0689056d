import numpy as np
import pytest

from darc.language.text import Text
from darc.language.words import (
    CLASSES,
    class_of,
    content_words,
    forms,
    gains,
    log_lift,
    loose_stem,
    neighbours,
    order_gain,
    stem,
    subject_words,
)


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


def test_loose_stems_join_the_forms_of_a_word() -> None:
    for family in ("run running runs", "bake baked baking", "city cities", "quick quickly"):
        assert len({loose_stem(word) for word in family.split()}) == 1, family
    assert content_words(["the", "cat", "and", "the", "cat"]) == ["cat"]
    assert subject_words(["explain", "the", "tides"]) == ["tides"]
    assert subject_words(["explain"]) == ["explain"]


PLAIN = "The baker opens the shop at six. She sells bread and rolls, and the queue is often long."


def test_word_order_is_judged_by_classes() -> None:
    assert class_of("the") == "article"
    assert class_of("quickly") == "manner"
    assert class_of("1,024") == "number"
    assert class_of("zebra") == "noun"
    assert gains().shape == (2, len(CLASSES), len(CLASSES))
    (before, after), _ = neighbours(Text(PLAIN).tokens)
    assert len(before) == len(after) == len(Text(PLAIN).tokens) + 1
    assert abs(log_lift(np.zeros(gains().shape))).max() == pytest.approx(0.0, abs=1e-12)
    shuffled = sorted(Text(PLAIN).tokens)
    assert order_gain(Text(PLAIN).tokens) > order_gain(shuffled) + 0.1
