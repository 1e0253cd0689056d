"""Sentences joined, split, reordered and linked another way."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb import sentences
from darc.perturb.transform import Transform


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
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
        (
            sentences.to_end,
            "As the planet turns, a coast rises.",
            "A coast rises as the planet turns.",
        ),
        (sentences.to_end, "Because rain is rare, we save some.", "Rain is rare, so we save some."),
        (sentences.to_end, "If you are late, call a cab.", "Call a cab if you are late."),
        (
            sentences.to_front,
            "You can park if the lot is open.",
            "If the lot is open, you can park.",
        ),
        (
            sentences.phrase_to_end,
            "On the far side it pulls less.",
            "It pulls less on the far side.",
        ),
        (sentences.time_to_front, "The lake is cold in winter.", "In winter, the lake is cold."),
        (
            sentences.results,
            "It is late, so we are tired.",
            "It is late, which is why we are tired.",
        ),
        (
            sentences.results,
            "It is late, so we are tired.",
            "It is late. As a result, we are tired.",
        ),
        (
            sentences.results,
            "The air is very cold there, which makes us cough.",
            "The air is very cold there. This makes us cough.",
        ),
        (sentences.contrasts, "It is small, but it is loud.", "Although it is small, it is loud."),
        (sentences.contrasts, "It is small, although it is loud.", "It is small, but it is loud."),
        (
            sentences.semicolons,
            "The cat is old; the dog is young.",
            "The cat is old. The dog is young.",
        ),
        (sentences.marker_last, "However, it is late.", "It is late, however."),
    ],
)
def test_what_each_can_do(change: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(change, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (sentences.split, "If it rains, and it is cold, stay."),
        (sentences.join, "When it rained. It was cold?"),
        (sentences.items, "It works by trial and error. He sat and ate."),
        (sentences.adverbs, "The people who often sing are here."),
        (sentences.to_end, "If a puppy is hungry, it cries."),
        (sentences.to_end, "Because it rains, do not go."),
        (sentences.to_end, "As a result, the bus was late."),
        (sentences.to_end, "If it rains, what do you do?"),
        (sentences.to_front, "I know when the shop is open."),
        (sentences.to_front, "Anna sings when the shop is open."),
        (sentences.phrase_to_end, "In addition, the bus was late."),
        (sentences.phrase_to_end, "In winter, relax."),
        (sentences.time_to_front, "Do not water the plants every day."),
        (sentences.results, "It is so late, so do not go."),
        (sentences.results, "We show it to them, so they can learn."),
        (sentences.contrasts, "It is not only small, but it is loud."),
    ],
)
def test_what_each_leaves_alone(change: Transform, text: str) -> None:
    assert outcomes(change, text) == {text}
