import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.makers import IDS, start
from tests.study.making import config_for

from darc.errors import InputError
from darc.study.items import item_units, read_items
from darc.study.settings import ItemSettings


def write(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_both_forms_of_json_lines_say_the_same(tmp_path: Path) -> None:
    grouped = [{"prompt_id": "p", "prompt": "Q?", "responses": {"a": "1", "b": "2"}}]
    single = [
        {"prompt_id": "p", "candidate_id": "a", "prompt": "Q?", "response": "1"},
        {"prompt_id": "p", "candidate_id": "b", "prompt": "Q?", "response": "2"},
    ]
    one = read_items(ItemSettings(jsonl=(write(tmp_path / "a.jsonl", grouped),)))
    two = read_items(ItemSettings(jsonl=(write(tmp_path / "b.jsonl", single),)))
    assert one == two
    assert one[0].responses == {"a": "1", "b": "2"}


def test_alpaca_outputs_meet_at_their_instruction(tmp_path: Path) -> None:
    names = []
    for name in ("x", "y"):
        rows = [{"instruction": "Say hi", "output": f"hi {name}", "generator": name}]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
        names.append(str(tmp_path / f"{name}.json"))
    (found,) = read_items(ItemSettings(alpaca=tuple(names)))
    assert found.responses == {"x": "hi x", "y": "hi y"}


def test_a_run_folder(tmp_path: Path) -> None:
    start(tmp_path / "run")
    found = {each.id: each for each in read_items(ItemSettings(run=(str(tmp_path / "run"),)))}
    assert list(found) == IDS
    assert set(found["bread"].responses) == {"0", "1", "2", "3"}
    assert found["bread"].responses["0"].startswith("It is about How is bread made")
    assert found["bread"].turns == (("user", "How is bread made?"),)


@pytest.mark.parametrize(
    "rows",
    [
        [{"prompt_id": "p", "prompt": "Q?"}],
        [{"prompt_id": "p", "responses": {"a": "1"}}],
        [{"prompt_id": "p", "prompt": "Q?", "responses": {"a": " "}}],
        [{"prompt_id": "p", "prompt": "Q?", "responses": {"a": "1"}}] * 2,
        [
            {"prompt_id": "p", "prompt": "Q?", "responses": {"a": "1"}},
            {"prompt_id": "p", "prompt": "R?", "responses": {"b": "1"}},
        ],
        ["text"],
    ],
)
def test_items_that_cannot_be_used_are_told(tmp_path: Path, rows: list[Any]) -> None:
    with pytest.raises(InputError):
        read_items(ItemSettings(jsonl=(write(tmp_path / "items.jsonl", rows),)))


def test_pairs_are_all_or_those_with_a_baseline(tmp_path: Path) -> None:
    for pairs, count in (("all", 3), ("b", 2)):
        config = config_for(
            tmp_path, 2, systems=("a", "b", "c"), study={"mode": "pairwise"}, items={"pairs": pairs}
        )
        assert len(item_units(config, read_items(config.items))) == 2 * count
    config = config_for(tmp_path, 2, study={"mode": "pairwise"}, items={"pairs": "zeta"})
    with pytest.raises(InputError, match="zeta"):
        item_units(config, read_items(config.items))
