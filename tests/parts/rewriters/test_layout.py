"""Headings, emphasis, lists, paragraphs and punctuation."""

from tests.parts.rewriters.helpers import changes_of

from darc.parts.rewriters import layout

test_what_each_does = changes_of(layout)
