import json
from pathlib import Path
from typing import Any

import pytest

from darc.errors import InputError
from darc.train.preferences import as_texts, read_preferences, split


def written(folder: Path, *rows: Any) -> str:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


PLAIN = {"prompt": "Why?", "chosen": "So.", "rejected": "No."}
SAID = {
    "prompt": [{"role": "user", "content": "Why?"}],
    "chosen": [{"role": "assistant", "content": "So."}],
    "rejected": [{"role": "assistant", "content": "No."}],
}


def test_texts_and_messages_are_read(tmp_path: Path) -> None:
    assert read_preferences(written(tmp_path, {**PLAIN, "other": 1})) == [PLAIN]
    assert read_preferences(written(tmp_path, {**SAID, "margin": 2.0})) == [SAID]
    whole = {key: SAID["prompt"] + SAID[key] for key in ("chosen", "rejected")}
    assert read_preferences(written(tmp_path, whole)) == [whole]


def test_parquet_is_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist([SAID, SAID]), tmp_path / "pairs.parquet")
    assert read_preferences(str(tmp_path / "pairs.parquet")) == [SAID, SAID]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"prompt": "Why?", "chosen": "So."}, "no chosen and rejected"),
        ({**PLAIN, "prompt": SAID["prompt"]}, "mixed"),
        ({**PLAIN, "chosen": ""}, "empty"),
        ({**PLAIN, "probability": 1.5}, "probability"),
        ({**SAID, "chosen": [{"role": "assistant"}]}, "no content"),
        ("text", "no chosen and rejected"),
    ],
)
def test_refusals_name_the_pair(tmp_path: Path, row: Any, said: str) -> None:
    with pytest.raises(InputError, match=rf"pair 1: .*{said}"):
        read_preferences(written(tmp_path, row))


def test_absent_files_are_refused() -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_preferences("nothing here")


def test_a_prompt_stays_on_one_side() -> None:
    rows = [{**PLAIN, "prompt": f"{i // 3}"} for i in range(300)]
    kept, apart = split(rows, 0.2, 7)
    assert not {row["prompt"] for row in kept} & {row["prompt"] for row in apart}
    assert 30 < len(apart) < 90
    assert split(rows, 0.2, 7) == (kept, apart)
    assert split(rows, 0.0, 7) == (rows, [])
    with pytest.raises(InputError, match="empty"):
        split(rows[:1], 0.5, 7)


def test_messages_become_texts() -> None:
    assert as_texts(SAID) == {"prompt": "Why?\n\n", "chosen": "So.", "rejected": "No."}
    assert as_texts(PLAIN) == PLAIN
