"""Protected spans are hidden and come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parts.rewriters.helpers import TEXTS

from darc.language.masking import mask

PIECES = [
    "`a b`",
    "$x^2$",
    '"so it is"',
    "https://a.example/b",
    "5 km",
    "It's fine. ",
    "\n\n",
    "- x",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_masking_loses_nothing(text: str) -> None:
    masked = mask(text)
    assert all(masked.hidden)
    assert masked.restore(masked.text) == text


@pytest.mark.parametrize("text", TEXTS)
def test_texts_come_back(text: str) -> None:
    assert mask(text).restore(mask(text).text) == text


@pytest.mark.parametrize(
    ("text", "protected"),
    [
        ("Run `x = 1` now", ["`x = 1`"]),
        ("Use ``a ` b`` now", ["``a ` b``"]),
        ("A\n```py\nx = 'a'\n```\nB", ["```py\nx = 'a'\n```"]),
        ("A\n```py\nnever closed", ["```py\nnever closed"]),
        ("The sum $a + b$ is", ["$a + b$"]),
        ("\\[x\\] and \\(y\\)", ["\\[x\\]", "\\(y\\)"]),
        ("It costs $5 or $7.50 today", ["$5", "$7.50"]),
        ("He said “go on” and 'stop it' twice", ["“go on”", "'stop it'"]),
        ("don't and can't stay free", []),
        ("See https://a.b/c?d=e. Write to x@y.org!", ["https://a.b/c?d=e", "x@y.org"]),
        ("About 5 km or 20 % by 7:45 p.m.", ["5 km", "20 %", "7:45 p.m."]),
        ("On 3 March 2024 and March 5, 2025 it", ["3 March 2024", "March 5, 2025"]),
        ("> quoted line\nfree line", ["> quoted line"]),
        ("| a | b |\ntext", ["| a | b |"]),
        ("1. one\n2. two of 3", ["3"]),
        ("so y = 2x + 1 holds", ["y = 2x + 1"]),
        ("A [link](http://a.b) here", ["](http://a.b)"]),
        ("See:\n\n    x = code\n", ["    x = code\n"]),
    ],
)
def test_what_is_protected(text: str, protected: list[str]) -> None:
    assert list(mask(text).hidden) == protected


def test_private_characters_in_the_text_survive() -> None:
    text = "a \U000f0000 b `c`"
    masked = mask(text)
    assert masked.restore(masked.text) == text


def test_more_spans_than_characters() -> None:
    text = "1 a " * 70_000
    assert mask(text).restore(mask(text).text) == text
