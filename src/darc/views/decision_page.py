"""One decision as a self-contained page: the answer, the picture, every candidate and rewrite."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.selection.decision import Decision
from darc.views.page import element, page, table


@dataclass(frozen=True)
class Shown:
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
    candidates: Sequence[Shown],
    scorers: Sequence[str],
    picture: str,
    notes: Sequence[str],
) -> str:
    """The HTML page; `picture` is an SVG element of our own making, all other text is escaped."""
    chosen = candidates[decision.index]
    order = sorted(
        range(len(candidates)), key=lambda k: (k != decision.index, -_value(decision, k))
    )
    parts = [
        element("h1", question),
        element("p", chosen.text, kind="answer"),
        element("p", decision.explain()),
        "".join(element("p", note, kind="pale") for note in notes),
        f"<figure>{picture}</figure>" if picture else "",
        element("h2", "Candidates"),
        _overview(decision, candidates, order),
        element("h2", "Samples and scores"),
        "".join(_details(k, candidates[k], scorers, k == decision.index) for k in order),
    ]
    return page(question[:80], "\n".join(part for part in parts if part))


def _value(decision: Decision, index: int) -> float:
    value = float(decision.statistics.value[index])
    return value if value == value else float("-inf")


def _overview(decision: Decision, candidates: Sequence[Shown], order: Sequence[int]) -> str:
    statistics = decision.statistics
    rows, kinds = [], []
    for k in order:
        bounded = decision.bounded is not None and bool(decision.bounded[k])
        signs = ("≤ ", "≤ ", "≥ ", "≥ ") if bounded else ("", "", "", "")
        numbers = (statistics.value, statistics.mean, statistics.sigma, statistics.risk_premium)
        cells = [sign + _number(array[k]) for sign, array in zip(signs, numbers, strict=True)]
        count = str(sum(all(x is not None for x in own) for *_, own in candidates[k].samples))
        rows.append([str(k), *cells, count, candidates[k].why_not or "chosen"])
        kinds.append("chosen" if k == decision.index else "")
    header = ["candidate", "value", "mean", "sigma", "premium", "samples", ""]
    return table(header, rows, kinds)


def _details(index: int, shown: Shown, scorers: Sequence[str], opened: bool) -> str:
    rows = [[name, *map(_number, own), text] for name, text, own in shown.samples]
    mark = " (cut off at the token limit)" if shown.truncated else ""
    inner = table(["", *scorers, "text"], rows, [""] * len(rows))
    if shown.rejected:
        refused = [[reason, text] for reason, text in shown.rejected]
        inner += element("p", f"{len(refused)} rewrites were refused:", kind="pale")
        inner += table(["reason", "text"], refused, [""] * len(refused))
    summary = element("summary", f"candidate {index}{mark}")
    return f"<details{' open' if opened else ''}>{summary}{inner}</details>"


def _number(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.3f}"
