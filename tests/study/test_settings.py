import json
from pathlib import Path
from typing import Any

import pytest

from darc.errors import InputError
from darc.study.settings import read_study_file, study_settings

GROUP = {"name": "age", "question": "How old?", "choices": ["Young", "Old"]}
CHECK = {"question": "Which?", "choices": ["a", "b"], "answer": "a"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stdy": {}}, "stdy"),
        ({"study": {"rating": 5}}, "rating"),
        ({"study": {"ratings": "5"}}, "ratings"),
        ({"study": {"ratings": True}}, "ratings"),
        ({"study": {"ratings": 5, "annotators": 4}}, "annotators"),
        ({"study": {"annotators": 6, "most": 5}}, r"annotators is 6; raise study.most \(5\)"),
        ({"study": {"annotators": "some"}}, "open"),
        ({"study": {"mode": "stars"}}, "mode"),
        ({"study": {"completion_url": "javascript:x"}}, "https"),
        ({"quality": {"share": 0.9}}, "share"),
        ({"study": 5}, "section"),
        (
            {"quality": {"fast_share": float("nan")}},
            "quality.fast_share is nan; should be greater than or equal to 0",
        ),
        (
            {"quality": {"flag_chance": 2}},
            "quality.flag_chance is 2; should be less than or equal to 1",
        ),
        ({"study": {"ratings": 0}}, "study.ratings is 0; should be greater than or equal to 1"),
        ({"study": {"ratings": 2.5}}, "study.ratings is 2.5; should be a valid integer"),
        ({"texts": {"consnt": "x"}}, "texts.consnt is unknown; did you mean 'consent'"),
        ({"groups": {"name": "age"}}, "groups; should be a list"),
        ({"groups": [GROUP, GROUP]}, "groups; the name 'age' is given twice"),
        ({"groups": [{**GROUP, "name": "A B"}]}, r"groups\[0\].name is 'A B'"),
        ({"groups": [{**GROUP, "answer": "x"}]}, r"groups\[0\].answer is unknown"),
        ({"groups": [{"name": "age", "question": "?"}]}, r"groups\[0\].choices is missing"),
        ({"groups": [{**GROUP, "choices": ["x", "x"]}]}, r"groups\[0\].choices; give at least two"),
        (
            {"groups": [{**GROUP, "choices": [1, 2]}]},
            r"groups\[0\].choices\[0\] is 1; should be a valid string",
        ),
        (
            {"comprehension": [CHECK, {**CHECK, "answer": "c"}]},
            r"comprehension\[1\].answer is 'c'; write one of its choices",
        ),
        ({"comprehension": [{**CHECK, "question": " "}]}, r"comprehension\[0\].question is ' '"),
        ({"comprehension": [CHECK] * 21}, "comprehension; .*at most 20"),
    ],
)
def test_settings_that_cannot_be_are_told(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        study_settings(given)


def test_texts_come_from_files_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "rubric.md").write_text("# Be kind\n")
    (tmp_path / "study.toml").write_text(
        '[texts]\nrubric = "rubric.md"\nconsent = "Yes?"\n[items]\njsonl = "i.jsonl"\n'
    )
    config = read_study_file(tmp_path / "study.toml")
    assert config.texts.rubric == "# Be kind\n"
    assert config.texts.consent == "Yes?"
    assert (config.texts.low, config.texts.high) == ("worst", "best")
    assert config.items.jsonl == (str(tmp_path / "i.jsonl"),)
    assert study_settings(json.loads(json.dumps(config.model_dump()))) == config


def test_a_text_that_cannot_be_read_is_told_by_its_key(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[texts]\nrubric = "gone.md"\n')
    words = "texts.rubric is 'gone.md'; it cannot be read as text"
    with pytest.raises(InputError, match=words):
        read_study_file(tmp_path / "study.toml")
