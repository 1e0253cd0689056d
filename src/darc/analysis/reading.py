"""Ratings as users name them: a file, a run folder or a gateway's audit log."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from darc.analysis.audit_log import is_audit_log, load_audit_log
from darc.analysis.run_ratings import load_run
from darc.ratings.load import load_table
from darc.ratings.ratings import Ratings


def load_ratings(
    path: Path,
    texts: Path | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Ratings:
    """Load a run folder, a gateway's audit log or a file of ratings.

    Args:
        path: Where it is.
        texts: The texts of the candidates of a file of ratings.
        columns: What a file of ratings calls a column.
        system: "none" leaves out which system wrote a candidate.

    Returns:
        The ratings, or the scores of a run or an audit log.
    """
    if path.is_dir():
        ratings = load_run(path)
    elif is_audit_log(path):
        ratings = load_audit_log(path)
    else:
        return load_table(path, texts, columns=columns, system=system)
    if system == "none":
        return replace(ratings, systems=())
    return ratings
