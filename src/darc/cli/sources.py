"""Ratings and calibrations that commands read."""

from pathlib import Path
from typing import TYPE_CHECKING

from darc.cli.output import say

if TYPE_CHECKING:
    from darc.decide.model.calibration_file import Calibrations
    from darc.ratings.ratings import Ratings
    from darc.settings.ratings import ColumnSettings, SystemSettings


def columns_of(settings: "ColumnSettings") -> dict[str, str]:
    """What a file calls its columns, by our names."""
    from darc.registry import split_pairs

    return split_pairs(settings.columns, "--column")


def load_source(source: Path, settings: "SystemSettings", texts: Path | None = None) -> "Ratings":
    """Load a file of ratings, a run folder or an audit log, and say what to know of it."""
    from darc.analysis.reading import load_ratings

    ratings = load_ratings(source, texts, columns_of(settings), settings.system)
    for note in ratings.notes:
        say(f"note: {ratings.name}: {note}")
    return ratings


def read_calibrations(path: Path | None) -> "Calibrations | None":
    """Read a calibration file, and say what the user should know about it."""
    from darc.decide.model.calibration_file import as_calibrations

    calibrations = as_calibrations(path)
    if calibrations is not None:
        say_notes(calibrations)
    return calibrations


def say_notes(calibrations: "Calibrations") -> None:
    """Say on standard error what the user should know about a calibration file."""
    for note in calibrations.notes:
        say(note)
