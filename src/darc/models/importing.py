"""Importing libraries that start threads of their own."""

import importlib
import os
from typing import Any

_WAIT_POLICY = "OMP_WAIT_POLICY"


def import_with_sleeping_threads(name: str) -> Any:
    """Import a library such that its threads sleep while they wait.

    The environment variable is read once, as the library is loaded. Spinning threads slow to a
    crawl on a machine that has anything else to do.

    Args:
        name: The name of the module.

    Returns:
        The module.
    """
    policy = os.environ.get(_WAIT_POLICY)
    os.environ.setdefault(_WAIT_POLICY, "passive")
    try:
        return importlib.import_module(name)
    finally:
        if policy is None:
            del os.environ[_WAIT_POLICY]
