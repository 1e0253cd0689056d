"""What came of choosing for one prompt: the answer, the decision, and everything behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

import numpy as np

from darc.core.repeats import components
from darc.engine.parts import surface_note
from darc.errors import MissingExtra
from darc.files import jsonable
from darc.perturb import Perturbed
from darc.selection.decision import FLAGS, Decision, flag_words
from darc.types import Candidate, Prompt, Scores, Variant
from darc.typing import Array

WORDS = {
    **FLAGS,
    "fewer_candidates": "some candidates could not be made",
    "fewer_scorers": "not every scorer had answered in time",
    "budget_milliseconds": "the time was up; this is the best choice so far",
    "budget_calls": "the budget of scores was used up; this is the best choice so far",
    "budget_upstream": "the calls or tokens of the request were used up",
    "stopped_early": "further candidates were not worth their cost",
    "scorer_failed": "scorer {} failed and was left out",
    "rewriter_failed": "the rewriter failed, so each answer was scored once",
    "rule_failed": "the rule could not be applied",
    "best_of_k": "the rule could not be applied, so the largest mean was taken",
    "first_candidate": "nothing could be scored, so the first answer was taken",
    "few_rewrites": "answers that can be rewritten few times only were judged on what they have",
    "not_rewritten": "answers of a prescribed form are not rewritten: each was scored once",
    "one_candidate": "there was one candidate only",
    "fewer_rewrites": "the answers are long, so each was rewritten fewer times",
    "too_long": "the answers are too long to be scored",
    "text_only": "scorers saw the text of the conversation only, not its images or sounds",
    "no_text": "no answer has any text to be scored",
}
NOTHING = Perturbed((), ())


@dataclass(frozen=True, eq=False)
class Outcome:
    """One prompt's candidates, what each scorer gave them, and the choice among them.

    `order` has the chosen candidates, the best first; `decision` is None where nothing could be
    compared. `rewrites` holds those of the candidates that were rewritten. `milliseconds` is by
    stage; `calls` counts the texts scored, `kept` those whose scores were kept from earlier;
    `saved` counts the candidates that were not written. `best_of_k` is what Best-of-K takes of the
    same samples, None where that was not asked for.
    """

    prompt: Prompt
    candidates: Sequence[Candidate]
    rewrites: Mapping[int, Perturbed]
    scores: Scores
    decision: Decision | None
    order: Sequence[int] = ()
    flags: Sequence[str] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    calls: int = 0
    asked: int = 0
    kept: int = 0
    saved: int = 0
    best_of_k: int | None = None

    def __repr__(self) -> str:
        return f"Outcome({self.name(self.index)}: {self.answer[:60]!r})"

    @property
    def index(self) -> int:
        """The place of the chosen candidate."""
        return self.order[0]

    @property
    def answer(self) -> str:
        """The chosen answer."""
        return self.candidates[self.index].text

    @property
    def variants(self) -> list[Sequence[Variant]]:
        """The accepted rewrites of each candidate."""
        return [self.rewrites.get(k, NOTHING).variants for k in range(len(self.candidates))]

    @property
    def most(self) -> int:
        """How many texts there were to score, or grades to ask for, at most."""
        _, candidates, places = self.scores.values.shape
        if self.rated:
            return candidates * places * self.scores.repeats
        left_out = bool(np.isnan(self.scores.values[:, :, 0]).all())  # the originals
        return candidates * (places - left_out)

    @property
    def rated(self) -> bool:
        """Whether the samples are the grades of a panel."""
        return self.scores.sample == "rater"

    def panel(self) -> dict[str, Any]:
        """What is to be said of a panel: what it was asked and saved, and where raters differ.

        `noise` is the standard deviation of one rater's repeats, and `disagreement` that between
        raters, for each candidate that all of them graded; None where there are too few grades.
        """
        scores = self.scores
        grades = scores.values[0][:, :, None]
        grades = grades if scores.grades is None else scores.grades.mean(axis=0)
        found = components(grades)
        whole = ~np.isnan(scores.values[0]).any(axis=1)
        return {
            "raters": list(scores.samples),
            "repeats": scores.repeats,
            "criteria": list(scores.criteria),
            "asked": self.calls,
            "saved": max(0, self.most - self.calls),
            "failed": [[k, scores.samples[i]] for k, i in scores.failed],
            "noise": None if np.isnan(found.within) else float(np.sqrt(found.within)),
            "disagreement": [
                float(np.sqrt(x)) if fine and not np.isnan(x) else None
                for x, fine in zip(found.between, whole, strict=True)
            ],
        }

    @property
    def limits(self) -> str:
        """What the scorers cannot see, where none but the embedded ones decided."""
        return surface_note(self.scores.scorers)

    def name(self, index: int) -> str:
        """What a candidate is called."""
        return self.candidates[index].name or f"candidate {index}"

    def explain(self) -> str:
        """Why this answer, in words, with everything that went wrong."""
        told = [] if self.decision is None else [self.decision.explain().rstrip(".")]
        known = () if self.decision is None else self.decision.flags
        told += [flag_words(flag, WORDS) for flag in self.flags if flag not in known]
        return "; ".join(told) + "." if told else ""

    def beside_best_of_k(self) -> str:
        """What Best-of-K would have taken and why this choice is another; empty if not known."""
        other = self.best_of_k
        if other is None:
            return ""
        if other == self.index:
            return "Best-of-K would have taken the same answer."
        taken = self.candidates[other]
        cut = ", cut off at the token limit" if taken.truncated else ""
        opening = shorten(taken.text, 160, placeholder=" ...")
        scores = "; ".join(
            f"{name} {_range(self.scores.values[m, other])} against the chosen answer's "
            f"{_range(self.scores.values[m, self.index])}"
            for m, name in enumerate(self.scores.scorers)
        )
        return (
            f"Best-of-K would have taken {self.name(other)}{cut}: {opening}\n"
            f"Its scores under rewording: {scores}."
        )

    def why_not(self, index: int) -> str:
        """Why a candidate was not chosen, in a few words; empty for the choice."""
        decision = self.decision
        if index == self.index:
            return ""
        if decision is None:
            return "not compared"
        statistics = decision.statistics
        if decision.pools.left_out[0, index]:
            return "too few rewrites"
        if decision.bounded is not None and decision.bounded[index]:
            return "ruled out early"
        if not decision.feasible[index]:
            gap = np.nanmax(statistics.value) - statistics.value[index]
            return f"value {gap:.2f} below the best"
        # Higher sigma is the reason where the rule goes by it, or nothing else speaks against.
        goes_by_it = decision.rule.weakness == "sigma" or (
            len(self.scores.scorers) == 1 and statistics.mean[index] >= statistics.mean[self.index]
        )
        if goes_by_it and statistics.sigma[index] > statistics.sigma[self.index]:
            return "higher sigma"
        return "ranked lower"

    def to_html(self) -> str:
        """Everything as a self-contained page."""
        from darc.views import draw_plane, plane
        from darc.views.chart import inline_svg, svg_of
        from darc.views.html import CandidateView, decision_page

        assert self.decision is not None
        try:
            # Small, so that its words are still read on a telephone.
            figure = draw_plane(plane(self.decision, (), ""), width=5.2)
            picture = inline_svg(svg_of(figure, "decision"), "decision", "value and disagreement")
        except MissingExtra:
            picture = ""
        shown = []
        for k, candidate in enumerate(self.candidates):
            made = self.rewrites.get(k, NOTHING)
            texts = [candidate.text, *(variant.text for variant in made.variants)]
            texts += [""] * (len(self.scores.samples) - 1) if self.rated else []
            numbers = jsonable(self.scores.values[:, k].T.tolist())
            samples = list(zip(self.scores.samples, texts, numbers, strict=False))
            refused = [(each.reason, each.text) for each in made.rejections]
            text, why = candidate.text, self.why_not(k)
            shown.append(CandidateView(text, candidate.truncated, why, samples, refused))
        what = "grades were asked for" if self.rated else "texts were scored"
        others = "; the others could not matter" if self.calls < self.most else ""
        note = f"{self.calls} of {self.most} {what}{others}."
        notes = [each for each in (self.limits, note, self.beside_best_of_k()) if each]
        return decision_page(
            self.prompt.question, self.decision, shown, self.scores.scorers, picture, notes
        )

    def _repr_html_(self) -> str:
        """The answer and why, for a notebook."""
        from darc.views.html import render

        rows = [
            [self.name(k), self.why_not(k) or "chosen", " ".join(candidate.text.split())[:80]]
            for k, candidate in enumerate(self.candidates)
        ]
        kinds = ["chosen" if k == self.index else "" for k in range(len(rows))]
        told = self.explain()
        return render("outcome.html", answer=self.answer, explanation=told, rows=rows, kinds=kinds)


def _range(samples: Array) -> str:
    """Mean, lowest and highest of the samples that are known."""
    known = samples[~np.isnan(samples)]
    if not known.size:
        return "not known"
    return f"{known.mean():.3g} ({known.min():.3g} to {known.max():.3g})"
