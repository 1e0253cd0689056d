import textwrap
from pathlib import Path

import pytest
from tests.runs.makers import start

from benchmarks import cost

PAGE = Path(__file__).parents[2] / "docs" / "run.md"


def test_the_page_shows_what_the_command_prints() -> None:
    printed = cost.table(cost.Plan()).text().rstrip()
    assert textwrap.indent(printed, "    ") in PAGE.read_text(encoding="utf-8")


def test_lazy_costs_less_of_the_scorer_and_as_much_of_the_writer() -> None:
    plan = cost.Plan()
    assert plan.scores(True) < plan.scores(False) / 2
    assert plan.scoring(True) < plan.scoring(False)
    assert plan.size("decisions", False) < plan.size("scores", False) < plan.size("all", False)


def test_bytes_of_a_run_are_those_on_the_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = start(tmp_path / "run", shard_size=2)
    cost.main(["--folder", str(folder.path)])
    lines = dict(line.split() for line in capsys.readouterr().out.splitlines()[4:])
    files = [path for path in (folder.path / "shards").rglob("*") if path.is_file()]
    assert int(lines["all"]) == round(sum(path.stat().st_size for path in files) / 5)
    with pytest.raises(SystemExit):
        cost.main(["--folder", str(tmp_path / "none")])
