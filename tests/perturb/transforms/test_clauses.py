"""Clauses and phrases moved or linked another way."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb.transforms import Transform, clauses


@pytest.mark.parametrize(
    ("transform", "text", "changed"),
    [
        (
            clauses.to_end,
            "As the planet turns, a coast rises.",
            "A coast rises as the planet turns.",
        ),
        (clauses.to_end, "Because rain is rare, we save some.", "Rain is rare, so we save some."),
        (clauses.to_end, "If you are late, call a cab.", "Call a cab if you are late."),
        (clauses.to_front, "You can park if the lot is open.", "If the lot is open, you can park."),
        (clauses.phrase_to_end, "On the far side it pulls less.", "It pulls less on the far side."),
        (clauses.time_to_front, "The lake is cold in winter.", "In winter, the lake is cold."),
        (clauses.results, "It is late, so we are tired.", "It is late, which is why we are tired."),
        (clauses.results, "It is late, so we are tired.", "It is late. As a result, we are tired."),
        (
            clauses.results,
            "The air is very cold there, which makes us cough.",
            "The air is very cold there. This makes us cough.",
        ),
        (clauses.contrasts, "It is small, but it is loud.", "Although it is small, it is loud."),
        (clauses.contrasts, "It is small, although it is loud.", "It is small, but it is loud."),
        (
            clauses.semicolons,
            "The cat is old; the dog is young.",
            "The cat is old. The dog is young.",
        ),
        (clauses.marker_last, "However, it is late.", "It is late, however."),
    ],
)
def test_what_each_can_do(transform: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(transform, text)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (clauses.to_end, "If a puppy is hungry, it cries."),
        (clauses.to_end, "Because it rains, do not go."),
        (clauses.to_end, "As a result, the bus was late."),
        (clauses.to_end, "If it rains, what do you do?"),
        (clauses.to_front, "I know when the shop is open."),
        (clauses.to_front, "Anna sings when the shop is open."),
        (clauses.phrase_to_end, "In addition, the bus was late."),
        (clauses.phrase_to_end, "In winter, relax."),
        (clauses.time_to_front, "Do not water the plants every day."),
        (clauses.results, "It is so late, so do not go."),
        (clauses.results, "We show it to them, so they can learn."),
        (clauses.contrasts, "It is not only small, but it is loud."),
    ],
)
def test_what_each_leaves_alone(transform: Transform, text: str) -> None:
    assert outcomes(transform, text) == {text}
