"""Words exchanged, contractions made and written out."""

from tests.parts.rewriters.helpers import changes_of

from darc.parts.rewriters import wording

test_what_each_does = changes_of(wording)
