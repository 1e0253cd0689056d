"""Sentences joined, split and reordered."""

from tests.parts.rewriters.helpers import changes_of

from darc.parts.rewriters import sentences

test_what_each_does = changes_of(sentences)
