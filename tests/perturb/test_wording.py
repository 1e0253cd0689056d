"""Words exchanged, contractions made and written out."""

from tests.perturb.helpers import changes_of

from darc.perturb import wording

test_what_each_does = changes_of(wording)
