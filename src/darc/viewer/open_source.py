"""What users name as a source of decisions: a run, an audit log, ratings or a report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darc.analysis.audit_log import is_audit_log
from darc.analysis.report.page import REPORT
from darc.analysis.report.sources import read_report_sources
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.registry import DEFAULT_RULE
from darc.decide.standards import NO_STANDARDS, Standards
from darc.errors import InputError
from darc.runs.new_method import NewMethod
from darc.viewer.audit_source import AuditSource
from darc.viewer.ratings_source import RatingsSource
from darc.viewer.run_source import RunSource
from darc.viewer.source import DecisionSource


@dataclass(frozen=True)
class SourceOptions:
    """How the sources are read and decided; what is None or empty is as usual."""

    rule: str | None = None
    #: Parameters of the rule, such as its caution.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    calibrations: Calibrations | None = None
    standards: Standards = NO_STANDARDS
    #: The texts of rated answers.
    texts: Path | None = None
    #: What a file of ratings calls a column.
    columns: Mapping[str, str] = field(default_factory=dict)
    #: "none" leaves out which system wrote a candidate.
    system: str = "auto"

    @property
    def decides_again(self) -> bool:
        """Whether anything is said of how to decide."""
        return bool(
            self.rule
            or self.parameters
            or self.calibrations is not None
            or self.standards != NO_STANDARDS
        )


def open_source(path: Path, options: SourceOptions) -> DecisionSource:
    """Open a run folder, an audit log, a file of ratings or the report of an evaluation.

    Args:
        path: Where it is.
        options: How it is read and decided.

    Returns:
        The source, whose decisions are read later.

    Raises:
        InputError: If there is no such thing, or it cannot be decided so.
    """
    if not path.exists():
        raise InputError(
            f"there is no {path}", "name a run folder, an audit log, ratings or a report"
        )
    if path.is_dir() and (path / REPORT).is_file():
        path = _source_of_report(path)
    if (path / "manifest.json").is_file():
        return RunSource(path, _new_method(options))
    if is_audit_log(path):
        if options.decides_again:
            raise InputError(
                f"{path} is an audit log, which is shown as it was decided",
                "leave out --rule, --caution, --calibration and what counts as a good rating",
            )
        return AuditSource(path)
    method = Method.parse(
        options.rule or DEFAULT_RULE,
        options.parameters,
        calibrations=options.calibrations,
        standards=options.standards,
    )
    return RatingsSource(
        path, method, texts=options.texts, columns=options.columns, system=options.system
    )


def _new_method(options: SourceOptions) -> NewMethod | None:
    """How a run is decided again, None for its own decisions."""
    if not options.decides_again:
        return None
    return NewMethod(
        rule=options.rule,
        parameters=options.parameters,
        calibrations=options.calibrations,
        standards=options.standards,
    )


def _source_of_report(folder: Path) -> Path:
    """The ratings or the run that a report is about.

    Raises:
        InputError: If it is about several, or does not say.
    """
    paths = read_report_sources(folder)
    if len(paths) > 1:
        names = ", ".join(str(path) for path in paths)
        raise InputError(
            f"{folder} is the report on several sources: {names}", "name one or two of them"
        )
    return paths[0]
