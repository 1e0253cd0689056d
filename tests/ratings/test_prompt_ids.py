from pathlib import Path

import pytest

from darc.errors import TableError
from darc.ratings.prompt_ids import read_prompt_ids


@pytest.mark.parametrize(
    "text",
    [
        "81\n81#2\n",
        "prompt_id\n81\n\n81#2\n",
        '{"prompt_id": "81", "prompt": "?"}\n{"prompt_id": "81#2"}\n',
        '{"question_id": 81}\n{"id": "81#2"}\n',
        '[81, "81#2"]',
    ],
)
def test_every_form(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ids"
    path.write_text(text)
    assert read_prompt_ids(path) == {"81", "81#2"}


@pytest.mark.parametrize("text", ["", "[true]", '{"prompt": "?"}\n', "[[1]]"])
def test_files_without_ids_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ids"
    path.write_text(text)
    with pytest.raises(TableError, match="prompt id"):
        read_prompt_ids(path)
