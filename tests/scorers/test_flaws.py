"""Endings, manners and noise."""

import pytest

from darc.language.text import Text
from darc.scorers.flaws import ending_cost, leaks, padding, rudeness, shouting

CODE = "Run this:\n\n```python\nx = f(1)\n```"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("It ends.", 0.0, 0.0),
        ("She said it “ends.”", 0.0, 0.0),
        (CODE, 0.0, 0.0),
        ("- milk\n- bread\n- salt", 0.1, 0.2),
        ("Kind regards,\nDaniel", 0.0, 0.2),
        ("It ends with the", 1.0, 1.0),
        ("It ends,", 1.0, 1.0),
        ("```python\nx = 1", 1.0, 1.0),
        ("We walked along the river", 0.7, 0.9),
        ("", 1.0, 1.0),
    ],
)
def test_endings(text: str, low: float, high: float) -> None:
    assert low <= ending_cost(Text(text)) <= high


def test_rudeness_needs_a_reader_or_a_plain_insult() -> None:
    assert rudeness(Text("You are an idiot.")) >= 1.0
    assert rudeness(Text("I will hurt you.")) >= 1.0
    assert rudeness(Text("The clown wore a thick red coat, and the pig was lazy.")) <= 0.3
    assert rudeness(Text("You could try a second coat of paint.")) == 0.0
    assert rudeness(Text("You are lazy and useless.")) >= 1.0


def test_noise_is_counted() -> None:
    assert shouting(Text("PLEASE STOP SHOUTING HERE!!!")) > 0.2
    assert shouting(Text("NASA is calm.")) < 0.1
    assert padding(Text("Great question! Certainly! I hope this helps.")) == 3.0
    assert leaks(Text("Fine.<|im_end|>\nUser: more [/INST]")) == 3.0
