"""The guide to training, its commands run on the embedded model."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from darc.models.installed import Installed

pytestmark = pytest.mark.train

ROOT = Path(__file__).parents[2]


def test_commands_of_the_guide_to_training(installed: Installed, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    scripts = re.findall(r"^```shell\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = []
    for script in scripts:
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "DARC_CACHE": str(installed.path.parents[2])},
            capture_output=True,
            text=True,
            check=False,
            timeout=800,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
        print(done.stdout)
    shown = "".join(printed)
    assert "pairs of" in shown
    assert "AUC on" in shown
    assert "prompts by caution" in shown
    assert "cdpo: 2 steps" in shown
    assert (
        json.loads((tmp_path / "policy" / "adapter_config.json").read_text())[
            "base_model_name_or_path"
        ]
        == "embedded"
    )
    assert (tmp_path / "policy" / "training.png").is_file()
