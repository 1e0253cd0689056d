"""Decisions as run folders and audit logs store them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from darc.decide.evidence.how_sure import HowSure
from darc.decide.flags import flag_words, held_sentence, without_repetition
from darc.decide.opinions import AnswerOpinions, Opinions, Rating
from darc.decide.pictures import limit_label, rating_strips, row_kind
from darc.engine.flags import FLAG_SENTENCES
from darc.typing import Array
from darc.viewer.source import DecisionView, ListedDecision, number_cell
from darc.views.dots import BEST_OF_K, Dot, DotPicture, DotRow, DotStrip, make_strip
from darc.views.numbers import number_text

# Averages that differ by a smaller share are equal.
_TIE_SHARE = 1e-9
_CERTAINTY_FIELDS = tuple(HowSure.__dataclass_fields__)


@dataclass(frozen=True)
class StoredDecision:
    """A row of decisions.jsonl or of an audit log, with what is known of its answers."""

    #: The row itself.
    row: Mapping[str, Any]
    question: str = ""
    #: The texts of the answers, empty if unknown.
    texts: Sequence[str] = ()
    #: The systems that wrote the answers, empty if unknown.
    systems: Sequence[str] = ()
    #: The scores (scorers, candidates, samples), None where there is none; empty if unknown.
    scores: Sequence[Any] = ()
    scorers: Sequence[str] = ()
    #: Who or what gave the samples.
    samples: Sequence[str] = ()
    #: What one sample is: "rater" or "rewrite".
    sample: str = "rater"
    #: What else to know of the answers, such as "written 3 times".
    notes: Sequence[str] = field(default_factory=list)

    def to_details(self) -> dict[str, Any]:
        """The decision as plain data, ready for JSON."""
        return dict(vars(self))

    def listed(self) -> ListedDecision:
        """What the list shows of it."""
        row = self.row
        index = row["index"]
        best = self._best_mean()
        opinion = self._people_answers().get(index, {})
        candidate = self._candidates()[index]
        mean = opinion.get("mean", candidate.get("mean"))
        flags = list(row["flags"])
        return ListedDecision(
            prompt_id=row["prompt_id"],
            question=self.question,
            chosen=self._name(index),
            answer=row.get("answer", ""),
            best_of_k="" if best is None else self._name(best),
            differs=None if best is None else best != index,
            mean=_finite(mean),
            disagreement=_finite(candidate.get("sigma")),
            unhappy=opinion.get("unhappy"),
            ratings=opinion.get("ratings"),
            held="held" in flags,
            flags=flags,
            system=self.systems[index] if index < len(self.systems) else "",
            texts=self.texts or [row.get("answer", "")],
            details=self.to_details(),
        )

    def view(self) -> DecisionView:
        """What its page shows."""
        flags = list(self.row["flags"])
        held = held_sentence(flags)
        explanation = self.row.get("explanation", "")
        if held:
            # It stands on a line of its own.
            explanation = explanation.replace(f" {held}", "")
        words = [flag_words(flag, FLAG_SENTENCES) for flag in without_repetition(flags)]
        notes = [
            f"{word[0].upper()}{word[1:]}."
            for word in words
            if word.lower() not in explanation.lower() and f"{word.lower()}." != held.lower()
        ]
        sure = ""
        certainty = self.row.get("certainty")
        if certainty:
            values = {name: certainty[name] for name in _CERTAINTY_FIELDS}
            sure = HowSure(**values).sentence(self._name(self.row["index"]))
        header, rows = self._ratings_table()
        return DecisionView(self._picture(held), explanation, sure, notes, header, rows)

    def _candidates(self) -> dict[int, Mapping[str, Any]]:
        """The candidates of the row by their places."""
        return {candidate["index"]: candidate for candidate in self.row["candidates"]}

    def _people_answers(self) -> dict[int, Mapping[str, Any]]:
        """What people think of each answer, by its place; empty for scores of rewrites."""
        people = self.row.get("people") or {}
        return {answer["index"]: answer for answer in people.get("answers", ())}

    def _name(self, index: int) -> str:
        """What an answer is called."""
        opinion = self._people_answers().get(index)
        if opinion is not None:
            return str(opinion["name"])
        identifier = self._candidates().get(index, {}).get("id")
        return f"candidate {index}" if identifier is None else str(identifier)

    def _best_mean(self) -> int | None:
        """The answer with the highest average; None where one that was ruled out may have it."""
        people = self.row.get("people")
        if people:
            return int(people["best_mean"])
        index = self.row["index"]
        candidates = self._candidates()
        means = {
            place: _finite(candidate.get("mean"))
            for place, candidate in candidates.items()
            if candidate.get("samples", 1)
        }
        known = {place: mean for place, mean in means.items() if mean is not None}
        if index not in known:
            return None
        leader = max(known, key=lambda place: known[place])
        if known[leader] > known[index] + _TIE_SHARE * (1 + abs(known[leader])):
            return leader
        return index if len(known) == len(means) else None

    def _values(self) -> Array:
        """The scores as an array, NaN where there is none."""
        return np.array(self.scores, dtype=np.float64)

    def _opinions(self) -> Opinions | None:
        """What people think of the answers, with their ratings; None where that is not known."""
        people = self.row.get("people")
        if not people or not self.scores:
            return None
        limit = people["unhappy_below"]
        known_scale = limit is not None
        if limit is None:
            limit = people["clearly_lower_below"]
        ratings = self._values()[0]
        answers = []
        for answer in people["answers"]:
            given = ratings[answer["index"]]
            answers.append(
                AnswerOpinions(
                    index=answer["index"],
                    name=answer["name"],
                    ratings=tuple(
                        Rating(float(value), self._sample_name(place), bool(value < limit))
                        for place, value in enumerate(given)
                        if not np.isnan(value)
                    ),
                    complete=answer.get("complete", True),
                )
            )
        low, high = people["scale"]
        return Opinions(
            answers=tuple(answer for answer in answers if answer.ratings),
            limit=limit,
            known_scale=known_scale,
            low=low,
            high=high,
            chosen=people["chosen"],
            best_mean=people["best_mean"],
            probability_different=people["probability_different"],
            caution=people["caution"],
        )

    def _sample_name(self, place: int) -> str:
        if place < len(self.samples):
            return self.samples[place]
        return ""

    def _picture(self, held: str) -> DotPicture | None:
        """The dot picture: by people's opinions, or with a strip per scorer."""
        if not self.scores:
            return None
        opinions = self._opinions()
        means: Mapping[int, float]
        by_candidate: Mapping[int, tuple[DotStrip, ...]]
        if opinions is not None:
            strips = rating_strips(opinions, self.sample, self._incomplete_phrase)
            by_candidate = {place: (strip,) for place, strip in strips.by_candidate.items()}
            means = strips.means
            dot_label = strips.dot_label
            unhappy_label = limit_label(opinions)
        else:
            by_candidate = self._score_strips()
            means = {
                place: candidate["mean"]
                for place, candidate in self._candidates().items()
                if _finite(candidate.get("mean")) is not None
            }
            noun = "wording" if self.sample == "rewrite" else self.sample
            dot_label = f"score of one {noun}"
            unhappy_label = ""
        badges = self._badges()
        index = self.row["index"]

        def order(place: int) -> tuple[bool, bool, float]:
            return place != index, place not in badges, -means.get(place, -np.inf)

        rows = [
            DotRow(
                name=self._name(place),
                text=self._text(place),
                strips=by_candidate[place],
                badges=tuple(badges.get(place, ())),
                kind=row_kind(place, index, badges),
                note=self.notes[place] if place < len(self.notes) else "",
            )
            for place in sorted(by_candidate, key=order)
        ]
        if not rows:
            return None
        return DotPicture(tuple(rows), dot_label, unhappy_label, self.question, held)

    def _badges(self) -> dict[int, list[str]]:
        """Who chooses which answer."""
        index = self.row["index"]
        rule = self.row["rule"]
        badges: dict[int, list[str]] = {}
        if rule != "mean":
            badges[index] = [f"Chosen by {rule}"]
        best = self._best_mean()
        if rule == "mean":
            best = index
        if best is not None:
            badges.setdefault(best, []).append(BEST_OF_K)
        return badges

    def _text(self, place: int) -> str:
        if place < len(self.texts):
            return self.texts[place]
        if place == self.row["index"]:
            return str(self.row.get("answer", ""))
        return ""

    def _incomplete_phrase(self, place: int) -> str:
        """Why an answer lacks some of its ratings, empty where it does not."""
        if self._people_answers()[place].get("complete", True):
            return ""
        values = self._values()[0, place]
        return f"ruled out early, after {int((~np.isnan(values)).sum())} of {len(values)} ratings"

    def _score_strips(self) -> dict[int, tuple[DotStrip, ...]]:
        """A strip per scorer for each answer that was scored."""
        strips: dict[int, tuple[DotStrip, ...]] = {}
        values = self._values()
        scales = [(float(np.nanmin(table)), float(np.nanmax(table))) for table in values]
        for place in range(values.shape[1]):
            rows = []
            for scorer, scale in enumerate(scales):
                dots = [
                    Dot(float(value), self._sample_name(sample))
                    for sample, value in enumerate(values[scorer, place])
                    if not np.isnan(value)
                ]
                if dots:
                    rows.append(self._score_strip(dots, scale, scorer))
            if rows:
                strips[place] = tuple(rows)
        return strips

    def _score_strip(
        self, dots: Sequence[Dot], scale: tuple[float, float], scorer: int
    ) -> DotStrip:
        scores = [dot.value for dot in dots]
        mean = float(np.mean(scores))
        span = scale[1] - scale[0]
        summary = f"average {number_text(mean, span)}, lowest {number_text(min(scores), span)}"
        caption = ""
        if len(self.scorers) > 1:
            caption = self.scorers[scorer]
        return make_strip(dots, scale, summary=summary, mean=mean, caption=caption)

    def _ratings_table(self) -> tuple[list[str], list[list[str]]]:
        """Every score: one row per rater or wording, and scorer where there are several."""
        if not self.scores:
            return [], []
        values = self._values()
        several = len(self.scorers) > 1
        noun = "wording" if self.sample == "rewrite" else self.sample
        names = [self._name(place) for place in range(values.shape[1])]
        rows = []
        for sample in range(values.shape[2]):
            for scorer in range(values.shape[0]):
                cells = [number_cell(value) for value in values[scorer, :, sample]]
                if not any(cells):
                    continue
                title = self._sample_name(sample) or f"{noun} {sample + 1}"
                if several:
                    title = f"{title}, {self.scorers[scorer]}"
                rows.append([title, *cells])
        return [noun, *names], rows


def stored_decision(details: Mapping[str, Any]) -> StoredDecision:
    """The decision of what `to_details` made."""
    return replace(StoredDecision({}), **details)


def _finite(value: Any) -> float | None:
    """A number, None for what is not one; files spell infinities as texts."""
    if isinstance(value, int | float) and value == value:
        return float(value)
    return None
