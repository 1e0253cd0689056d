"""What came of choosing for one prompt: the answer, the decision, and everything behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.flags import flag_words
from darc.decide.statistics.repeats import components
from darc.engine.flags import FLAG_SENTENCES
from darc.engine.surface_scorers import surface_note
from darc.errors import MissingExtra
from darc.files import jsonable
from darc.parts.rewriters import Perturbed
from darc.types import Candidate, Prompt, Scores, Variant
from darc.typing import Array

if TYPE_CHECKING:
    from darc.decide.opinions import AnswerOpinions
    from darc.views.chart import ShownFigure
    from darc.views.dots import DotPicture

NOTHING = Perturbed((), ())


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """One prompt's candidates, what each scorer gave them, and the choice among them.

    `order` has the chosen candidates, the best first; `decision` is None where nothing could be
    compared. `rewrites` holds those of the candidates that were rewritten. `milliseconds` is by
    stage; `calls` counts the texts scored, `kept` those whose scores were kept from earlier;
    `saved` counts the candidates that were not written. `best_of_k` is what Best-of-K takes of the
    same samples, None where that was not asked for. Answers with the same text are one candidate;
    `places` has for each candidate the place of its first copy among the answers that were given.
    """

    prompt: Prompt
    candidates: Sequence[Candidate]
    scores: Scores
    rewrites: Mapping[int, Perturbed] = field(default_factory=dict)
    decision: Decision | None = None
    order: Sequence[int] = ()
    flags: Sequence[str] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    calls: int = 0
    scored: int = 0
    from_cache: int = 0
    saved: int = 0
    best_of_k: int | None = None
    places: Sequence[int] = ()

    def __repr__(self) -> str:
        return f"Outcome({self.name(self.index)}: {self.answer[:60]!r})"

    @property
    def index(self) -> int:
        """The place of the chosen candidate among the `candidates`."""
        return self.order[0]

    @property
    def place(self) -> int:
        """The place of the chosen answer among the answers that were given, copies included."""
        return self.places[self.index] if self.places else self.index

    @property
    def written(self) -> int:
        """How many answers there were, copies included."""
        return sum(candidate.copies for candidate in self.candidates)

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

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data, ready for JSON, with all flags.

        It has the form of `Decision.to_dict`, also where nothing was compared. A candidate that
        was written several times has `copies`.
        """
        if self.decision is not None:
            row = self.decision.to_dict()
        else:
            names = ("value", "mean", "sigma", "risk_premium")
            row = {
                "rule": "first",
                "parameters": {},
                "index": self.index,
                "candidate": self.name(self.index),
                "candidates": [
                    {"index": k, "id": None, **dict.fromkeys(names), "samples": 0, "feasible": True}
                    for k in range(len(self.candidates))
                ],
            }
        candidates = [{**each, **self.copies_field(each["index"])} for each in row["candidates"]]
        explained = {"flags": list(self.flags), "explanation": self.explain()}
        return {**row, **explained, "candidates": candidates}

    def copies_field(self, index: int) -> dict[str, int]:
        """The field `copies` of a candidate that was written several times, else nothing."""
        copies = self.candidates[index].copies
        return {"copies": copies} if copies > 1 else {}

    def explain(self) -> str:
        """Why this answer, in words, with everything that went wrong."""
        told = [] if self.decision is None else [self.decision.explain().rstrip(".")]
        known = () if self.decision is None else self.decision.flags
        told += [flag_words(flag, FLAG_SENTENCES) for flag in self.flags if flag not in known]
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
        start = f"Best-of-K would have taken {self.name(other)}{cut}: {opening}\n"
        people = self._people_beside(other)
        if people:
            return start + people
        scores = "; ".join(
            f"{name} {_range(self.scores.values[m, other])} against the chosen answer's "
            f"{_range(self.scores.values[m, self.index])}"
            for m, name in enumerate(self.scores.scorers)
        )
        return f"{start}Its scores under rewording: {scores}."

    def _people_beside(self, other: int) -> str:
        """What people think of another answer and of the chosen one; empty if not known."""
        from darc.decide.phrases import unhappy_phrase
        from darc.views.numbers import number_text

        opinions = None if self.decision is None else self.decision.opinions
        if opinions is None:
            return ""
        span = opinions.high - opinions.low
        parts = []
        for index, whose in ((other, "Its"), (self.index, "the chosen answer's")):
            answer = opinions.answer(index)
            average = f"{whose} average is {number_text(answer.mean, span)}"
            parts.append(f"{average} ({unhappy_phrase(answer, opinions.known_scale)})")
        return f"{', '.join(parts)}."

    def why_not(self, index: int) -> str:
        """Why a candidate was not chosen, in a few words; empty for the choice."""
        from darc.decide.phrases import incomplete_phrase

        decision = self.decision
        if index == self.index:
            return ""
        if decision is None:
            return "not compared"
        if decision.pools.left_out[0, index]:
            return "too few ratings" if self.rated else "too few rewrites"
        incomplete = incomplete_phrase(decision, index)
        if incomplete:
            return incomplete
        if decision.opinions is not None:
            return self._why_not_by_people(index)
        return self._why_not_by_scores(decision, index)

    def _why_not_by_people(self, index: int) -> str:
        """What people have against a candidate, in a few words."""
        from darc.decide.phrases import unhappy_phrase

        assert self.decision is not None
        opinions = self.decision.opinions
        assert opinions is not None
        answer = opinions.answer(index)
        chosen = opinions.answer(self.index)
        floor = self.decision.pools.standards.no_rating_below
        if floor is not None and not answer.eligible:
            low = sum(rating.value < floor for rating in answer.ratings)
            verb = "rates" if low == 1 else "rate"
            return f"{low} of {answer.count} {verb} it below {floor:g}"
        reasons = []
        if answer.mean < chosen.mean - 1e-9 * (1 + abs(chosen.mean)):
            reasons.append("lower average")
        if _unhappy_share(answer) > _unhappy_share(chosen):
            reasons.append(unhappy_phrase(answer, opinions.known_scale, names=False))
        if reasons:
            return ", ".join(reasons)
        if answer.count < chosen.count:
            return "fewer ratings"
        sigma = self.decision.statistics.sigma
        if sigma[index] > sigma[self.index]:
            return "its ratings lie further apart"
        return "ranked lower"

    def _why_not_by_scores(self, decision: Decision, index: int) -> str:
        """What speaks against a candidate by its scores, in a few words."""
        statistics = decision.statistics
        if not decision.feasible[index]:
            gap = np.nanmax(statistics.value) - statistics.value[index]
            return f"value {gap:.2f} below the best"
        # Higher sigma is the reason where the rule goes by it, or nothing else speaks against.
        goes_by_it = decision.rule.wording.weakness == "sigma" or (
            len(self.scores.scorers) == 1 and statistics.mean[index] >= statistics.mean[self.index]
        )
        if goes_by_it and statistics.sigma[index] > statistics.sigma[self.index]:
            return "higher sigma"
        if statistics.mean[index] < statistics.mean[self.index]:
            return "lower average"
        return "ranked lower"

    def dots(self) -> "DotPicture":
        """How every answer was rated or scored, as data for a picture."""
        from darc.decide.pictures import dot_picture

        assert self.decision is not None
        width = self.decision.pools.shape[3]
        return dot_picture(
            self.decision,
            [candidate.text for candidate in self.candidates],
            title=self.prompt.question,
            notes=[written_times(candidate) for candidate in self.candidates],
            # The original may be left out of the decision: it is the first sample.
            sample_names=self.scores.samples[-width:] if self.scores.samples else None,
        )

    def plot(self, path: str | Path | None = None) -> "ShownFigure":
        """Draw how every answer was rated or scored, one dot per rater or wording.

        Args:
            path: Where to save the picture (.png, .svg or .pdf), None for nowhere.

        Returns:
            The picture, which a notebook shows; its `figure` is matplotlib's own.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        from darc.views import ShownFigure, draw_ratings

        figure = draw_ratings(self.dots())
        shown = ShownFigure(figure, "decision")
        if path is not None:
            shown.save(path)
        return shown

    def to_html(self) -> str:
        """Everything as a self-contained page: the answer, why, the picture, then the numbers."""
        from darc.decide.phrases import incomplete_phrase
        from darc.decide.pictures import candidate_numbers, candidate_order
        from darc.views.decision_page import CandidateView, SampleView, decision_page

        assert self.decision is not None
        candidates = []
        for k in candidate_order(self.decision):
            candidate = self.candidates[k]
            rewrites = self.rewrites.get(k, NOTHING)
            texts = [candidate.text, *(variant.text for variant in rewrites.variants)]
            if self.rated:
                texts = [""] * len(self.scores.samples)
            scores = jsonable(self.scores.values[:, k].T.tolist())
            samples = zip(self.scores.samples, texts, scores, strict=False)
            view = CandidateView(
                name=self.decision.labels.candidate(k),
                text=candidate.text,
                numbers=candidate_numbers(self.decision, k),
                outcome=incomplete_phrase(self.decision, k) or self.why_not(k) or "chosen",
                chosen=k == self.index,
                truncated=candidate.truncated,
                samples=[SampleView(*sample) for sample in samples],
                rejected=[(each.reason, each.text) for each in rewrites.rejections],
                copies=candidate.copies,
            )
            candidates.append(view)
        what = "grades were asked for" if self.rated else "texts were scored"
        others = "; the others could not matter" if self.calls < self.most else ""
        cost = f"{self.calls} of {self.most} {what}{others}."
        notes = [self.limits, cost]
        if self.decision.opinions is None:
            notes.insert(0, self.beside_best_of_k())
        return decision_page(
            self.dots(),
            candidates,
            explanation=self._page_explanation(),
            scorers=self.scores.scorers,
            plane=self._plane_svg(),
            notes=[note for note in notes if note],
        )

    def _page_explanation(self) -> str:
        """Why this answer, for pages, which say in another place that no answer is good."""
        flags = [flag for flag in self.flags if flag != "held"]
        decision = None if self.decision is None else self.decision.without_flag("held")
        return replace(self, decision=decision, flags=flags).explain()

    def _plane_svg(self) -> str:
        """The value-sigma plane as an SVG element, empty where it cannot be drawn."""
        from darc.decide.pictures import decision_plane
        from darc.views import draw_plane
        from darc.views.chart import figure_svg, inline_svg

        assert self.decision is not None
        points = decision_plane(self.decision)
        if not points.points:
            return ""
        try:
            # Small, so that its words are still read on a telephone.
            figure = draw_plane(points, width=5.2)
        except MissingExtra:
            return ""
        return inline_svg(figure_svg(figure, "decision"), "decision", "value and disagreement")

    def _repr_html_(self) -> str:
        """The answer, why, and the picture, for a notebook."""
        from darc.views.dots_html import notebook_html

        rows: list[list[str]] = []
        if self.decision is None:
            rows = [
                [self.name(k), self.why_not(k) or "chosen", shorten(candidate.text, 80)]
                for k, candidate in enumerate(self.candidates)
            ]
        picture = None if self.decision is None else self.dots()
        explanation = self._page_explanation()
        return notebook_html(picture, answer=self.answer, explanation=explanation, rows=rows)


def _unhappy_share(answer: "AnswerOpinions") -> float:
    return answer.unhappy / max(answer.count, 1)


def written_times(candidate: Candidate) -> str:
    """How often a candidate was written, in words; empty for once."""
    return f"written {candidate.copies} times" if candidate.copies > 1 else ""


def _range(samples: Array) -> str:
    """Mean, lowest and highest of the samples that are known."""
    known = samples[~np.isnan(samples)]
    if not known.size:
        return "not known"
    return f"{known.mean():.3g} ({known.min():.3g} to {known.max():.3g})"
