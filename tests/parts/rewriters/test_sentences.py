"""Sentences joined, split, reordered and linked another way."""

from tests.parts.rewriters.helpers import changes_of

from darc.parts.rewriters import sentences

test_what_each_does = changes_of(sentences)
