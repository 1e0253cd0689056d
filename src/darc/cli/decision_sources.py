"""The sources that `darc view` and `darc diff` look at."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from darc.cli.choosing import rule_parameters, standards_of
from darc.cli.sources import columns_of, read_calibrations
from darc.errors import InputError
from darc.settings.view import SourcesSettings

if TYPE_CHECKING:
    from darc.viewer.source import DecisionSource

_MOST_SOURCES = 2


def open_sources(settings: SourcesSettings) -> "list[DecisionSource]":
    """Open the one or two sources that the options name.

    Raises:
        InputError: If there are more, or one cannot be used.
    """
    from darc.viewer.open_source import SourceOptions, open_source

    if len(settings.sources) > _MOST_SOURCES:
        raise InputError(f"there are {len(settings.sources)} sources", "name one or two")
    options = SourceOptions(
        parameters=rule_parameters(settings.caution),
        calibrations=read_calibrations(settings.calibration),
        standards=standards_of(settings),
        texts=settings.texts,
        columns=columns_of(settings),
        system=settings.system,
    )
    pairs = _sources_and_rules(settings)
    sources = [open_source(path, replace(options, rule=rule)) for path, rule in pairs]
    paths = {path for path, _ in pairs}
    if len(paths) > len({source.name for source in sources}):
        # Two sources of one name are told apart by where they are.
        for source, (path, _) in zip(sources, pairs, strict=True):
            source.name = str(path)
    return sources


def _sources_and_rules(settings: SourcesSettings) -> list[tuple[Path, str | None]]:
    """Each source with the rule that it is decided by."""
    sources = list(settings.sources)
    rules: list[str | None] = list(settings.rules)
    if len(rules) > _MOST_SOURCES:
        raise InputError(f"--rule is given {len(rules)} times", "give one or two rules")
    if not rules:
        rules = [None]
    if len(sources) == 1:
        sources *= len(rules)
    if len(rules) == 1:
        rules *= len(sources)
    return list(zip(sources, rules, strict=True))
