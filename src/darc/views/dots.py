"""The dot picture of a decision as data: one row per answer, one dot per rater or wording."""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from darc.decide.decision import Decision
from darc.decide.explanation import join_words
from darc.decide.opinions import AnswerOpinions, Opinions
from darc.typing import Array

# More names of unhappy raters than this are not written out.
MOST_NAMES = 6
# More dots than this are not drawn in one strip: each stands for several samples.
MOST_DOTS = 240
# Piles of dots do not become wider than this.
MOST_COLUMNS = 4
MOST_TICKS = 8
BEST_OF_K = "Highest average (Best-of-K)"
# Kinds of rows, which renderers give colours.
CHOSEN = "chosen"
OTHER_CHOICE = "other"

Texts = Mapping[str, str] | Sequence[str]


@dataclass(frozen=True)
class Dot:
    """One sample of an answer.

    Attributes:
        value: The rating or score.
        name: Who gave it or what it is of, empty where that is not known.
        unhappy: Whether it is a rating below the limit.
    """

    value: float
    name: str = ""
    unhappy: bool = False


@dataclass(frozen=True)
class DotStrip:
    """Dots on one axis.

    Attributes:
        dots: The samples, the lowest first.
        low: The left end of the axis.
        high: The right end of the axis.
        summary: The numbers in words, such as "average 6.4, 3 of 8 unhappy".
        mean: Where the bar of the average stands, None for no bar.
        limit: Where the line of the limit stands, None for no line.
        limit_label: What the line means, such as "unhappy below 5".
        caption: What the strip shows, where an answer has several.
    """

    dots: tuple[Dot, ...]
    low: float
    high: float
    summary: str = ""
    mean: float | None = None
    limit: float | None = None
    limit_label: str = ""
    caption: str = ""

    def share(self, value: float) -> float:
        """Where a value lies on the axis, 0 at the left end and 1 at the right end."""
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class DotRow:
    """One answer.

    Attributes:
        name: What the answer is called.
        text: What it says, empty where that is not known.
        strips: Its dots, usually one strip.
        badges: Who chooses it, such as "Chosen by auto".
        kind: `CHOSEN`, `OTHER_CHOICE` or empty.
        note: What else to know of it, such as "written 3 times".
    """

    name: str
    text: str
    strips: tuple[DotStrip, ...]
    badges: tuple[str, ...] = ()
    kind: str = ""
    note: str = ""


@dataclass(frozen=True)
class DotPicture:
    """How every answer to one prompt was rated or scored.

    Attributes:
        rows: The answers: the chosen one, what others choose, then by falling average.
        dot_label: What one dot is, such as "rating by one rater".
        unhappy_label: What an unhappy mark means, empty where there are none in this picture.
        title: What was asked, empty where that is not known.
        held: Whether none of the answers is good.
    """

    rows: tuple[DotRow, ...]
    dot_label: str
    unhappy_label: str = ""
    title: str = ""
    held: bool = False


def dot_picture(
    decision: Decision,
    texts: Texts | None = None,
    *,
    others: Sequence[Decision] = (),
    title: str = "",
    notes: Sequence[str] = (),
    sample_names: Sequence[str] | None = None,
) -> DotPicture:
    """The dot picture of a decision.

    Ratings by people on one scale are shown with who is unhappy. Scores of rewrites and of several
    scorers tell nothing of that: one dot is then one wording or sample, averaged over the scorers.

    Args:
        decision: The decision whose choice matters.
        texts: The answers' texts, by the candidates' names or in their order.
        others: Decisions by other rules on the same pool, whose choices are marked too.
        title: What was asked.
        notes: What else to know of the candidates, in their order.
        sample_names: What to call the samples of each candidate where they are not ratings.
    """
    opinions = decision.opinions
    if opinions is not None:
        strips, means, dot_label = _people(decision, opinions)
        unhappy_label = _limit_label(opinions)
    else:
        strips, means, dot_label = _scores(decision, sample_names)
        unhappy_label = ""
    badges = _badges(decision, others, _best_mean(decision, means))
    order = sorted(strips, key=lambda k: (k != decision.index, k not in badges, -means[k]))
    rows = tuple(
        DotRow(
            name=decision.labels.candidate(k),
            text=_text_of(decision, k, texts),
            strips=(strips[k],),
            badges=tuple(badges.get(k, ())),
            kind=_kind(k, decision.index, badges),
            note=notes[k] if notes else "",
        )
        for k in order
    )
    return DotPicture(
        rows=rows,
        dot_label=dot_label,
        unhappy_label=unhappy_label,
        title=title,
        held=decision.held,
    )


def incomplete_words(decision: Decision, index: int) -> str:
    """What became of a candidate without all of its samples; empty for one that has them.

    Such as "ruled out early, after 3 of 8 ratings".
    """
    if decision.bounded is None or not decision.bounded[index]:
        return ""
    noun = "scores" if decision.opinions is None else "ratings"
    known, total = _known_and_total(decision, index)
    if "unfinished" in decision.flags:
        return f"{known} of {total} {noun} so far"
    if decision.is_likely:
        return f"unlikely to win, after {known} of {total} {noun}"
    return f"ruled out early, after {known} of {total} {noun}"


def number_text(number: float, span: float = 1.0) -> str:
    """A number with as many digits as a reader needs on an axis of this span."""
    if abs(number) < 0.1 <= span / 10 or 0.1 <= abs(number) < 1:
        return f"{number:.2f}"
    if 1 <= abs(number) < 1e6:
        return f"{number:.1f}"
    return f"{number:.3g}"


def unhappy_words(answer: AnswerOpinions, known_scale: bool, *, names: bool = True) -> str:
    """How many people are unhappy with an answer, such as "3 of 8 unhappy: ann, bo and cy".

    Args:
        answer: What people think of the answer.
        known_scale: Whether "unhappy" may be said; otherwise they rate it clearly lower.
        names: Whether to name the unhappy raters where their names are known.
    """
    if not known_scale:
        if not answer.unhappy:
            return "nobody rates it clearly lower"
        verb = "rates" if answer.unhappy == 1 else "rate"
        amount = f"{answer.unhappy} of {answer.count} {verb} it clearly lower"
    elif not answer.unhappy:
        return "nobody unhappy"
    else:
        amount = f"{answer.unhappy} of {answer.count} unhappy"
    # Where all are unhappy, the names tell nothing.
    if names and answer.unhappy_raters and answer.unhappy < answer.count:
        return f"{amount}: {_some_names(answer.unhappy_raters)}"
    return amount


def stack_dots(
    places: Sequence[float], width: float, tallest: int
) -> tuple[list[float], list[int]]:
    """Where each dot stands so that none covers another.

    Piles of equal values become several dots wide where they would be too tall and there is room
    between the values.

    Args:
        places: The dots' places along the axis, rising.
        width: The width of a dot.
        tallest: How many dots a pile may be high before it becomes wider.

    Returns:
        The places along the axis and the levels, 0 on the axis.
    """
    piles = Counter(places)
    columns = _columns(piles, width, tallest)
    if columns == 1:
        return list(places), _levels(places, width)
    stood: Counter[float] = Counter()
    shifted = []
    levels = []
    for place in places:
        level, column = divmod(stood[place], columns)
        in_this_row = min(columns, piles[place] - level * columns)
        shifted.append(place + width * (column - (in_this_row - 1) / 2))
        levels.append(level)
        stood[place] += 1
    return shifted, levels


def _columns(piles: Mapping[float, int], width: float, tallest: int) -> int:
    """How many dots wide piles are."""
    distinct = sorted(piles)
    gap = min((b - a for a, b in itertools.pairwise(distinct)), default=MOST_COLUMNS * width)
    room = int(0.75 * gap / width)
    wanted = math.ceil(max(piles.values(), default=0) / tallest)
    return max(1, min(room, wanted, MOST_COLUMNS))


def _levels(places: Sequence[float], width: float) -> list[int]:
    """How high each dot stands, on the first level where it covers no other."""
    last_place: list[float] = []
    levels = []
    for place in places:
        free = (n for n, last in enumerate(last_place) if place - last >= width * (1 - 1e-9))
        level = next(free, len(last_place))
        if level == len(last_place):
            last_place.append(place)
        last_place[level] = place
        levels.append(level)
    return levels


def axis_ticks(low: float, high: float) -> list[float]:
    """Round numbers along an axis, at most `MOST_TICKS`."""
    rough = (high - low) / (MOST_TICKS - 1)
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(size * magnitude for size in (1, 2, 5, 10) if size * magnitude >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = [place * step for place in range(first, last + 1)]
    return ticks if len(ticks) > 1 else [low, high]


def make_strip(
    dots: Sequence[Dot],
    scale: tuple[float, float] | None = None,
    *,
    summary: str = "",
    mean: float | None = None,
    limit: float | None = None,
    limit_label: str = "",
    caption: str = "",
    every: int = 1,
) -> DotStrip:
    """A strip whose axis spans the scale and all dots.

    Args:
        dots: The samples, in any order.
        scale: The ends of the scale, None where it is not known.
        summary: The numbers in words.
        mean: Where the bar of the average stands, None for no bar.
        limit: Where the line of the limit stands, left out where it is off the axis.
        limit_label: What the line means.
        caption: What the strip shows, where an answer has several.
        every: How many samples one dot stands for.
    """
    values = [dot.value for dot in dots] + list(scale or ())
    low = min(values, default=0.0)
    high = max(values, default=1.0)
    if low == high:
        margin = max(0.5, abs(low) * 0.1)
        low -= margin
        high += margin
    inside = limit is not None and low <= limit <= high
    return DotStrip(
        dots=_thinned(dots, every),
        low=low,
        high=high,
        summary=summary,
        mean=mean,
        limit=limit if inside else None,
        limit_label=limit_label if inside else "",
        caption=caption,
    )


def samples_per_dot(most: int) -> int:
    """How many samples one dot stands for where the longest strip has `most` of them."""
    return max(1, math.ceil(most / MOST_DOTS))


def _thinned(dots: Sequence[Dot], every: int) -> tuple[Dot, ...]:
    """Every so many of the dots, the lowest first; the lowest of each kind is always there."""
    ordered = sorted(dots, key=lambda dot: dot.value)
    unhappy = [dot for dot in ordered if dot.unhappy]
    content = [dot for dot in ordered if not dot.unhappy]
    return (*unhappy[::every], *content[::every])


def _dot_label(noun: str, every: int) -> str:
    """What one dot stands for."""
    if every == 1:
        return f"one {noun}"
    return f"{every} {noun}s"


def _people(
    decision: Decision, opinions: Opinions
) -> tuple[dict[int, DotStrip], dict[int, float], str]:
    """A strip and the average of each answer that people rated, and what one dot is."""
    limit_label = _limit_label(opinions)
    every = samples_per_dot(max(answer.count for answer in opinions.answers))
    strips = {}
    means = {}
    for answer in opinions.answers:
        missing = incomplete_words(decision, answer.index)
        average = f"average {number_text(answer.mean, opinions.high - opinions.low)}"
        summary = missing or f"{average}, {unhappy_words(answer, opinions.known_scale)}"
        strips[answer.index] = make_strip(
            [Dot(rating.value, rating.rater, rating.unhappy) for rating in answer.ratings],
            (opinions.low, opinions.high),
            summary=summary,
            mean=None if missing else answer.mean,
            limit=opinions.limit,
            limit_label=limit_label,
            every=every,
        )
        means[answer.index] = -math.inf if missing else answer.mean
    noun = "rater" if decision.labels.sample == "sample" else decision.labels.sample
    return strips, means, _dot_label(noun, every)


def _scores(
    decision: Decision, sample_names: Sequence[str] | None
) -> tuple[dict[int, DotStrip], dict[int, float], str]:
    """A strip and the average of each answer that was scored, and what one dot is."""
    scores = _average_scores(decision)
    noun = "wording" if decision.pools.about_wording else decision.labels.sample
    names = sample_names or [f"{noun} {place}" for place in range(1, scores.shape[1] + 1)]
    present = np.flatnonzero(decision.pools.present[0] & ~np.isnan(scores).all(axis=1)).tolist()
    every = samples_per_dot(scores.shape[1])
    ends = float(np.nanmin(scores[present])), float(np.nanmax(scores[present]))
    strips = {}
    means = {}
    for k in present:
        places = np.flatnonzero(~np.isnan(scores[k])).tolist()
        dots = [Dot(float(scores[k, i]), str(names[i])) for i in places]
        mean = float(np.nanmean(scores[k]))
        missing = incomplete_words(decision, k)
        span = ends[1] - ends[0]
        lowest = number_text(min(dot.value for dot in dots), span)
        strips[k] = make_strip(
            dots,
            ends,
            summary=missing or f"average {number_text(mean, span)}, lowest {lowest}",
            mean=None if missing else mean,
            every=every,
        )
        means[k] = -math.inf if missing else mean
    scorers = decision.pools.shape[1]
    over = f", averaged over {scorers} scorers on a common scale" if scorers > 1 else ""
    return strips, means, f"score of {_dot_label(noun, every)}{over}"


def _average_scores(decision: Decision) -> Array:
    """The samples (K, n) averaged over the scorers, each on the scale that rules see."""
    samples = decision.pools.samples[0]
    if decision.unseen is not None:
        samples = np.where(decision.unseen, np.nan, samples)
    if len(samples) == 1:
        return samples[0]
    normalized = decision.pools.normalized(samples[None])[0]
    known = ~np.isnan(normalized)
    total = np.where(known, normalized, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _known_and_total(decision: Decision, index: int) -> tuple[int, int]:
    """How many samples of a candidate are known, and how many there would be."""
    seen = ~np.isnan(decision.pools.samples[0, :, index]).all(axis=0)
    if decision.unseen is None:
        return int(seen.sum()), decision.pools.shape[3]
    unseen = decision.unseen[index]
    return int((seen & ~unseen).sum()), int((seen | unseen).sum())


def _best_mean(decision: Decision, means: Mapping[int, float]) -> int:
    """The candidate with the highest average; the chosen one where it ties with others."""
    if decision.opinions is not None:
        return decision.opinions.best_mean
    eligible = [k for k in means if decision.pools.eligible[0, k]] or list(means)
    best = max(means[k] for k in eligible)
    slack = float(decision.pools.tolerance[0].max())
    leaders = [k for k in eligible if means[k] >= best - slack]
    return decision.index if decision.index in leaders else leaders[0]


def _badges(decision: Decision, others: Sequence[Decision], best_mean: int) -> dict[int, list[str]]:
    """Who chooses which candidate, in words."""
    by_mean = [each.index for each in (decision, *others) if each.rule.name == "mean"]
    badges: dict[int, list[str]] = {}
    for each in (decision, *others):
        if each.rule.name != "mean":
            badge = f"Chosen by {each.rule.name}"
            present = badges.setdefault(each.index, [])
            if badge not in present:
                present.append(badge)
    badges.setdefault(by_mean[0] if by_mean else best_mean, []).append(BEST_OF_K)
    return badges


def _kind(index: int, chosen: int, badges: Mapping[int, Sequence[str]]) -> str:
    if index == chosen:
        return CHOSEN
    return OTHER_CHOICE if index in badges else ""


def _limit_label(opinions: Opinions) -> str:
    limit = f"{opinions.limit:.3g}"
    return f"unhappy below {limit}" if opinions.known_scale else f"clearly lower: below {limit}"


def _some_names(names: Sequence[str]) -> str:
    """The names in a row, the first few where there are many."""
    if len(names) <= MOST_NAMES:
        return join_words(names)
    written = names[: MOST_NAMES - 1]
    return join_words([*written, f"{len(names) - len(written)} others"])


def _text_of(decision: Decision, index: int, texts: Texts | None) -> str:
    if texts is None:
        return ""
    if isinstance(texts, Mapping):
        return texts.get(decision.labels.candidate(index), "")
    return texts[index] if index < len(texts) else ""
