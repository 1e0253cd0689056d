import json
from pathlib import Path

from tests.cli.runs import darc
from tests.helpers import ECHO


def test_scores_are_kept_for_the_next_run(
    tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    arguments = ("run", "--workers", "0", "--prompts", prompts, *ECHO, "--json", "--out")
    first = json.loads(darc(environment, *arguments, tmp_path / "one").stdout)["cost"]["score"]
    second = json.loads(darc(environment, *arguments, tmp_path / "two").stdout)["cost"]["score"]
    assert first["scores"] > 0
    assert second["scores"] == 0
    assert second["kept"] == first["scores"] + first["kept"]
    told = json.loads(darc(environment, "cache", "--json").stdout)
    assert told["scores"] == first["scores"]
    darc(environment, "cache", "--clear")
    assert json.loads(darc(environment, "cache", "--json").stdout)["scores"] == 0
