import pytest

from darc.parts.scorers.expectation import read_expectation


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
    assert read_expectation(question).count == count


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
    request = read_expectation(question)
    named = ("code", "items", "number", "transform", "creative", "harmful")
    assert {name for name in named if getattr(request, name)} == traits
