"""Words exchanged, contractions made and written out."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb import wording
from darc.perturb.transform import Transform


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
        (wording.contract, "You do not know; it is a dog.", "You don't know; it's a dog."),
        (wording.expand, "I don't know; they're here.", "I do not know; they are here."),
        (wording.expand, "You can't.", "You cannot."),
        (wording.synonyms, "In addition, it helps.", "Additionally, it helps."),
        (wording.synonyms, "We utilized an enormous net.", "We used a huge net."),
        (wording.plain, "He attempts to obtain numerous keys.", "He tries to get many keys."),
        (wording.synonyms, "You can improve your sleep.", "You can enhance your sleep."),
        (wording.synonyms, "This is a mistake.", "This is an error."),
    ],
)
def test_what_each_can_do(change: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(change, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (wording.expand, "Why don't you go? Isn't it late?"),
        (wording.expand, "It's been long, and the dog's tail."),
        (wording.contract, "You know how important it is to me."),
        (wording.contract, "Do you know what it is?"),
        (wording.synonyms, "Because it was, the large intestine remains of note."),
        (wording.synonyms, "The film Numerous Enormous Beverages."),
        (wording.synonyms, "The more difficult one; a large amount; the remaining air."),
        (wording.synonyms, "He works by mistake."),
    ],
)
def test_what_each_leaves_alone(change: Transform, text: str) -> None:
    assert outcomes(change, text) == {text}
