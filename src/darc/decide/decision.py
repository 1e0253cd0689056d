"""Decisions: an index for each prompt, and everything that is needed to explain it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from darc.decide.choice import Choice
from darc.decide.flags import flags_in_words, held_sentence
from darc.decide.held import is_held
from darc.decide.ids import UNKNOWN
from darc.decide.model.calibration import Calibration
from darc.decide.opinions import Opinions
from darc.decide.pools import Pools
from darc.decide.rule import Rule
from darc.decide.statistics.summary import cut
from darc.errors import InputError
from darc.types import Certificate, Flip, Statistics
from darc.typing import Array, Integers, Mask

if TYPE_CHECKING:
    from darc.decide.evidence.how_sure import HowSure
    from darc.views.chart import ShownFigure

_SHOWN_STATISTICS = ("value", "mean", "sigma", "risk_premium")


@dataclass(frozen=True)
class Labels:
    """What to call candidates, scorers and samples in words."""

    #: The names of the candidates.
    candidates: Sequence[str] | None = None
    #: The noun for one sample.
    sample: str = "sample"
    #: The names of the scorers.
    scorers: Sequence[str] | None = None
    #: Who gave the first, second, ... sample of every candidate, where that is known.
    raters: Sequence[str] | None = None

    def candidate(self, index: int) -> str:
        """The candidate's own name, or "candidate 3"."""
        if self.candidates is None:
            return f"candidate {index}"
        return str(self.candidates[index])

    def scorer(self, index: int) -> str:
        """The scorer's own name, or "scorer 1"."""
        if self.scorers is None:
            return f"scorer {index}"
        return str(self.scorers[index])


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """One prompt's choice among K candidates."""

    #: The chosen candidate.
    index: int
    rule: Rule
    #: What the candidates were compared by, (K,) each.
    statistics: Statistics
    #: The candidates that the rule chose from, (K,).
    feasible: Mask
    #: What to know about the choice; `darc.decide.flags` has the flags in words.
    flags: tuple[str, ...]
    #: The rule's choice, as a batch of one prompt.
    choice: Choice
    #: The samples and options, as a batch of one prompt.
    pools: Pools
    labels: Labels = field(default_factory=Labels)
    #: How many samples a lazy search asked for, None if all samples were given.
    calls: int | None = None
    #: The candidates that a lazy search gave up early, (K,). Their statistics are not known: they
    #: are bounds or, where the flags say `likely` or `unfinished`, those of what was seen.
    bounded: Mask | None = None
    #: The samples that a lazy search never asked for, (K, n).
    unseen: Mask | None = None
    #: The ratings as the raters gave them, (K, n), where the rule saw others; None otherwise.
    grades: Array | None = None

    def __repr__(self) -> str:
        name = ""
        if self.labels.candidates is not None:
            name = f"name={self.name!r}, "
        return f"Decision(index={self.index}, {name}rule={self.rule.name!r}, flags={self.flags})"

    @property
    def names(self) -> list[str]:
        """The names of the candidates, (K,)."""
        return [self.labels.candidate(index) for index in range(len(self.feasible))]

    @property
    def name(self) -> str:
        """The name of the chosen candidate."""
        return self.labels.candidate(self.index)

    def to_frame(self) -> Any:
        """Make a data frame of pandas with one row per candidate.

        Returns:
            The frame, with the columns name, chosen, mean, sigma, value, risk_premium, samples
            and feasible.

        Raises:
            InputError: If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError("a data frame needs pandas", "pip install pandas") from None
        rows = []
        for candidate in self.to_dict()["candidates"]:
            index = candidate.pop("index")
            candidate.pop("id")
            name = self.labels.candidate(index)
            rows.append({"name": name, "chosen": index == self.index, **candidate})
        return pd.DataFrame(rows)

    @property
    def partly(self) -> bool:
        """Whether some candidates were ruled out early, so that their ranks are not known."""
        return self.bounded is not None and bool(self.bounded.any())

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the decision, the rule's own and beta, gamma and normalisation."""
        normalize = self.pools.normalize
        if normalize is None:
            several_scorers = self.pools.shape[1] > 1
            normalize = "prompt" if several_scorers else "none"
        elif not isinstance(normalize, str):
            normalize = "fixed"
        return {
            **self.rule.parameters,
            "beta": self.pools.beta,
            "gamma": self.pools.gamma,
            "normalize": normalize,
        }

    @property
    def held(self) -> bool:
        """Whether the answer should be held back: none is good, or it is not sure enough."""
        return "held" in self.flags

    @property
    def held_sentence(self) -> str:
        """Why the answer should be held back; empty where it should not."""
        return held_sentence(self.flags)

    @property
    def is_likely(self) -> bool:
        """Whether the choice is only very probably final, since not every rating was asked for."""
        return any(flag.startswith("likely:") for flag in self.flags)

    @property
    def ratings(self) -> Array:
        """The samples of the first scorer as they were given, (K, n), NaN where there is none."""
        samples = self.pools.samples[0, 0]
        if self.grades is not None:
            samples = self.grades
        if self.unseen is None:
            return samples
        return np.where(self.unseen, np.nan, samples)

    def rater_name(self, candidate: int, place: int) -> str:
        """Who gave a sample of a candidate, empty where that is not known.

        Args:
            candidate: The place of the candidate.
            place: The place of the sample among those of the candidate.
        """
        if self.pools.raters is not None:
            code = int(self.pools.raters.codes[0, candidate, place])
            return "" if code == UNKNOWN else self.pools.raters.names[code]
        if self.labels.raters is None:
            return ""
        return str(self.labels.raters[place])

    @cached_property
    def opinions(self) -> Opinions | None:
        """What people think of the answers; None for scores of rewrites or of several scorers."""
        from darc.decide.collect_opinions import collect_opinions

        return collect_opinions(self)

    @cached_property
    def how_sure(self) -> "HowSure | None":
        """How sure the choice is; None where ratings do not tell."""
        from darc.decide.evidence.how_sure import how_sure

        return how_sure(self)

    @property
    def group_means(self) -> dict[str, dict[str, float]]:
        """What each group of raters is expected to think, by candidate and group.

        Empty unless the choice was made by the rule `for_groups`.
        """
        facts = self.choice.facts
        if "group_means" not in facts:
            return {}
        names = [str(name) for name in facts["group_names"][0]]
        return {
            self.labels.candidate(place): dict(
                zip(names, facts["group_means"][0, place].tolist(), strict=True)
            )
            for place in np.flatnonzero(self.pools.present[0]).tolist()
        }

    @property
    def sure_sentence(self) -> str:
        """How sure the choice is, and what its mean is expected to be; empty if not known."""
        sure = self.how_sure
        if sure is None:
            return ""
        return sure.sentence(self.name)

    def explain(self, details: bool = False) -> str:
        """Why this candidate, in words about people.

        Args:
            details: Add the numbers that the rule compared: ranks, value, sigma and premium.
        """
        from darc.decide.explanation import explain
        from darc.decide.number_words import numbers_in_words
        from darc.decide.trade_off_words import trade_off_in_words

        sentences = [explain(self)]
        sentences += [f"{words[0].upper()}{words[1:]}." for words in flags_in_words(self.flags)]
        if details:
            sentences.append(f"In numbers: {numbers_in_words(self)}.")
            trade_off = trade_off_in_words(self)
            if trade_off:
                sentences.append(f"As a trade-off: {trade_off}.")
            if self.how_sure is not None:
                words = self.how_sure.in_words()
                sentences.append(f"{words[0].upper()}{words[1:]}.")
        return " ".join(sentences)

    def plot(
        self,
        path: str | Path | None = None,
        texts: Mapping[str, str] | Sequence[str] | None = None,
    ) -> "ShownFigure":
        """Draw how every answer was rated or scored, one dot per rater or wording.

        Args:
            path: Where to save the picture (.png, .svg or .pdf), None for nowhere.
            texts: The answers' texts, by the candidates' names or in their order.

        Returns:
            The picture, which a notebook shows; its `figure` is matplotlib's own.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        from darc.decide.pictures import dot_picture
        from darc.views import ShownFigure, draw_ratings

        figure = draw_ratings(dot_picture(self, texts))
        notebook_figure = ShownFigure(figure, "decision")
        if path is not None:
            notebook_figure.save(path)
        return notebook_figure

    def _repr_html_(self) -> str:
        """Why this candidate, and how every answer was rated, for a notebook."""
        from darc.decide.pictures import dot_picture
        from darc.views.dots_html import notebook_html

        explanation = self.without_flag("held", "below_promise").explain()
        return notebook_html(
            dot_picture(self), answer="", explanation=explanation, rows=[], sure=self.sure_sentence
        )

    def without_flag(self, *names: str) -> "Decision":
        """The same decision without some of its flags.

        Args:
            *names: The flags to leave out.
        """
        return replace(self, flags=tuple(flag for flag in self.flags if flag not in names))

    def certificate(self, bounds: ArrayLike | None = None, delta: float = 0.05) -> Certificate:
        """What is certain of the choice.

        Args:
            bounds: The scale's ends (a, b), or one pair per scorer. With them the certificate has
                a lower bound of the chosen candidate's mean. There is none for rewrites and for a
                panel of judges, which are not independent raters.
            delta: The probability with which the lower bound may fail.
        """
        from darc.decide.certificate import certificate

        return certificate(self, bounds, delta)

    def flip(self, bounds: ArrayLike | None = None) -> Flip | None:
        """Find the smallest change of one sample that changes the choice.

        Every sample is searched in both directions, at the cost of some 60 batched decisions over
        2 M K n pools.

        Args:
            bounds: Where samples may move. By default within three spans of the scores.

        Returns:
            The change, or None if no change of one sample does it.
        """
        from darc.decide.flip import flip

        return flip(self, bounds)

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data, ready for JSON (NaN becomes None).

        Candidates that a lazy search ruled out early have no statistics: only bounds are known.
        """
        opinions = self.opinions
        data = {
            "rule": self.rule.name,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "index": self.index,
            "candidate": self.labels.candidate(self.index),
            "flags": list(self.flags),
            "explanation": self.explain(),
            "people": None if opinions is None else opinions.to_dict(),
            "certainty": None if self.how_sure is None else self.how_sure.to_dict(),
            "candidates": [
                self._candidate_dict(candidate)
                for candidate in np.flatnonzero(self.pools.present[0]).tolist()
            ],
        }
        if self.group_means:
            data["groups"] = self.group_means
        if self.calls is not None:
            data["calls"] = self.calls
        return data

    def _candidate_dict(self, candidate: int) -> dict[str, Any]:
        """One candidate as plain data."""
        labels = self.labels.candidates
        data: dict[str, Any] = {"index": candidate, "id": None}
        if labels is not None:
            data["id"] = str(labels[candidate])
        for name in _SHOWN_STATISTICS:
            data[name] = _plain(self._known_statistic(name, candidate))
        data["samples"] = self._count_seen(candidate)
        data["feasible"] = bool(self.feasible[candidate])
        if self.bounded is not None:
            data["bounded"] = bool(self.bounded[candidate])
        return data

    def _known_statistic(self, name: str, candidate: int) -> float:
        """A statistic of a candidate, NaN where only a bound of it is known."""
        if self.bounded is not None and self.bounded[candidate]:
            return float("nan")
        return float(getattr(self.statistics, name)[candidate])

    def _count_seen(self, candidate: int) -> int:
        """How many samples of a candidate were seen."""
        count = int(self.statistics.count[candidate])
        if self.bounded is None or self.unseen is None or not self.bounded[candidate]:
            return count
        missing = np.isnan(self.pools.samples[0]).any(axis=0)
        return int((~missing[candidate] & ~self.unseen[candidate]).sum())


def _plain(value: Any) -> Any:
    """A value that JSON can hold: NaN becomes None, an infinity a text."""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        if np.isinf(value):
            return str(value)
        return float(value)
    if isinstance(value, Calibration):
        return value.name
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """The choices for P prompts: arrays at once, a `Decision` by index or iteration."""

    rule: Rule
    #: The samples and options.
    pools: Pools
    #: The rule's choices.
    choice: Choice
    #: The names of each prompt's candidates.
    candidate_ids: Sequence[Sequence[str]] | None = None

    def __repr__(self) -> str:
        return f"Decisions({len(self)} prompts, rule={self.rule.name!r})"

    @property
    def index(self) -> Integers:
        """The chosen candidate of each prompt, (P,)."""
        return self.choice.index

    @property
    def statistics(self) -> Statistics:
        """The statistics of all candidates, (P, K)."""
        return self.pools.statistics

    @property
    def feasible(self) -> Mask:
        """The sets chosen from, (P, K)."""
        return self.choice.feasible

    @cached_property
    def flags(self) -> Mapping[str, Mask]:
        """What to know about the choices: where each flag is raised, (P,), by its name."""
        pools = self.pools
        rows = np.arange(len(self.index))
        flags = {
            **self.choice.flags,
            "few_samples": np.any(pools.left_out, axis=1),
            "constant_scorer": np.any(self.statistics.constant, axis=1),
        }
        if pools.standards.no_rating_below is not None:
            flags["rating_below"] = pools.ratings_too_low[rows, self.index] > 0
        if pools.standards.poor_limit is not None:
            flags["held"] = is_held(pools, self.index, _not_ruled_out(pools, self.choice))
        self._flag_below_promise(flags)
        return flags

    def _flag_below_promise(self, flags: dict[str, Mask]) -> None:
        """Flag the answers that a calibration's promise holds back."""
        from darc.decide.evidence.winner import has_other_caution, is_below_promise

        is_below = is_below_promise(self)
        if is_below is None:
            return
        is_poor = flags.get("held", np.zeros(len(self), dtype=bool))
        flags["held"] = is_poor | is_below
        flags["below_promise"] = is_below & ~is_poor
        if has_other_caution(self.rule):
            flags["other_caution"] = np.ones(len(self), dtype=bool)

    @cached_property
    def chosen(self) -> dict[str, Array]:
        """Value, mean, sigma, risk premium and count of each choice, (P,)."""
        rows = np.arange(len(self.index))
        names = (*_SHOWN_STATISTICS, "count")
        return {name: getattr(self.statistics, name)[rows, self.index] for name in names}

    def flags_of(self, position: int) -> tuple[str, ...]:
        """The names of the flags raised for one prompt.

        Args:
            position: The place of the prompt in the batch.
        """
        return tuple(name for name, raised in self.flags.items() if raised[position])

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, position: int) -> Decision:
        # A negative position counts from the end.
        row = range(len(self))[position]
        return Decision(
            index=int(self.index[row]),
            rule=self.rule,
            statistics=cut(self.statistics, row),
            feasible=self.feasible[row],
            flags=self.flags_of(row),
            choice=self.choice.one(row),
            pools=self.pools.one(row),
            labels=Labels(self._names_of(row), self.pools.sample),
        )

    def _names_of(self, row: int) -> list[str] | None:
        """The names of one prompt's candidates, empty for those that only pad the pool."""
        if self.candidate_ids is None:
            return None
        names = list(self.candidate_ids[row])
        padding = self.pools.shape[2] - len(names)
        return names + [""] * padding

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))


def decide(
    rule: Rule,
    pools: Pools,
    candidate_ids: Sequence[Sequence[str]] | None = None,
) -> Decisions:
    """Decide by a rule, which is fitted to the pools first if it learns from them.

    Args:
        rule: The rule.
        pools: The samples of the candidates, with the side inputs of the rule.
        candidate_ids: The names of each prompt's candidates.

    Raises:
        InputError: If a prompt has no candidate with a sample, or a side input is missing or not
            used by the rule.
    """
    pools.check()
    for name in pools.side:
        if name not in rule.side_names:
            raise InputError(f"rule {rule.name!r} does not use {name!r}", "leave it out")
    if rule.allow_few_samples:
        pools = pools.keeping_few()
    fitted = rule.fitted(pools)
    choice = fitted.choose(pools)
    return Decisions(fitted, pools, choice, candidate_ids)


def _not_ruled_out(pools: Pools, choice: Choice) -> Mask:
    """Present candidates that the rule compared with others, or chose, (P, K)."""
    among = pools.present & ~np.isnan(choice.objective)
    if pools.settled is not None:
        among = among & ~pools.settled.dropped
    among[np.arange(len(choice.index)), choice.index] = True
    return among
