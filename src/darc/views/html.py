"""Pages from templates, every value in them escaped unless it is marked as safe."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.selection.decision import Decision
from darc.views.palette import TEMPLATES, style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment

WIDTH, SIDE, LABEL = 320, 12, 64
STEP, RADIUS, TALL = 7.0, 3.6, 5


@lru_cache
def environment(folder: Path = TEMPLATES) -> "Environment":
    """The templates of a folder, beside those that all pages share.

    `file.html` is the frame of a page that is one file without outside assets, and `parts.html`
    has macros such as `table`. An unknown name in a template is an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, folder: Path = TEMPLATES, **values: Any) -> str:
    """A template of the folder with these values; a `.css` of the same name is its own style."""
    from markupsafe import Markup

    own = (folder / name).with_suffix(".css")
    style = style_sheet(own) if own.exists() else style_sheet()
    return environment(folder).get_template(name).render(style=Markup(style), **values)


@dataclass(frozen=True)
class CandidateView:
    """A candidate as the page of a decision shows it.

    `samples` are a name, a text and one score a scorer each (None where it was never looked at);
    `rejected` are refused rewrites with the reason.
    """

    text: str
    truncated: bool
    why_not: str
    samples: Sequence[tuple[str, str, Sequence[float | None]]]
    rejected: Sequence[tuple[str, str]]


def decision_page(
    question: str,
    decision: Decision,
    candidates: Sequence[CandidateView],
    scorers: Sequence[str],
    picture: str,
    notes: Sequence[str],
) -> str:
    """One decision as a page: the answer, the picture, every candidate and rewrite.

    `picture` is an SVG element of our own making, all other text is escaped.
    """
    value = np.nan_to_num(decision.statistics.value, nan=-np.inf)
    order = sorted(range(len(candidates)), key=lambda k: (k != decision.index, -value[k]))
    return render(
        "decision.html",
        title=question,
        candidates=candidates,
        chosen=decision.index,
        explanation=decision.explain(),
        notes=notes,
        picture=picture,
        scorers=list(scorers),
        order=order,
        rows=[_row(decision, k, candidates[k]) for k in order],
        kinds=["chosen" if k == decision.index else "" for k in order],
        samples=[
            [[name, *map(_number, own), text] for name, text, own in candidate.samples]
            for candidate in candidates
        ],
    )


def _row(decision: Decision, k: int, candidate: CandidateView) -> list[str]:
    statistics = decision.statistics
    bounded = decision.bounded is not None and bool(decision.bounded[k])
    numbers = (statistics.value, statistics.mean, statistics.sigma, statistics.risk_premium)
    signs = ("≤ ", "≤ ", "≥ ", "≥ ") if bounded else ("",) * len(numbers)
    cells = [sign + _number(array[k]) for sign, array in zip(signs, numbers, strict=True)]
    count = sum(all(x is not None for x in own) for *_, own in candidate.samples)
    return [str(k), *cells, str(count), candidate.why_not or "chosen"]


def _number(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.3f}"


@dataclass(frozen=True)
class StripRow:
    """Samples under a name; `hollow` ones are drawn as open squares, others as filled dots."""

    name: str
    values: Sequence[float]
    hollow: bool = False


def strip(rows: Sequence[StripRow], low: float, high: float, label: str) -> str:
    """A small SVG element with a line of dots for each row on the scale [low, high].

    Equal samples are stacked; a bar marks each row's mean. `label` is what is read out.
    """
    scale = (WIDTH - LABEL - 2 * SIDE) / ((high - low) or 1.0)
    drawn, bottom = [], 0.0
    for row in rows:
        places = [LABEL + SIDE + scale * (value - low) for value in row.values]
        levels = _stacks(places)
        most = max(levels, default=0) + 1
        step = min(STEP, STEP * TALL / most)
        floor = bottom + 9 + step * (most - 1) + RADIUS
        dots = [(x, floor - step * level) for x, level in zip(places, levels, strict=True)]
        drawn.append((row, floor, dots))
        bottom = floor + 11
    given = {"rows": drawn, "low": low, "high": high, "label": label, "bottom": bottom}
    sizes = {"width": WIDTH, "left": LABEL, "side": 2 * RADIUS - 1}
    return environment().get_template("strip.svg").render(**given, **sizes)


def _stacks(places: Sequence[float]) -> list[int]:
    """How high each dot stands: above all earlier ones that it would cover."""
    levels: list[int] = []
    for place in places:
        stood = zip(places, levels, strict=False)
        near = {level for x, level in stood if abs(x - place) < 2 * RADIUS - 1}
        levels.append(next(each for each in range(len(levels) + 1) if each not in near))
    return levels
