"""`python -m darc` is `darc`."""

from darc.cli import entry

entry()
