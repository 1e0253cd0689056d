"""Small words and turns of phrase."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb.transforms import Transform, grammar


@pytest.mark.parametrize(
    ("transform", "text", "changed"),
    [
        (grammar.that, "Don't forget that they sleep.", "Don't forget they sleep."),
        (grammar.that, "I think you should rest.", "I think that you should rest."),
        (grammar.relatives, "A drug that is used here.", "A drug used here."),
        (grammar.relatives, "We met Bo, which is a dog.", "We met Bo, a dog."),
        (grammar.there, "There are many things that help.", "Many things help."),
        (grammar.turns, "You can freeze soup.", "It is possible to freeze soup."),
        (grammar.turns, "It allows you to rest.", "It lets you rest."),
        (grammar.turns, "It costs about 8 euros.", "It costs around 8 euros."),
        (grammar.which, "A battery that lasts.", "A battery which lasts."),
        (grammar.small_turns, "If so, you need to rest.", "If so, you have to rest."),
        (grammar.small_turns, "It keeps moving.", "It continues moving."),
        (grammar.one_subject, "You open it, and you read it.", "You open it and read it."),
    ],
)
def test_what_each_can_do(transform: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(transform, text)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (grammar.which, "The people that are here. She said that is so."),
        (grammar.small_turns, "The tools you need to succeed."),
    ],
)
def test_what_each_leaves_alone(transform: Transform, text: str) -> None:
    assert outcomes(transform, text) == {text}
