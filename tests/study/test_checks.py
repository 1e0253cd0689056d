from pathlib import Path

import numpy as np
import pytest
from tests.study.making import config_for, write_checks

from darc.errors import InputError
from darc.study.checks import check_units, shuffled_words
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


@pytest.mark.parametrize("mode", ["scalar", "pairwise"])
def test_nonsense_is_to_be_rated_low_and_loses(tmp_path: Path, mode: str) -> None:
    config = config_for(tmp_path, 30, study={"mode": mode}, quality={"attention": "nonsense"})
    items = item_units(config, read_items(config.items))
    real_texts = {text for item in items for text in (item.first, item.second)}
    checks = check_units(config, items)
    assert len(checks) >= 4
    for check in checks:
        texts = [check.first, check.second]
        if mode == "scalar":
            assert (check.reference, check.tolerance) == (0.0, 2.0)
            nonsense = 0
        else:
            assert check.reference in (0.0, 1.0)
            nonsense = 1 - int(check.reference)
            assert texts[1 - nonsense] in real_texts
        assert texts[nonsense] not in real_texts
        assert len(texts[nonsense].split()) >= 12
    assert checks == check_units(config, items)


def test_auto_makes_both_kinds(tmp_path: Path) -> None:
    config = config_for(tmp_path, 30, quality={"attention": "auto"})
    checks = check_units(config, item_units(config, read_items(config.items)))
    instructions = ["the rating" in check.first for check in checks]
    assert abs(2 * sum(instructions) - len(checks)) <= 1


def test_characters_are_mixed_where_there_are_no_spaces() -> None:
    text = "这是一个没有空格的答案它相当长所以不能按词语打乱顺序"
    mixed = shuffled_words([text, text], np.random.default_rng(0))
    assert len(mixed) == len(text)
    assert set(mixed) <= set(text)
    assert mixed != text


def test_checks_of_a_file(tmp_path: Path) -> None:
    gold = write_checks(tmp_path, "gold", 3, pairwise=True)
    config = config_for(
        tmp_path, study={"mode": "pairwise"}, quality={"gold": str(gold), "attention": ""}
    )
    assert [unit.reference for unit in check_units(config, [])] == [0.0, 1.0, 0.0]
    gold.write_text('{"prompt": "q", "first": "a", "second": "b", "reference": 3}\n')
    with pytest.raises(InputError, match="reference"):
        check_units(config, [])
