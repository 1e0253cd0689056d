"""Sources as users name them: files of ratings, run folders and audit logs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from darc.evaluation.from_audit import is_audit, read_audit_log
from darc.evaluation.from_ratings import read_source
from darc.evaluation.from_run import read_run
from darc.evaluation.source import Source


def read_any(
    path: Path,
    texts: Path | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Source:
    """A run folder, a gateway's audit log, or ratings, whose candidates' texts are in `texts`.

    `columns` says what a file of ratings calls a column; `system` "none" forgets who wrote what.
    """
    if not path.is_dir() and not is_audit(path):
        return read_source(path, texts, columns=columns, system=system)
    source = read_run(path) if path.is_dir() else read_audit_log(path)
    return source if system != "none" else replace(source, systems=())
