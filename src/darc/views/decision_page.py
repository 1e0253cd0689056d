"""One decision as a self-contained page: the answer, the picture, every candidate and rewrite."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.selection.decision import Decision
from darc.views.html import render


@dataclass(frozen=True)
class CandidateView:
    """A candidate as the page shows it.

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
    """The HTML page; `picture` is an SVG element of our own making, all other text is escaped."""
    order = sorted(
        range(len(candidates)), key=lambda k: (k != decision.index, -_value(decision, k))
    )
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


def _value(decision: Decision, index: int) -> float:
    value = float(decision.statistics.value[index])
    return value if value == value else float("-inf")


def _row(decision: Decision, k: int, candidate: CandidateView) -> list[str]:
    statistics = decision.statistics
    bounded = decision.bounded is not None and bool(decision.bounded[k])
    signs = ("≤ ", "≤ ", "≥ ", "≥ ") if bounded else ("", "", "", "")
    numbers = (statistics.value, statistics.mean, statistics.sigma, statistics.risk_premium)
    cells = [sign + _number(array[k]) for sign, array in zip(signs, numbers, strict=True)]
    count = sum(all(x is not None for x in own) for *_, own in candidate.samples)
    return [str(k), *cells, str(count), candidate.why_not or "chosen"]


def _number(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.3f}"
