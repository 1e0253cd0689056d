"""Headings, emphasis, lists and paragraphs."""

import pytest
from tests.perturb.helpers import outcomes

from darc.perturb.transforms import Transform, markdown


@pytest.mark.parametrize(
    ("transform", "text", "changed"),
    [
        (markdown.list_markers, "- a\n- b", "* a\n* b"),
        (markdown.list_markers, "1. a\n2. b", "1) a\n2) b"),
        (markdown.to_prose, "You need:\n\n- milk\n- salt", "You need: milk; and salt."),
        (markdown.strip_emphasis, "A **bold** and *soft* word", "A bold and soft word"),
        (markdown.bold_labels, "- Cost: low\n- Time: long", "- **Cost:** low\n- **Time:** long"),
        (markdown.emphasis_marks, "A **bold** word", "A __bold__ word"),
        (markdown.stress, "It is water.", "It is **water**."),
        (markdown.stress, "It is water.", "It is *water*."),
        (markdown.to_bold, "## Why\n\nSo.", "**Why**\n\nSo."),
        (markdown.to_headings, "**Why**\n\nSo.", "## Why\n\nSo."),
        (markdown.title_case, "# how to cook rice", "# How to Cook Rice"),
        (markdown.without_headings, "# A\n\nOne.\n\n# B\n\nTwo.", "One.\n\nTwo."),
        (markdown.item_spacing, "1. a\n2. b\n3. c", "1. a\n\n2. b\n\n3. c"),
        (markdown.item_spacing, "- a\n\n- b", "- a\n- b"),
        (markdown.paragraph_breaks, "It is so.\n\nIt was so.", "It is so. It was so."),
        (
            markdown.running,
            "- The cat is old.\n- The dog is young.",
            "The cat is old. The dog is young.",
        ),
    ],
)
def test_what_each_can_do(transform: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(transform, text)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (markdown.list_markers, "The score was 3.\n\n---\n"),
        (markdown.without_headings, "# Only a title"),
    ],
)
def test_what_each_leaves_alone(transform: Transform, text: str) -> None:
    assert outcomes(transform, text) == {text}
