"""The outcome of a decision for one prompt: the answer, and everything behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.flags import flags_in_words
from darc.decide.method import grades_of_repeats
from darc.decide.phrases import incomplete_phrase
from darc.decide.statistics.panel_disagreement import panel_disagreement
from darc.engine.flags import FLAG_SENTENCES
from darc.engine.reasons import compare_opinions, compare_scores, reason_against
from darc.engine.surface_scorers import surface_note
from darc.errors import MissingExtra
from darc.json_files import jsonable
from darc.parts.rewriters import Rewrites
from darc.parts.scorers.pair_judge import number_of_pairs
from darc.types import Candidate, Prompt, Scores, Variant
from darc.typing import Array

if TYPE_CHECKING:
    # Views are loaded only when something is drawn.
    from darc.views.chart import ShownFigure
    from darc.views.decision_page import CandidateView
    from darc.views.dots import DotPicture

_NO_REWRITES = Rewrites((), ())
_STATISTICS = ("value", "mean", "sigma", "risk_premium")


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """One prompt's candidates, their scores, and the choice among them."""

    prompt: Prompt
    #: The candidates. Answers with the same text are one candidate.
    candidates: Sequence[Candidate]
    scores: Scores
    #: The rewrites of each candidate that was rewritten, by its place.
    rewrites: Mapping[int, Rewrites] = field(default_factory=dict)
    #: The decision for the best candidate; None if nothing could be compared.
    decision: Decision | None = None
    #: The places of the chosen candidates, the best first.
    order: Sequence[int] = ()
    #: What went otherwise than asked.
    flags: Sequence[str] = ()
    #: Milliseconds by stage.
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    #: How many different texts were sent to the scorers, or grades asked for.
    calls: int = 0
    #: How many scores were computed, over all scorers.
    scored: int = 0
    #: How many scores came from the score cache, over all scorers.
    from_cache: int = 0
    #: How many candidates were not written because they were not worth their cost.
    saved: int = 0
    #: The place of the candidate that Best-of-K would have chosen; None if that was not asked for.
    best_of_k: int | None = None
    #: For each candidate, the place of its first copy among the given answers.
    places: Sequence[int] = ()

    def __repr__(self) -> str:
        return f"Outcome({self.name(self.index)}: {self.answer[:60]!r})"

    @property
    def index(self) -> int:
        """The place of the chosen candidate among the `candidates`."""
        return self.order[0]

    @property
    def place(self) -> int:
        """The place of the chosen answer among the given answers, including copies."""
        if self.places:
            return self.places[self.index]
        return self.index

    @property
    def answer(self) -> str:
        """The chosen answer."""
        return self.candidates[self.index].text

    @property
    def written(self) -> int:
        """How many answers there were, including copies."""
        return sum(candidate.copies for candidate in self.candidates)

    @property
    def variants(self) -> list[Sequence[Variant]]:
        """The accepted rewrites of each candidate."""
        return [self._rewrites_of(k).variants for k in range(len(self.candidates))]

    @property
    def rated(self) -> bool:
        """Whether the samples are the grades of a panel."""
        return self.scores.sample == "rater"

    @property
    def most(self) -> int:
        """How many texts there were to score, or grades to ask for, at most."""
        if self.rated:
            return most_calls(self.scores)
        _, n_candidates, n_samples = self.scores.values.shape
        originals_left_out = bool(np.isnan(self.scores.values[:, :, 0]).all())
        if originals_left_out:
            n_samples -= 1
        return n_candidates * n_samples

    @property
    def limits(self) -> str:
        """What the scorers cannot see; empty unless the embedded ones decided alone."""
        return surface_note(self.scores.scorers)

    def name(self, index: int) -> str:
        """The name of a candidate.

        Args:
            index: The place of the candidate.
        """
        return self.candidates[index].name or f"candidate {index}"

    def panel(self) -> dict[str, Any]:
        """What a panel was asked, what it failed to answer, and how much its raters differ.

        Returns:
            `raters`, `repeats` and `criteria` describe the panel. `asked` and `saved` count calls
            that grade, and `failed` lists candidates with the rater whose grade is missing. `noise`
            is the standard deviation of one rater's repeats, and `answer_noise` what is left of it
            in the mean of a rater's repeats, for each candidate. `disagreement` has for each
            candidate that all raters graded the standard deviation between raters, without their
            severity (from three candidates on), their noise and the order in which they saw the
            candidates.
            None stands where there are too few grades, or noise was not measured.
        """
        scores = self.scores
        was_asked = ~np.isnan(scores.values[0]).all(axis=0)
        all_graded = ~np.isnan(scores.values[0][:, was_asked]).any(axis=1)
        grades = np.where(all_graded[:, None, None], grades_of_repeats(scores), np.nan)
        disagreement = panel_disagreement(grades, scores.orders)
        return {
            "raters": list(scores.samples),
            "repeats": scores.repeats,
            "criteria": list(scores.criteria),
            "asked": self.calls,
            "saved": max(0, self.most - self.calls),
            "failed": [[k, scores.samples[i]] for k, i in scores.failed],
            "noise": _root_or_none(disagreement.repeat_variance),
            "answer_noise": [_root_or_none(variance) for variance in disagreement.noise],
            "disagreement": [_root_or_none(variance) for variance in disagreement.between],
        }

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data for JSON, with all flags.

        Returns:
            The form of `Decision.to_dict`, also where nothing was compared. A candidate that was
            written several times has `copies`.
        """
        if self.decision is not None:
            row = self.decision.to_dict()
        else:
            row = self._first_candidate_row()
        candidates = []
        for candidate_row in row["candidates"]:
            copies = self.copies_field(candidate_row["index"])
            candidates.append({**candidate_row, **copies})
        return {
            **row,
            "flags": list(self.flags),
            "explanation": self.explain(),
            "candidates": candidates,
        }

    def copies_field(self, index: int) -> dict[str, int]:
        """The field `copies` of a candidate that was written several times, otherwise nothing.

        Args:
            index: The place of the candidate.
        """
        copies = self.candidates[index].copies
        if copies == 1:
            return {}
        return {"copies": copies}

    def explain(self) -> str:
        """Why this answer was chosen, in words, with everything that went wrong."""
        sentences = []
        explained_flags: Sequence[str] = ()
        if self.decision is not None:
            sentences.append(self.decision.explain().rstrip("."))
            explained_flags = self.decision.flags
        other_flags = [flag for flag in self.flags if flag not in explained_flags]
        sentences += flags_in_words(other_flags, FLAG_SENTENCES)
        if not sentences:
            return ""
        return "; ".join(sentences) + "."

    def beside_best_of_k(self) -> str:
        """What Best-of-K would have chosen, and how that differs; empty if it is not known."""
        other = self.best_of_k
        if other is None:
            return ""
        if other == self.index:
            return "Best-of-K would have taken the same answer."
        candidate = self.candidates[other]
        cut_off = ", cut off at the token limit" if candidate.truncated else ""
        opening = shorten(candidate.text, 160, placeholder=" ...")
        if self.decision is not None and self.decision.opinions is not None:
            comparison = compare_opinions(self.decision.opinions, other, self.index)
        else:
            comparison = compare_scores(self.scores, other, self.index)
        return f"Best-of-K would have taken {self.name(other)}{cut_off}: {opening}\n{comparison}"

    def why_not(self, index: int) -> str:
        """Why a candidate was not chosen, in a few words; empty for the choice.

        Args:
            index: The place of the candidate.
        """
        if index == self.index:
            return ""
        if self.decision is None:
            return "not compared"
        return reason_against(self.decision, index)

    def dots(self) -> "DotPicture":
        """How every answer was rated or scored, as data for a picture."""
        from darc.decide.pictures import dot_picture

        assert self.decision is not None
        sample_names = None
        if self.scores.samples:
            # The original may be left out of the decision: it is the first sample.
            n_samples = self.decision.pools.shape[3]
            sample_names = self.scores.samples[-n_samples:]
        return dot_picture(
            self.decision,
            [candidate.text for candidate in self.candidates],
            title=self.prompt.question,
            notes=[written_times(candidate) for candidate in self.candidates],
            sample_names=sample_names,
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
        picture = ShownFigure(figure, "decision")
        if path is not None:
            picture.save(path)
        return picture

    def to_html(self) -> str:
        """Everything as a self-contained page: the answer, why, the picture, then the numbers."""
        from darc.decide.pictures import candidate_order
        from darc.views.decision_page import decision_page

        assert self.decision is not None
        notes = [self.decision.sure_sentence, self.limits, self._cost_text()]
        if self.decision.opinions is None:
            notes.insert(0, self.beside_best_of_k())
        return decision_page(
            self.dots(),
            [self._candidate_view(self.decision, k) for k in candidate_order(self.decision)],
            explanation=self._page_explanation(),
            scorers=self.scores.scorers,
            plane=self._plane_svg(),
            notes=[note for note in notes if note],
        )

    def _repr_html_(self) -> str:
        """The answer, why, and the picture, for a notebook."""
        from darc.views.dots_html import notebook_html

        picture = None
        rows: list[list[str]] = []
        if self.decision is not None:
            picture = self.dots()
        else:
            for k, candidate in enumerate(self.candidates):
                rows.append(
                    [self.name(k), self.why_not(k) or "chosen", shorten(candidate.text, 80)]
                )
        return notebook_html(
            picture,
            answer=self.answer,
            explanation=self._page_explanation(),
            rows=rows,
            sure="" if self.decision is None else self.decision.sure_sentence,
        )

    def _rewrites_of(self, index: int) -> Rewrites:
        return self.rewrites.get(index, _NO_REWRITES)

    def _first_candidate_row(self) -> dict[str, Any]:
        """The plain data of a decision that compared nothing."""
        candidates = []
        for k in range(len(self.candidates)):
            statistics = dict.fromkeys(_STATISTICS)
            row = {"index": k, "id": None, **statistics, "samples": 0, "feasible": True}
            candidates.append(row)
        return {
            "rule": "first",
            "parameters": {},
            "index": self.index,
            "candidate": self.name(self.index),
            "candidates": candidates,
        }

    def _candidate_view(self, decision: Decision, k: int) -> "CandidateView":
        """What a page shows of a candidate."""
        from darc.decide.pictures import candidate_numbers
        from darc.views.decision_page import CandidateView, SampleView

        candidate = self.candidates[k]
        rewrites = self._rewrites_of(k)
        texts = [candidate.text, *(variant.text for variant in rewrites.variants)]
        if self.rated:
            texts = [""] * len(self.scores.samples)
        scores = jsonable(self.scores.values[:, k].T.tolist())
        samples = zip(self.scores.samples, texts, scores, strict=False)
        return CandidateView(
            name=decision.labels.candidate(k),
            text=candidate.text,
            numbers=candidate_numbers(decision, k),
            outcome=incomplete_phrase(decision, k) or self.why_not(k) or "chosen",
            chosen=k == self.index,
            truncated=candidate.truncated,
            samples=[SampleView(*sample) for sample in samples],
            rejected=[(rejection.reason, rejection.text) for rejection in rewrites.rejections],
            copies=candidate.copies,
        )

    def _cost_text(self) -> str:
        what = "grades were asked for" if self.rated else "texts were scored"
        others = ""
        if self.calls < self.most:
            others = "; the others could not matter"
        return f"{self.calls} of {self.most} {what}{others}."

    def _page_explanation(self) -> str:
        """The explanation for pages, which say in another place that no answer is good."""
        decision = self.decision
        if decision is not None:
            decision = decision.without_flag("held", "below_promise")
        flags = [flag for flag in self.flags if flag not in ("held", "below_promise")]
        return replace(self, decision=decision, flags=flags).explain()

    def _plane_svg(self) -> str:
        """The value-sigma plane as an SVG element; empty where it cannot be drawn."""
        from darc.decide.pictures import decision_plane
        from darc.views import draw_plane
        from darc.views.chart import figure_svg, inline_svg

        assert self.decision is not None
        plane = decision_plane(self.decision)
        if not plane.points:
            return ""
        try:
            # Small, so that its text can be read on a phone.
            figure = draw_plane(plane, width=5.2)
        except MissingExtra:
            return ""
        return inline_svg(figure_svg(figure, "decision"), "decision", "value and disagreement")


def most_calls(scores: Scores) -> int:
    """How many calls all grades of a panel take."""
    _, n_candidates, n_raters = scores.values.shape
    if scores.compared:
        return 2 * number_of_pairs(n_candidates) * n_raters * scores.repeats
    if scores.orders:
        return n_raters * scores.repeats
    return n_candidates * n_raters * scores.repeats


def written_times(candidate: Candidate) -> str:
    """How often a candidate was written, in words; empty for once."""
    if candidate.copies == 1:
        return ""
    return f"written {candidate.copies} times"


def _root_or_none(variance: float | Array) -> float | None:
    """The standard deviation of a variance, None where it is not known."""
    if np.isnan(variance):
        return None
    return float(np.sqrt(variance))
