"""Courtesies, hedges, wordy phrases, small words and turns of speech."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb import phrasing
from darc.perturb.transform import Transform


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
        (phrasing.discourse_markers, "No. However, we stay.", "No. That said, we stay."),
        (phrasing.flattery, "Great question! It rains.", "It rains."),
        (phrasing.flattery, "That's a really good point. It rains.", "It rains."),
        (phrasing.openers, "Sure! It rains.", "It rains."),
        (phrasing.openers, "Here is a short summary of it:\n\nIt rains.", "It rains."),
        (phrasing.closers, "It rains. I hope this helps! Let me know.", "It rains."),
        (phrasing.closers, "It rains.\n\nGood luck!", "It rains."),
        (phrasing.apologies, "I'm sorry for the delay. It rains.", "It rains."),
        (phrasing.hedges, "I think that it rains.", "It rains."),
        (phrasing.hedges, "It's worth noting that it rains.", "It rains."),
        (phrasing.fillers, "It is really good.", "It is good."),
        (phrasing.concise, "Due to the fact that it rains.", "Because it rains."),
        (phrasing.without_markers, "Yes. In addition, it rains.", "Yes. It rains."),
        (phrasing.that, "Don't forget that they sleep.", "Don't forget they sleep."),
        (phrasing.that, "I think you should rest.", "I think that you should rest."),
        (phrasing.relatives, "A drug that is used here.", "A drug used here."),
        (phrasing.relatives, "We met Bo, which is a dog.", "We met Bo, a dog."),
        (phrasing.there, "There are many things that help.", "Many things help."),
        (phrasing.turns, "You can freeze soup.", "It is possible to freeze soup."),
        (phrasing.turns, "It allows you to rest.", "It lets you rest."),
        (phrasing.turns, "It costs about 8 euros.", "It costs around 8 euros."),
        (phrasing.which, "A battery that lasts.", "A battery which lasts."),
        (phrasing.small_turns, "If so, you need to rest.", "If so, you have to rest."),
        (phrasing.small_turns, "It keeps moving.", "It continues moving."),
        (phrasing.one_subject, "You open it, and you read it.", "You open it and read it."),
    ],
)
def test_what_each_can_do(change: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(change, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (phrasing.fillers, "It is not really good."),
        (phrasing.closers, "Let me know."),
        (phrasing.apologies, "I'm sorry for that, but I cannot help. It rains."),
        (phrasing.which, "The people that are here. She said that is so."),
        (phrasing.small_turns, "The tools you need to succeed."),
    ],
)
def test_what_each_leaves_alone(change: Transform, text: str) -> None:
    assert outcomes(change, text) == {text}
