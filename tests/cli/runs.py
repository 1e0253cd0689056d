"""Runs with the plugin's parts."""

import os
import subprocess
from unittest.mock import patch

from tests.helpers import run_command


def darc(environment: dict[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    with patch.dict(os.environ, environment):
        return run_command(*arguments)
