"""The page of one decision: the answer, why, the picture, and the numbers folded away."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.views.dots import DotPicture
from darc.views.dots_html import STYLE, dots_figure
from darc.views.html import render_page

# The numbers of a candidate, in the order of `CandidateView.numbers`.
NUMBERS = ("value", "mean", "sigma", "premium")


@dataclass(frozen=True)
class SampleView:
    """A rating, or an original or rewrite with its scores.

    Attributes:
        name: Who gave it, or which wording it is.
        text: The wording, empty for ratings.
        scores: One score per scorer, None if it was never looked at.
    """

    name: str
    text: str
    scores: Sequence[float | None]


@dataclass(frozen=True)
class CandidateView:
    """A candidate as the page shows it.

    Attributes:
        name: What the candidate is called.
        text: What it says.
        numbers: Its numbers, in the order of `NUMBERS`; None if unknown.
        outcome: "chosen", or why it was not.
        chosen: Whether it was chosen.
        truncated: Whether it was cut off at the token limit.
        samples: Its samples.
        rejected: Refused rewrites, each as the reason and the text.
        copies: How often it was written.
    """

    name: str
    text: str
    numbers: Sequence[float | None]
    outcome: str
    chosen: bool
    truncated: bool
    samples: Sequence[SampleView]
    rejected: Sequence[tuple[str, str]] = ()
    copies: int = 1

    @property
    def complete_samples(self) -> int:
        """The number of samples that every scorer has scored."""
        return sum(all(score is not None for score in sample.scores) for sample in self.samples)


@dataclass(frozen=True)
class _Table:
    header: list[str]
    rows: list[list[str]]


def decision_page(
    dots: DotPicture,
    candidates: Sequence[CandidateView],
    *,
    explanation: str,
    scorers: Sequence[str],
    plane: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Render one decision as a page that needs no other file.

    Args:
        dots: Its picture, with the question as the title.
        candidates: The candidates in the order of the page, exactly one of them chosen.
        explanation: Why the answer was chosen.
        scorers: The names of the scorers.
        plane: The plane of value and sigma as an SVG element of our own making, empty for none.
        notes: What else to say, one paragraph each.

    Returns:
        The page, in which every text is escaped.
    """
    chosen = next(candidate for candidate in candidates if candidate.chosen)
    row_classes = ["chosen" if candidate.chosen else "" for candidate in candidates]
    return render_page(
        "decision.html",
        part_styles=[STYLE],
        title=dots.title,
        held=dots.held,
        answer=chosen.text,
        explanation=explanation,
        notes=notes,
        dots=dots_figure(dots),
        plane=plane,
        numbers=_numbers_table(candidates),
        row_classes=row_classes,
        candidates=candidates,
        samples=[_sample_table(candidate, scorers) for candidate in candidates],
    )


def _numbers_table(candidates: Sequence[CandidateView]) -> _Table:
    rows = []
    for candidate in candidates:
        numbers = [_number_text(number) for number in candidate.numbers]
        samples = str(candidate.complete_samples)
        rows.append([candidate.name, *numbers, samples, candidate.outcome])
    return _Table(["answer", *NUMBERS, "samples", ""], rows)


def _sample_table(candidate: CandidateView, scorers: Sequence[str]) -> _Table:
    """A candidate's samples, with their texts if they have any."""
    header = ["", *scorers]
    with_texts = any(sample.text for sample in candidate.samples)
    if with_texts:
        header.append("text")
    rows = []
    for sample in candidate.samples:
        row = [sample.name, *(_number_text(score) for score in sample.scores)]
        if with_texts:
            row.append(sample.text)
        rows.append(row)
    return _Table(header, rows)


def _number_text(number: float | None) -> str:
    # NaN is the only number that differs from itself.
    if number is None or number != number:
        return "-"
    return f"{number:.3f}"
