"""Panels as users write them on the command line or in Python."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from darc.errors import InputError
from darc.parts.scorers.panel import Panel, Rater, read_panel
from darc.parts.scorers.panel_settings import JUDGE
from darc.registry import parse_spec

# Several judges may be written in one text.
_BETWEEN_JUDGES = re.compile(r",\s*(?=judge:)")
_NOT_IN_NAMES = re.compile(r"[\s:,#|]")
_MAX_NAME_CHARACTERS = 50


@dataclass
class _PanelParts:
    judges: list[str] = field(default_factory=list)
    panel: Panel | None = None
    count: int | None = None


def parse_panel(argument: "Panel | bool | int | str | Sequence[str]") -> Panel:
    """Make a panel from what a user wrote.

    Args:
        argument: A panel; True for the panel that ships with DARC; a number of its raters; a TOML
            file; judge:MODEL@URL; or several of these. One judge grades for all raters. Several
            judges alone are one rater each. With a number or a file, the raters that name no judge
            share several judges in turn.

    Returns:
        The panel.

    Raises:
        InputError: If a text is none of these, or there are not as many raters.
    """
    if isinstance(argument, Panel):
        return argument
    parts = _read_parts(_as_texts(argument))
    if len(parts.judges) > 1 and parts.panel is None and parts.count is None:
        return Panel(raters=tuple(_raters_named_by_model(parts.judges)))
    panel = parts.panel or Panel()
    if parts.count is not None:
        panel = panel.first(parts.count)
    if len(parts.judges) == 1:
        return replace(panel, model=parts.judges[0])
    return _with_judges_in_turn(panel, parts.judges)


def _as_texts(argument: bool | int | str | Sequence[str]) -> Sequence[str]:
    if argument is True:
        return ()
    if isinstance(argument, str | int):
        return (str(argument),)
    return argument


def _read_parts(texts: Sequence[str]) -> _PanelParts:
    parts = _PanelParts()
    parts_of_texts = [part.strip() for text in texts for part in _BETWEEN_JUDGES.split(text)]
    for text in parts_of_texts:
        if text.startswith(f"{JUDGE}:"):
            parts.judges.append(text)
        elif text.isdecimal():
            parts.count = int(text)
        elif text.endswith(".toml"):
            parts.panel = read_panel(Path(text))
        elif text:
            raise InputError(
                f"{text!r} is not a panel", "write a number, FILE.toml or judge:MODEL@URL"
            )
    return parts


def _with_judges_in_turn(panel: Panel, judges: Sequence[str]) -> Panel:
    """The panel whose raters without a judge take the judges in turn."""
    if not judges:
        return panel
    raters: list[Rater] = []
    without_judge = 0
    for rater in panel.raters:
        if rater.model:
            raters.append(rater)
        else:
            raters.append(replace(rater, model=judges[without_judge % len(judges)]))
            without_judge += 1
    return replace(panel, raters=tuple(raters))


def _raters_named_by_model(judges: Sequence[str]) -> list[Rater]:
    """One rater per judge, named by its model; a second one of the same name gets a number."""
    raters: list[Rater] = []
    for number, judge in enumerate(judges, start=1):
        model = parse_spec(judge).argument.partition("@")[0]
        name = _NOT_IN_NAMES.sub("-", model)[:_MAX_NAME_CHARACTERS] or JUDGE
        if any(rater.name == name for rater in raters):
            name = f"{name}-{number}"
        raters.append(Rater(name, model=judge))
    return raters
