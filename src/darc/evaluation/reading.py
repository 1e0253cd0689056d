"""Sources as users name them: files of ratings, run folders and audit logs."""

from pathlib import Path

from darc.evaluation.from_audit import is_audit, read_audit_log
from darc.evaluation.from_ratings import read_source
from darc.evaluation.from_run import read_run
from darc.evaluation.source import Source


def read_any(path: Path, texts: Path | None = None) -> Source:
    """A run folder, a gateway's audit log, or ratings, whose candidates' texts are in `texts`."""
    if path.is_dir():
        return read_run(path)
    return read_audit_log(path) if is_audit(path) else read_source(path, texts)
