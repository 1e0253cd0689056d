"""Courtesies, hedges, wordy phrases, small words and turns of speech."""

from tests.parts.rewriters.helpers import changes_of

from darc.parts.rewriters import phrasing

test_what_each_does = changes_of(phrasing)
