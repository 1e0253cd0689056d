"""The tables about an evaluation itself: sources, settings and versions."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.frame import WORDS, Frame, Record, table

PACKAGES = ("numpy", "scipy", "matplotlib")


def about_tables(evaluation: Evaluation, release: str) -> list[Frame]:
    """Make the tables about an evaluation.

    Args:
        evaluation: The evaluation.
        release: The version of DARC.

    Returns:
        The sources with their sizes and splits, the settings, and the versions of packages.
    """
    return [_source_table(evaluation), _settings_table(evaluation), _version_table(release)]


def _source_table(evaluation: Evaluation) -> Frame:
    contests = {contest.ratings.name: contest for contest in evaluation.contests}
    rows = []
    for ratings in evaluation.inputs:
        prompts, scorers, candidates, samples = ratings.shape
        row: Record = {
            "name": ratings.name,
            "samples_by": ratings.kind,
            "prompts": prompts,
            "scorers": scorers,
            "candidates": candidates,
            "samples": samples,
            "generator": ratings.generator or "-",
            "rewrites": ratings.family or "-",
            "split": "not split",
            "splits": 0,
            "prompts_kept": 0.0,
        }
        contest = contests.get(ratings.name)
        if contest is not None:
            row["split"] = WORDS["splits"][contest.split]
            row["splits"] = len(contest.usable)
            row["prompts_kept"] = float(np.mean(contest.usable.sum(axis=1)))
        rows.append(row)
    return table("sources", rows)


def _settings_table(evaluation: Evaluation) -> Frame:
    rows = [{"setting": name, "value": _setting_text(value)} for name, value in evaluation.settings]
    return table("settings", rows)


def _setting_text(value: Any) -> str:
    # The only setting that may be None is lambda, which is then found by matching medians.
    if value is None:
        return "median"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "all"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _version_table(release: str) -> Frame:
    versions = {"darc": release, "python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    rows = [{"package": name, "version": number} for name, number in versions.items()]
    return table("versions", rows)
