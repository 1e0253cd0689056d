from pathlib import Path

import pytest
from tests.viewer.makers import write_ratings, write_texts


@pytest.fixture
def toasts(tmp_path: Path) -> Path:
    """Ratings of twelve prompts, with texts."""
    path = write_ratings(tmp_path / "toasts.csv")
    write_texts(path)
    return path
