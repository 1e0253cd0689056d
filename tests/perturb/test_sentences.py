"""Sentences joined, split, reordered and linked another way."""

from tests.perturb.helpers import changes_of

from darc.perturb import sentences

test_what_each_does = changes_of(sentences)
