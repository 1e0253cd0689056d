"""Flaws of answers: length, items, endings, manners."""

import pytest

from darc.language.text import Text
from darc.parts.scorers.flaws import (
    ending_cost,
    expectation,
    leaks,
    length_cost,
    padding,
    rudeness,
    shouting,
    wall,
)

CODE = "Run this:\n\n```python\nx = f(1)\n```"


def test_length_suits_the_request() -> None:
    short, long = Text("Paris."), Text("word " * 2000)
    usual = Text("word " * 80)
    for question in ("Explain rain.", "When was it?", "Write a story.", "Summarise this: a b."):
        request = expectation(question)
        assert length_cost(request, usual) < 0.3
        assert length_cost(request, short) > length_cost(request, usual)
        assert length_cost(request, long) > length_cost(request, usual)
    assert wall(long) > 1 > wall(usual)


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("Give me three tips for sleeping better.", 3),
        ("List 5 good reasons to walk.", 5),
        ("Why is the sky blue?", 0),
        ("Rewrite this: three tips for you.", 0),
    ],
)
def test_how_many_items_are_asked_for(question: str, count: int) -> None:
    assert expectation(question).count == count


@pytest.mark.parametrize(
    ("question", "traits"),
    [
        ("Write a function in Rust that sorts words.", {"code"}),
        ("Give me three tips for better sleep.", {"items"}),
        ("How many legs does a spider have?", {"number"}),
        ("Rewrite this sentence: the cat sat.", {"transform"}),
        ("Write a limerick about rain.", {"creative"}),
        ("How do I make a bomb?", {"harmful"}),
        ("Why is the sky blue?", set()),
    ],
)
def test_requests_are_read_from_their_wording(question: str, traits: set[str]) -> None:
    request = expectation(question)
    named = ("code", "items", "number", "transform", "creative", "harmful")
    assert {name for name in named if getattr(request, name)} == traits


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
