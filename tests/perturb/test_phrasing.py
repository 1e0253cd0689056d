"""Courtesies, hedges, wordy phrases, small words and turns of speech."""

from tests.perturb.helpers import changes_of

from darc.perturb import phrasing

test_what_each_does = changes_of(phrasing)
