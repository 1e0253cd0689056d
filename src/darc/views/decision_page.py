"""The page of one decision: the answer, why, the picture, and the numbers folded away."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.decision import Decision
from darc.views.dots import DotPicture, incomplete_words
from darc.views.dots_html import STYLE, dots_figure
from darc.views.html import render

NUMBERS = ("value", "mean", "sigma", "risk_premium")


@dataclass(frozen=True)
class CandidateView:
    """A candidate as the page of a decision shows it.

    Attributes:
        text: What it says.
        truncated: Whether it was cut off at the token limit.
        why_not: Why it was not chosen, empty for the choice.
        samples: A name, a text (empty for ratings) and one score per scorer each, None where it was
            never looked at.
        rejected: Refused rewrites, each as the reason and the text.
        copies: How often it was written.
    """

    text: str
    truncated: bool
    why_not: str
    samples: Sequence[tuple[str, str, Sequence[float | None]]]
    rejected: Sequence[tuple[str, str]]
    copies: int = 1


def decision_page(
    decision: Decision,
    dots: DotPicture,
    candidates: Sequence[CandidateView],
    *,
    explanation: str,
    scorers: Sequence[str],
    plane: str = "",
    notes: Sequence[str] = (),
) -> str:
    """One decision as a page that needs no other file; every text is escaped.

    Args:
        decision: The decision.
        dots: Its picture, with the question as the title.
        candidates: What to show of each candidate, in the decision's order.
        explanation: Why the answer was chosen.
        scorers: The names of the scorers.
        plane: The value-sigma plane as an SVG element of our own making, empty for none.
        notes: What else to say, a paragraph each.
    """
    mean = np.nan_to_num(decision.statistics.mean, nan=-np.inf)

    def place(k: int) -> tuple[bool, bool, float]:
        return k != decision.index, bool(incomplete_words(decision, k)), -mean[k]

    order = sorted(range(len(candidates)), key=place)
    return render(
        "decision.html",
        styles=[STYLE],
        title=dots.title,
        held=dots.held,
        candidates=candidates,
        names=[decision.labels.candidate(k) for k in range(len(candidates))],
        chosen=decision.index,
        explanation=explanation,
        notes=notes,
        dots=dots_figure(dots),
        plane=plane,
        order=order,
        rows=[_row(decision, k, candidates[k]) for k in order],
        kinds=["chosen" if k == decision.index else "" for k in order],
        samples=[_sample_table(candidate, scorers) for candidate in candidates],
    )


def _row(decision: Decision, index: int, candidate: CandidateView) -> list[str]:
    """The numbers of a candidate; of one that was ruled out early only bounds are known."""
    numbers = [_number(getattr(decision.statistics, name)[index]) for name in NUMBERS]
    words = incomplete_words(decision, index)
    if words:
        numbers = ["-"] * len(NUMBERS)
    count = sum(all(score is not None for score in scores) for _, _, scores in candidate.samples)
    why = words or candidate.why_not or "chosen"
    return [decision.labels.candidate(index), *numbers, str(count), why]


def _sample_table(
    candidate: CandidateView, scorers: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a candidate's samples, with their texts if they have any."""
    header = ["", *scorers]
    rows = [[name, *map(_number, scores)] for name, _, scores in candidate.samples]
    texts = [text for _, text, _ in candidate.samples]
    if any(texts):
        header.append("text")
        rows = [[*row, text] for row, text in zip(rows, texts, strict=True)]
    return header, rows


def _number(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.3f}"
