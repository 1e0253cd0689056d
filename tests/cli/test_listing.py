import json

import pytest
from tests.cli.runs import darc


@pytest.mark.parametrize("command", ["scorers", "rewriters", "generators"])
def test_lists(command: str, environment: dict[str, str]) -> None:
    names = {"scorers": "brevity", "rewriters": "rules", "generators": "embedded"}
    rows = [json.loads(line) for line in darc(environment, command, "--json").stdout.splitlines()]
    assert names[command] in {row["name"] for row in rows}
    assert all(row["summary"] for row in rows)
    assert names[command] in darc(environment, command).stdout
    assert "transformers:" in darc(environment, command, "--help").stdout


def test_parts_that_know_english_only_say_so(environment: dict[str, str]) -> None:
    names = {"scorers": ["relevance", "fluency", "form", "harm"], "rewriters": ["rules"]}
    for command, parts in names.items():
        lines = darc(environment, command, "--json").stdout.splitlines()
        summaries = {row["name"]: row["summary"] for row in map(json.loads, lines)}
        assert [name for name in parts if "English only" not in summaries[name]] == []
