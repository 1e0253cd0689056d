"""Sources as users name them: files of ratings and run folders."""

from pathlib import Path

from darc.evaluation.from_ratings import read_source
from darc.evaluation.from_run import read_run
from darc.evaluation.source import Source


def read_any(path: Path, texts: Path | None = None) -> Source:
    """A run folder or a file of ratings; `texts` holds the candidates' texts of the latter."""
    return read_run(path) if path.is_dir() else read_source(path, texts)
