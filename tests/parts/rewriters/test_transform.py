"""What holds of every transform."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parts.rewriters.helpers import TEXTS, applied

from darc.language.masking import mask
from darc.parts.rewriters import layout
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.phrasing import COURTESIES
from darc.parts.rewriters.rules_rewriter import LAYOUT_TRANSFORMS, WORD_TRANSFORMS
from darc.parts.rewriters.transform import Transform

EVERY = list(
    dict.fromkeys(
        transform
        for tables in (WORD_TRANSFORMS, LAYOUT_TRANSFORMS)
        for family in tables.values()
        for transform in family
    )
)


@pytest.mark.parametrize(
    "change",
    [*COURTESIES, layout.remove_emphasis, layout.headings_to_bold, layout.title_case_headings],
)
def test_strips_do_nothing_the_second_time(change: Transform) -> None:
    for text in TEXTS:
        once = applied(change, text, Draws(1))
        assert applied(change, once, Draws(2)) == once


@pytest.mark.parametrize(
    ("forth", "back"),
    [
        (layout.toggle_apostrophes, layout.toggle_apostrophes),
        (layout.headings_to_bold, layout.bold_to_headings),
        (layout.swap_emphasis_marks, layout.swap_emphasis_marks),
    ],
)
def test_inverses(forth: Transform, back: Transform) -> None:
    text = (
        "## Why it's so\n\nIt isn't long."
        if forth is layout.headings_to_bold
        else "It's **not** so."
    )
    assert text in {
        applied(back, applied(forth, text, Draws(0)), Draws(seed)) for seed in range(10)
    }


PLANTED = st.sampled_from(
    [
        "`do not, in addition`",
        "$do not + 1$",
        '"However, it is not large. It is numerous."',
        "https://example.com/in-addition?do=not",
        "someone@example.org",
        "7:45 p.m.",
        "$1,299.50",
        "3 March 2024",
        "\n```\n- do not\n# title\n```\n",
        "\n> However, I think it is large.\n",
        "\n| do not | in addition |\n",
        "y = 2x + 1",
    ]
)
FREE = st.sampled_from(
    [
        "However, it is not large.",
        " It's **very** important, and it is red, blue, and green. ",
        "\n\n- Cost: low\n- Time: long\n\n",
        "\n\n## A title of it\n\n",
        " Great question! I think that numerous people do not utilize it \u2014 often. ",
        "\n\n1. Open it.\n2. Close it.\n\n",
        " I hope this helps! ",
        " They are here. It isn't so, but it may be. ",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(FREE, PLANTED), min_size=1, max_size=6), st.integers(0, 1000))
def test_protected_spans_are_never_touched(pairs: list[tuple[str, str]], seed: int) -> None:
    text = "".join(f"{free} {planted} " for free, planted in pairs)
    before = mask(text).hidden
    for change in EVERY:
        after = applied(change, text, Draws(seed))
        remainders = iter(after[after.find(span) :] if span in after else "" for span in before)
        gone = [span for span, remainder in zip(before, remainders, strict=True) if not remainder]
        # A courtesy may be stripped with a number or address inside it, never a changed one.
        assert not gone or change in COURTESIES, (change, gone)
        assert all(span in before or span.strip() in text for span in mask(after).hidden)


@pytest.mark.parametrize("change", EVERY)
def test_transforms_are_deterministic(change: Transform) -> None:
    for text in TEXTS:
        assert applied(change, text, Draws(4)) == applied(change, text, Draws(4))


@given(st.text(max_size=200))
@settings(max_examples=40, deadline=None)
def test_any_text_is_survived(text: str) -> None:
    for change in EVERY:
        applied(change, text, Draws(0))
