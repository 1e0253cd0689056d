"""Form: length, items, faults."""

import pytest
from tests.scorers.test_scorers import all_three, scores

from darc.language.text import Text
from darc.scorers.form import (
    ending_cost,
    expectation,
    leaks,
    length_cost,
    padding,
    rudeness,
    shouting,
    wall,
)
from darc.types import CutOff

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


def test_faults_of_form_cost() -> None:
    good = "Fold the paper once, then open it. Turn both corners to the middle, and press firmly."
    worse = [
        good + " Now get lost, you moron.",
        good.upper(),
        good[:-30],
        "<|assistant|> " + good,
        "What a great question! " + good + " Feel free to ask me more. I hope this helps!",
    ]
    first, *others = scores(all_three()[2], "How do I fold a paper plane?", good, *worse)
    assert max(others) < first - 0.05


def test_fewer_items_than_asked_for_score_lower() -> None:
    tips = ["Keep the same hours every day.", "Leave the phone outside.", "Drink less coffee."]
    listed = ["\n".join(f"{i}. {tip}" for i, tip in enumerate(tips[:n], 1)) for n in (3, 2)]
    form = all_three()[2]
    whole, short = scores(form, "Give me three tips for sleeping better.", *listed)
    prose, short_prose = scores(
        form, "Give me three tips for sleeping better.", " ".join(tips), " ".join(tips[:2])
    )
    assert short < 0.9 * whole
    assert short_prose < 0.9 * prose


def test_an_answer_cut_off_at_the_token_limit_scores_lower_wherever_it_ends() -> None:
    text = "Keep the same hours every day. Leave the phone outside the room."
    whole, cut = scores(all_three()[2], "How do I sleep better?", text, CutOff(text))
    assert cut < 0.7 * whole


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
