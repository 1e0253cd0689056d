"""Whether a rule as it is given beats Best-of-K beyond noise, in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.bootstrap import (
    LEVEL,
    average,
    interval,
    largest,
    noise_band_with_default,
    over_splits,
    resample,
    tail,
    zero_rounding,
)
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import Evaluation
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.report.contest_columns import count_prompts, mean_over_prompts
from darc.analysis.report.frame_parts import metric_name
from darc.decide.registry import DEFAULT_RULE
from darc.typing import Array, Mask

BAND = WORDS["summary"]["band"].format(level=LEVEL)
AS_GIVEN = WORDS["summary"]["as_given"]
# How many rules a sentence names.
_MAX_NAMED = 4
# With fewer prompts nothing is said.
_FEWEST_PROMPTS = 8


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a contest says on one subset of prompts: differences to Best-of-K and their noise."""

    #: The name of the ratings.
    source: str
    #: The name of the subset.
    subset: str
    #: The number of prompts.
    prompts: int
    #: The texts of the methods, (A,); the first is Best-of-K.
    methods: list[str]
    #: What is measured: the tradeoff and the CVaR over prompts.
    measures: tuple[str, str]
    #: The differences to Best-of-K, (2, A), by measure.
    delta: Array
    #: Half widths of the band of noise, (2, A); beyond noise is |delta| > margin.
    margin: Array
    #: The lower end of each difference's own interval, (2, A).
    low: Array
    #: The differences of the means, (A,).
    mean: Array

    def better(self, measure: int) -> list[int]:
        """The methods that beat Best-of-K beyond noise by a measure, best first.

        Args:
            measure: The name of the measure.
        """
        return self._beyond_noise(measure, self.delta[measure])

    def worse(self, measure: int) -> list[int]:
        """The methods that lose to Best-of-K beyond noise by a measure, worst first.

        Args:
            measure: The name of the measure.
        """
        return self._beyond_noise(measure, -self.delta[measure])

    def lucky(self, measure: int) -> list[int]:
        """The methods whose own interval lies above 0, which may be luck among so many.

        Args:
            measure: The name of the measure.
        """
        better = self.better(measure)
        above = np.flatnonzero(self.low[measure] > 0).tolist()
        return [method for method in above if method not in better]

    def _beyond_noise(self, measure: int, delta: Array) -> list[int]:
        methods = np.flatnonzero(delta > self.margin[measure]).tolist()
        return sorted(methods, key=lambda method: (-delta[method], method))


def judge(contest: Contest, subset: str, among: Mask) -> Verdict:
    """Judge the default rule alone, and all other methods by one band of noise. O(B R A P).

    Args:
        contest: The contest.
        subset: The name of the subset.
        among: The prompts of the subset, (R, P).
    """
    tradeoff = contest.tradeoff - contest.tradeoff[:, :1]
    size = np.array([[largest(contest.tradeoff)], [largest(contest.outcome)]])

    def differences(counts: Array) -> Array:
        """Differences to Best-of-K by both measures, (B, 2, A), for weights of prompts (B, P)."""
        by_tradeoff = over_splits(average(tradeoff, among, counts))
        lowest = over_splits(tail(contest.outcome, among, counts, contest.settings.tail))
        by_tail = lowest - lowest[:, :1]
        return zero_rounding(np.stack([by_tradeoff, by_tail], axis=1), size)

    observed = differences(np.ones((1, among.shape[1])))[0]
    resamples = resample(differences, contest.counts)
    prompts = round(count_prompts(among))
    default = None
    if DEFAULT_RULE in contest.methods:
        default = contest.methods.index(DEFAULT_RULE)
    return Verdict(
        source=contest.ratings.name,
        subset=subset,
        prompts=prompts,
        methods=contest.methods,
        measures=("tradeoff", contest.settings.tail_name),
        delta=observed,
        margin=noise_band_with_default(observed, resamples, size, prompts, default),
        low=interval(resamples)[0],
        mean=mean_over_prompts(contest.reward - contest.reward[:, :1], among),
    )


def verdicts(result: Evaluation) -> list[Verdict]:
    """A verdict for each contest and subset with other rules than Best-of-K and enough prompts.

    Args:
        result: The evaluation.

    Returns:
        The verdicts, in the order of the contests.
    """
    contests = [*result.contests, *(contest for _, contest in result.pairs)]
    return [
        judge(contest, subset, among)
        for contest in contests
        for subset, among in contest.subsets.items()
        if len(contest.methods) > 1 and count_prompts(among) >= _FEWEST_PROMPTS
    ]


def in_words(verdict: Verdict) -> str:
    """A verdict in words."""
    names = [metric_name(name) for name in verdict.measures]
    if np.isnan(verdict.delta[0]).all():
        names[0] = "tradeoff (unknown here)"
    lucky = _by_measure(names, [_texts(verdict, verdict.lucky(m)) for m in (0, 1)])
    worse = _by_measure(names, [_texts(verdict, verdict.worse(m)) for m in (0, 1)])
    sentences = [_wins_sentence(verdict, names)]
    if lucky:
        sentences.append(f"Taken alone, intervals above 0: {lucky}.")
    if worse:
        sentences.append(f"Worse beyond noise: {worse}.")
    return " ".join(sentences)


def _wins_sentence(verdict: Verdict, names: Sequence[str]) -> str:
    """Which rules beat Best-of-K beyond noise."""
    rules = len(verdict.methods) - 1
    where = f"{verdict.source}, {verdict.subset} ({verdict.prompts} prompts)"
    if not verdict.better(0) and not verdict.better(1):
        return (
            f"{where}: of {rules} rules as given none beats Best-of-K beyond noise, by "
            f"{names[0]} or by {names[1]}."
        )
    wins = []
    for measure, name in enumerate(names):
        winners = verdict.better(measure)
        if winners:
            gains = [_gain_words(verdict, measure, method) for method in winners]
            wins.append(f"by {name} {len(winners)} of {rules}: {_listed(gains)}")
        else:
            wins.append(f"by {name} none")
    return f"{where}: rules as given that beat Best-of-K beyond noise: {'; '.join(wins)}."


def _gain_words(verdict: Verdict, measure: int, method: int) -> str:
    gain = verdict.delta[measure, method]
    return f"{verdict.methods[method]} {gain:+.3f} (mean {verdict.mean[method]:+.3f})"


def _texts(verdict: Verdict, methods: Sequence[int]) -> list[str]:
    return [verdict.methods[method] for method in methods]


def _by_measure(names: Sequence[str], rules: Sequence[Sequence[str]]) -> str:
    """The rules named for each measure, without the measures that name none."""
    parts = [
        f"by {name} {_listed(texts)}" for name, texts in zip(names, rules, strict=True) if texts
    ]
    return "; ".join(parts)


def _listed(words: Sequence[str]) -> str:
    """The first words, and how many more there are."""
    listed = ", ".join(words[:_MAX_NAMED])
    if len(words) > _MAX_NAMED:
        listed += f" and {len(words) - _MAX_NAMED} more"
    return listed


def summary(result: Evaluation, judged: Sequence[Verdict], advice: Sequence[str] = ()) -> list[str]:
    """The sentences that come first: the advice, what the data say, and how far to trust them.

    Args:
        result: The evaluation.
        judged: Its verdicts.
        advice: Sentences that recommend a rule.

    Returns:
        The sentences, in order.
    """
    sentences = [*advice, *(in_words(verdict) for verdict in judged)]
    if not judged:
        reason = f"there are fewer than {_FEWEST_PROMPTS} prompts or no other rule"
        sentences.append(f"Whether a rule beats Best-of-K cannot be told: {reason}.")
        return sentences
    band = BAND
    if advice:
        band = f"{BAND} {AS_GIVEN}"
    sentences.append(band)
    judged_by_scorers = [
        contest.ratings.name for contest in result.contests if contest.ratings.kind != "rater"
    ]
    if judged_by_scorers:
        names = ", ".join(judged_by_scorers)
        sentences.append(f"In {names} scorers judge held-out rewrites; no person was asked.")
    return sentences + _validity_sentences(result)


def _validity_sentences(result: Evaluation) -> list[str]:
    """How well the sigma of each proxy follows that of people."""
    frame = result.frame("validity")
    if frame is None:
        return []
    sentences = []
    overall = frame.where(metric="spearman", scorer="all", items="all candidates")
    for row in overall.records():
        sentence = (
            f"The sigma of {row['source']} follows that of {row['ratings']} with a rank "
            f"correlation of {row['value']:.2f}"
        )
        low = row["low"]
        high = row["high"]
        if isinstance(low, float) and isinstance(high, float):
            sentence += f" [{low:.2f}, {high:.2f}]"
            if low <= 0:
                sentence += ", which may be none"
        sentences.append(f"{sentence} ({row['n']} candidates).")
    return sentences


def answer(judged: Sequence[Verdict]) -> str:
    """Whether any rule beats Best-of-K, in a sentence; empty where nothing can be said."""
    if not judged:
        return ""
    winners = {
        verdict.methods[method]
        for verdict in judged
        for measure in (0, 1)
        for method in verdict.better(measure)
    }
    for verdict in judged:
        for measure, name in enumerate(verdict.measures):
            methods = verdict.better(measure)
            if methods:
                others = _others_too(len(winners) - 1)
                return (
                    f"Yes: {verdict.methods[methods[0]]}{others} beats Best-of-K beyond noise, by "
                    f"{verdict.delta[measure, methods[0]]:+.3f} in {metric_name(name)} on "
                    f"{_prompts_words(verdict)}."
                )
    return "No rule beats Best-of-K beyond noise."


def _others_too(others: int) -> str:
    if others == 0:
        return ""
    if others == 1:
        return " (1 other too)"
    return f" ({others} others too)"


def _prompts_words(verdict: Verdict) -> str:
    words = {"overall": "all", "high-variance": "the most contested"}
    return f"{words.get(verdict.subset, verdict.subset)} {verdict.prompts} prompts"


def verdict_rows(judged: Sequence[Verdict]) -> list[Record]:
    """What the band of noise says of each rule: one row per verdict, measure and rule.

    Args:
        judged: The verdicts.

    Returns:
        Rows with the change against Best-of-K, the half width of the band, and whether the rule is
        "better", "worse" or "level" by it. A change that is unknown has no row.
    """
    rows: list[Record] = []
    for verdict in judged:
        for measure, name in enumerate(verdict.measures):
            better = verdict.better(measure)
            worse = verdict.worse(measure)
            for method in range(1, len(verdict.methods)):
                delta = float(verdict.delta[measure, method])
                if np.isnan(delta):
                    continue
                word = "level"
                if method in better:
                    word = "better"
                elif method in worse:
                    word = "worse"
                row: Record = {
                    "source": verdict.source,
                    "subset": verdict.subset,
                    "measure": name,
                    "method": verdict.methods[method],
                    "delta": delta,
                    "margin": float(verdict.margin[measure, method]),
                    "verdict": word,
                }
                rows.append(row)
    return rows


def wins_frame(judged: Sequence[Verdict]) -> Frame:
    """For whom Best-of-K is beaten, and by how much: one row per verdict and measure."""
    rows = []
    for verdict in judged:
        for measure, name in enumerate(verdict.measures):
            better = verdict.better(measure)
            delta = verdict.delta[measure]
            if better:
                best = better[0]
            else:
                best = 1 + int(np.where(np.isnan(delta), -np.inf, delta)[1:].argmax())
            margin = verdict.margin[measure, best]
            row: Record = {
                "source": verdict.source,
                "on": _prompts_words(verdict),
                "in": metric_name(name),
                "beaten": "yes" if better else "no",
                "best rule": verdict.methods[best],
                "delta": delta[best],
                "low_delta": delta[best] - margin,
                "high_delta": delta[best] + margin,
                "mean change": verdict.mean[best],
                "rules that beat it": len(better),
            }
            rows.append(row)
    return table("wins", rows)
