"""Courtesies, hedges, wordy phrases and turns of speech."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb.transforms import Transform, boilerplate


@pytest.mark.parametrize(
    ("transform", "text", "changed"),
    [
        (boilerplate.discourse_markers, "No. However, we stay.", "No. That said, we stay."),
        (boilerplate.flattery, "Great question! It rains.", "It rains."),
        (boilerplate.flattery, "That's a really good point. It rains.", "It rains."),
        (boilerplate.openers, "Sure! It rains.", "It rains."),
        (boilerplate.openers, "Here is a short summary of it:\n\nIt rains.", "It rains."),
        (boilerplate.closers, "It rains. I hope this helps! Let me know.", "It rains."),
        (boilerplate.closers, "It rains.\n\nGood luck!", "It rains."),
        (boilerplate.apologies, "I'm sorry for the delay. It rains.", "It rains."),
        (boilerplate.hedges, "I think that it rains.", "It rains."),
        (boilerplate.hedges, "It's worth noting that it rains.", "It rains."),
        (boilerplate.fillers, "It is really good.", "It is good."),
        (boilerplate.concise, "Due to the fact that it rains.", "Because it rains."),
        (boilerplate.without_markers, "Yes. In addition, it rains.", "Yes. It rains."),
    ],
)
def test_what_each_can_do(transform: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(transform, text)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (boilerplate.fillers, "It is not really good."),
        (boilerplate.closers, "Let me know."),
        (boilerplate.apologies, "I'm sorry for that, but I cannot help. It rains."),
    ],
)
def test_what_each_leaves_alone(transform: Transform, text: str) -> None:
    assert outcomes(transform, text) == {text}
