"""The walks: which modules a command or a request passes through."""

import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from benchmarks import walk

CHAT = "POST /v1/chat/completions"
SOURCE = Path(__file__).parents[2] / "src" / "darc"
REMOTE = ("darc.models.remote.", "darc.runs.on_ray")


@pytest.fixture(scope="module")
def walks() -> Iterator[dict[str, walk.Walk]]:
    before = sys.getprofile()
    try:
        yield walk.trace_all()
    finally:
        threading.setprofile(None)
        sys.setprofile(before)


def test_every_walk_decides(walks: dict[str, walk.Walk]) -> None:
    for name, found in walks.items():
        assert "decide" in found.packages, name


def test_no_walk_passes_a_package_that_it_does_not_need(walks: dict[str, walk.Walk]) -> None:
    for name, found in walks.items():
        assert "train" not in found.packages, name
        assert "study" not in found.packages, name
        assert ("serve" in found.packages) == (name == CHAT), name
        assert ("analysis" in found.packages) <= (name in ("darc eval", "darc select")), name


def test_local_commands_touch_neither_ray_nor_servers(walks: dict[str, walk.Walk]) -> None:
    for name, found in walks.items():
        if name != CHAT:
            assert not [module for module in found.modules if module.startswith(REMOTE)], name


def test_a_run_passes_its_folder(walks: dict[str, walk.Walk]) -> None:
    assert "darc.runs.shard" in walks["darc run"].modules


def test_the_page_about_the_design_names_every_package_of_a_walk(
    walks: dict[str, walk.Walk],
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `?([\w ]+?)`? \| (.+) \|$", page, re.MULTILINE))
    for name, found in walks.items():
        reasons = rows["chat completion" if name == CHAT else name]
        if "as `darc ask`" in reasons:
            reasons += rows["darc ask"]
        packages = {package for package in found.packages if (SOURCE / package).is_dir()}
        assert packages <= set(re.findall(r"`(\w+)`", reasons)), name


def test_returns_count_control_coming_back() -> None:
    found = walk.Walk(["darc.cli", "darc.decide.select"])
    found.entries.update({"cli": 2, "decide": 1})
    assert found.packages == ["cli", "decide"]
    assert found.returns == 1
