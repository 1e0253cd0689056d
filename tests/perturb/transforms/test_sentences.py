"""Sentences joined, split, reordered and punctuated."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb.transforms import Transform, sentences


@pytest.mark.parametrize(
    ("transform", "text", "changed"),
    [
        (sentences.apostrophes, "It's", "It\u2019s"),
        (sentences.dashes, "a\u2014b", "a \u2013 b"),
        (sentences.serial_comma, "red, blue, and green.", "red, blue and green."),
        (sentences.serial_comma, "red, blue, pink and green.", "red, blue, pink, and green."),
        (sentences.join, "The cat sat. It was old.", "The cat sat, and it was old."),
        (sentences.join, "The cat sat. It was old.", "The cat sat; it was old."),
        (sentences.split, "The cat sat, and it was old.", "The cat sat. It was old."),
        (
            sentences.split,
            "The cat sat, but it was old.",
            "The cat sat. However, it was old.",
        ),
        (sentences.items, "We saw ships of iron and wood.", "We saw ships of wood and iron."),
        (sentences.items, "It needs flour, salt and water.", "It needs salt, flour and water."),
        (sentences.adverbs, "The bus is often late.", "Often, the bus is late."),
        (sentences.adverbs, "Usually, it is late.", "It is usually late."),
        (sentences.adverbs, "You can also ask a friend.", "You can ask a friend as well."),
        (sentences.owners, "The surface of the Earth is warm.", "The Earth's surface is warm."),
        (sentences.owners, "The Earth's surface is warm.", "The surface of the Earth is warm."),
        (
            sentences.join_plain,
            "The cat is very old. The dog is young.",
            "The cat is very old, and the dog is young.",
        ),
    ],
)
def test_what_each_can_do(transform: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(transform, text)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (sentences.split, "If it rains, and it is cold, stay."),
        (sentences.join, "When it rained. It was cold?"),
        (sentences.serial_comma, "In Paris, cats and dogs."),
        (sentences.items, "It works by trial and error. He sat and ate."),
        (sentences.adverbs, "The people who often sing are here."),
    ],
)
def test_what_each_leaves_alone(transform: Transform, text: str) -> None:
    assert outcomes(transform, text) == {text}
