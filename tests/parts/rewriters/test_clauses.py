"""Clauses and phrases moved, and clauses linked another way."""

from tests.parts.rewriters.helpers import changes_of

from darc.parts.rewriters import clauses

test_what_each_does = changes_of(clauses)
