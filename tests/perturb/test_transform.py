"""Headings, emphasis, lists, paragraphs and punctuation; what holds of every transform."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.perturb.helpers import TEXTS, applied, outcomes

from darc.language.text import mask
from darc.perturb import transform
from darc.perturb.phrasing import STRIPS
from darc.perturb.rules_rewriter import FORM, WORDS
from darc.perturb.transform import Draws, Transform


@pytest.mark.parametrize(
    ("change", "text", "changed"),
    [
        (transform.list_markers, "- a\n- b", "* a\n* b"),
        (transform.list_markers, "1. a\n2. b", "1) a\n2) b"),
        (transform.to_prose, "You need:\n\n- milk\n- salt", "You need: milk; and salt."),
        (transform.strip_emphasis, "A **bold** and *soft* word", "A bold and soft word"),
        (transform.bold_labels, "- Cost: low\n- Time: long", "- **Cost:** low\n- **Time:** long"),
        (transform.emphasis_marks, "A **bold** word", "A __bold__ word"),
        (transform.stress, "It is water.", "It is **water**."),
        (transform.stress, "It is water.", "It is *water*."),
        (transform.to_bold, "## Why\n\nSo.", "**Why**\n\nSo."),
        (transform.to_headings, "**Why**\n\nSo.", "## Why\n\nSo."),
        (transform.title_case, "# how to cook rice", "# How to Cook Rice"),
        (transform.without_headings, "# A\n\nOne.\n\n# B\n\nTwo.", "One.\n\nTwo."),
        (transform.item_spacing, "1. a\n2. b\n3. c", "1. a\n\n2. b\n\n3. c"),
        (transform.item_spacing, "- a\n\n- b", "- a\n- b"),
        (transform.paragraph_breaks, "It is so.\n\nIt was so.", "It is so. It was so."),
        (
            transform.running,
            "- The cat is old.\n- The dog is young.",
            "The cat is old. The dog is young.",
        ),
        (transform.apostrophes, "It's", "It\u2019s"),
        (transform.dashes, "a\u2014b", "a \u2013 b"),
        (transform.serial_comma, "red, blue, and green.", "red, blue and green."),
        (transform.serial_comma, "red, blue, pink and green.", "red, blue, pink, and green."),
    ],
)
def test_what_each_can_do(change: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(change, text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (transform.list_markers, "The score was 3.\n\n---\n"),
        (transform.without_headings, "# Only a title"),
        (transform.serial_comma, "In Paris, cats and dogs."),
    ],
)
def test_what_each_leaves_alone(change: Transform, text: str) -> None:
    assert outcomes(change, text) == {text}


EVERY = list(
    dict.fromkeys(each for tables in (WORDS, FORM) for family in tables.values() for each in family)
)


@pytest.mark.parametrize(
    "change", [*STRIPS, transform.strip_emphasis, transform.to_bold, transform.title_case]
)
def test_strips_do_nothing_the_second_time(change: Transform) -> None:
    for text in TEXTS:
        once = applied(change, text, Draws(1))
        assert applied(change, once, Draws(2)) == once


@pytest.mark.parametrize(
    ("there", "back"),
    [
        (transform.apostrophes, transform.apostrophes),
        (transform.to_bold, transform.to_headings),
        (transform.emphasis_marks, transform.emphasis_marks),
    ],
)
def test_inverses(there: Transform, back: Transform) -> None:
    text = "## Why it's so\n\nIt isn't long." if there is transform.to_bold else "It's **not** so."
    assert text in {
        applied(back, applied(there, text, Draws(0)), Draws(seed)) for seed in range(10)
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
        kept = iter(after[after.find(span) :] if span in after else "" for span in before)
        gone = [span for span, found in zip(before, kept, strict=True) if not found]
        # A courtesy may be stripped with a number or address inside it, never a changed one.
        assert not gone or change in STRIPS, (change, gone)
        assert all(span in before or span.strip() in text for span in mask(after).hidden)


@pytest.mark.parametrize("change", EVERY)
def test_transforms_are_deterministic(change: Transform) -> None:
    for text in TEXTS:
        assert applied(change, text, Draws(4)) == applied(change, text, Draws(4))


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_survived(text: str) -> None:
    for change in EVERY:
        applied(change, text, Draws(0))
