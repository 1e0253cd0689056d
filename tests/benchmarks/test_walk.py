import sys
import threading

import pytest

pytest.importorskip("starlette")

from benchmarks import walk


def test_a_walk_names_what_ran_and_nothing_that_was_only_imported() -> None:
    before = sys.getprofile()
    try:
        found = walk.walks()
        for name, modules in found.items():
            assert any(module.startswith("darc.decide.statistics.") for module in modules), name
            assert "darc.train" not in modules
        assert "darc.runs.shard" in found["darc run"]
        assert "darc.serve.service" in found["chat completion"]
        assert "darc.serve.service" not in found["darc run"]
        assert "chat completion" in walk.table(found).text()
    finally:
        threading.setprofile(None)
        sys.setprofile(before)
