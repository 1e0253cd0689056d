"""Where an evaluation came from: its sources, settings and versions, as HTML."""

import platform
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from darc.evaluation.evaluate import Evaluation
from darc.evaluation.frame import Frame
from darc.evaluation.report.tables import frame_table
from darc.views.page import element

PACKAGES = ("numpy", "scipy", "matplotlib")
HOW = {
    "rater": "raters split into halves",
    "sample": "each candidate's samples split into halves",
    "rewrite": "rewrites split by number into halves",
}


def about_section(result: Evaluation, release: str) -> str:
    """Sources and their splits, settings and versions; `release` is DARC's own."""
    parts = [element("h3", "Sources and splits"), frame_table(source_frame(result))]
    parts += [element("h3", "Settings"), frame_table(settings_frame(result))]
    parts += [element("h3", "Versions"), frame_table(version_frame(release))]
    return "".join(parts)


def source_frame(result: Evaluation) -> Frame:
    """One row a source: its size and how it was split."""
    studies = {study.source.name: study for study in result.studies}
    rows = []
    for source in result.sources:
        prompts, scorers, candidates, samples = source.shape
        study = studies.get(source.name)
        how = HOW.get(study.split, study.split) if study else "not split"
        times = len(study.kept) if study else 0
        kept = float(np.mean(study.kept.sum(axis=1))) if study else 0.0
        size = (prompts, scorers, candidates, samples)
        made = (source.generator or "-", source.family or "-")
        rows.append((source.name, source.kind, *size, *made, how, times, kept))
    columns = ("name", "samples_by", "prompts", "scorers", "candidates", "samples", "generator")
    more = ("rewrites", "split", "splits", "prompts_kept")
    return Frame.of("sources", "Sources and splits", (*columns, *more), rows)


def settings_frame(result: Evaluation) -> Frame:
    """The settings by name."""
    rows = [(name, _text(value)) for name, value in asdict(result.settings).items()]
    return Frame.of("settings", "Settings", ("setting", "value"), rows)


def version_frame(release: str) -> Frame:
    """The versions of what the numbers hang on."""
    rows = [("darc", release), ("python", platform.python_version())]
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return Frame.of("versions", "Versions", ("package", "version"), rows)


def _text(value: object) -> str:
    if value is None:
        return "median"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "all"
    return f"{value:g}" if isinstance(value, float) else str(value)
