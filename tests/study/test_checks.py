from pathlib import Path

import pytest
from tests.study.making import config_for, write_checks

from darc.errors import InputError
from darc.study.checks import check_units
from darc.study.items import item_units, read_items


def test_attention_checks_are_made_from_items_and_say_what_to_do(tmp_path: Path) -> None:
    for mode in ("scalar", "pairwise"):
        config = config_for(tmp_path, 30, study={"mode": mode})
        items = item_units(config, read_items(config.items))
        checks = check_units(config, items)
        assert len(checks) >= 4
        for check in checks:
            if mode == "scalar":
                assert f"the rating {check.reference:g}," in check.first
            else:
                asked = check.second if check.reference == 1.0 else check.first
                assert "choose it" in asked
        assert checks == check_units(config, items)


def test_checks_of_a_file(tmp_path: Path) -> None:
    gold = write_checks(tmp_path, "gold", 3, pairwise=True)
    config = config_for(
        tmp_path, study={"mode": "pairwise"}, quality={"gold": str(gold), "attention": ""}
    )
    assert [unit.reference for unit in check_units(config, [])] == [0.0, 1.0, 0.0]
    gold.write_text('{"prompt": "q", "first": "a", "second": "b", "reference": 3}\n')
    with pytest.raises(InputError, match="reference"):
        check_units(config, [])
