"""The reference code of the specification, where DARC_SPEC names its folder."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

SPEC = Path(os.environ.get("DARC_SPEC", "no folder is named by DARC_SPEC"))


def load_reference(name: str) -> ModuleType:
    """Import one file of reference code, or skip the test."""
    path = SPEC / f"{name}.py"
    if not path.exists():
        pytest.skip(f"DARC_SPEC names no folder with {name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
