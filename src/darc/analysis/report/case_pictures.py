"""The dot picture of a case: two answers to one prompt, by the samples of both halves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.standards import PANEL_SCALE, scale_of
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.views.dots import (
    CHOSEN,
    OTHER_CHOICE,
    Dot,
    DotPicture,
    DotRow,
    DotStrip,
    count_samples_per_dot,
    make_strip,
)
from darc.views.numbers import number_text

# Strips of more scorers than this are left out.
MAX_SCORERS = 4
# Longer texts are cut.
MAX_TEXT_LENGTH = 700

Scale = tuple[float, float]


@dataclass(frozen=True)
class CaseAnswer:
    """An answer in the picture of a case."""

    #: The place of the candidate.
    candidate: int
    name: str
    text: str
    #: Who chooses it.
    badge: str


@dataclass(frozen=True, eq=False)
class HalfSamples:
    """The samples of one half, and how they are shown."""

    #: What this half does, such as "held out".
    caption: str
    #: The ratings that were split.
    ratings: Ratings
    half: Ratings
    #: The scale of each scorer if people rated, None if it is not known who is unhappy.
    scales: list[Scale | None]

    @classmethod
    def of(cls, caption: str, ratings: Ratings, half: Ratings) -> "HalfSamples":
        """The samples of a half, with the scale of each scorer.

        Args:
            caption: What this half does.
            ratings: The ratings that were split.
            half: The half.

        Returns:
            The samples of the first `MAX_SCORERS` scorers.
        """
        scorers = range(min(len(ratings.scorers), MAX_SCORERS))
        scales: list[Scale | None]
        if ratings.kind == "panel":
            scales = [PANEL_SCALE for _ in scorers]
        elif ratings.has_raters:
            scales = [scale_of(ratings.samples[:, scorer]) for scorer in scorers]
        else:
            scales = [None for _ in scorers]
        return cls(caption, ratings, half, scales)

    @property
    def noun(self) -> str:
        """What the samples are called."""
        if self.ratings.has_raters:
            return "ratings"
        return "scores"

    def limit(self, scorer: int) -> float | None:
        """The rating below which a person is unhappy, None if that is not known."""
        scale = self.scales[scorer]
        if scale is None:
            return None
        return sum(scale) / 2

    def dots(self, prompt: int, scorer: int, candidate: int) -> list[Dot]:
        """The samples of a candidate, with who gave them and who is unhappy."""
        limit = self.limit(scorer)
        values = self.half.samples[prompt, scorer, candidate]
        raters = self.half.raters[prompt, scorer, candidate]
        dots = []
        for value, rater in zip(values, raters, strict=True):
            if np.isnan(value):
                continue
            name = ""
            if rater != NOBODY:
                name = str(self.ratings.rater_names[rater])
            unhappy = limit is not None and bool(value < limit)
            dots.append(Dot(float(value), name, unhappy))
        return dots


def case_picture(
    halves: Sequence[HalfSamples], prompt: int, answers: Sequence[CaseAnswer]
) -> DotPicture:
    """Show the samples of some answers to a prompt.

    Args:
        halves: The half that selected and the half that judges.
        prompt: The place of the prompt.
        answers: The answers, the one that the rule chooses first.

    Returns:
        The picture.
    """
    candidates = [answer.candidate for answer in answers]
    rows = []
    for place, answer in enumerate(answers):
        row = DotRow(
            name=answer.name,
            text=clip_text(answer.text),
            strips=_strips(halves, prompt, answer.candidate, candidates),
            badges=(answer.badge,),
            kind=CHOSEN if place == 0 else OTHER_CHOICE,
        )
        rows.append(row)
    return DotPicture(
        rows=tuple(rows), dot_label=_dot_label(halves), unhappy_label=_unhappy_label(halves)
    )


def clip_text(text: str) -> str:
    """A text of at most `MAX_TEXT_LENGTH` characters, and how many more there are."""
    more = len(text) - MAX_TEXT_LENGTH
    if more <= 0:
        return text
    return f"{text[:MAX_TEXT_LENGTH]}… ({more} more characters)"


def _dot_label(halves: Sequence[HalfSamples]) -> str:
    with_raters = {half.ratings.has_raters for half in halves}
    if with_raters == {True}:
        return "one rater"
    if with_raters == {False}:
        return "score of one wording"
    return "one rater, or the score of one wording"


def _unhappy_label(halves: Sequence[HalfSamples]) -> str:
    """What an unhappy mark means, empty if it is not known who is unhappy."""
    limits = {half.limit(scorer) for half in halves for scorer in range(len(half.scales))}
    limits.discard(None)
    if not limits:
        return ""
    if len(limits) == 1:
        return f"unhappy below {limits.pop():.3g}"
    return "unhappy: below the middle of the scale"


def _strips(
    halves: Sequence[HalfSamples], prompt: int, candidate: int, candidates: Sequence[int]
) -> tuple[DotStrip, ...]:
    """A strip per half and scorer; halves of the same ratings share their axis."""
    strips = []
    for half in halves:
        sharing = [other for other in halves if other.ratings is half.ratings]
        for scorer, scale in enumerate(half.scales):
            dots = half.dots(prompt, scorer, candidate)
            if not dots:
                continue
            # The dots of all answers in all halves that share the axis.
            dot_lists = [
                other.dots(prompt, scorer, other_candidate)
                for other in sharing
                for other_candidate in candidates
            ]
            values = [dot.value for dot_list in dot_lists for dot in dot_list]
            low = min(values)
            high = max(values)
            strip = make_strip(
                dots,
                scale or (low, high),
                summary=_summary(dots, high - low, scale is not None),
                mean=float(np.mean([dot.value for dot in dots])),
                limit=half.limit(scorer),
                caption=f"{half.ratings.scorers[scorer]} {half.noun} {half.caption}".strip(),
                samples_per_dot=count_samples_per_dot(max(map(len, dot_lists))),
            )
            strips.append(strip)
    return tuple(strips)


def _summary(dots: Sequence[Dot], span: float, people: bool) -> str:
    average = f"average {number_text(float(np.mean([dot.value for dot in dots])), span)}"
    if not people:
        return average
    unhappy = sum(dot.unhappy for dot in dots)
    if unhappy == 0:
        return f"{average}, nobody unhappy"
    return f"{average}, {unhappy} of {len(dots)} unhappy"
