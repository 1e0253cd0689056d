"""`python -m darc` is `darc`."""

import sys

from darc.cli import main

sys.exit(main())
