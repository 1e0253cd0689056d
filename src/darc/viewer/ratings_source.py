"""Decisions on a file of ratings."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.chosen_opinions import ChosenOpinions, chosen_opinions, is_below_best_mean
from darc.decide.decision import Decision
from darc.decide.ids import UNKNOWN, Ids, as_ids, rater_ids
from darc.decide.method import Method
from darc.decide.pictures import dot_picture
from darc.decide.sample_batch import SampleBatch
from darc.decide.side_inputs import SIDE_INPUTS
from darc.ratings.decisions import DecidedBatch, decide_table, standards_for
from darc.ratings.read import read_ratings
from darc.ratings.side_table import side_inputs_of
from darc.ratings.texts import stem, texts_beside
from darc.typing import Array, Mask
from darc.viewer.answer_texts import AnswerTexts, PromptTexts
from darc.viewer.source import (
    DecisionSource,
    DecisionView,
    ListedDecision,
    ReadProgress,
    number_cell,
)

# Ratings that are decided at once; what is listed of them is held in memory meanwhile.
_BATCH_ROWS = 60_000


class RatingsSource(DecisionSource):
    """A file of ratings, decided by a method."""

    def __init__(
        self,
        path: Path,
        method: Method,
        *,
        texts: Path | None = None,
        columns: Mapping[str, str] | None = None,
        system: str = "auto",
    ) -> None:
        """Name the file; it is read by `decisions`.

        Args:
            path: The file, or a folder with one file per system.
            method: How to decide.
            texts: The texts of the candidates; by default NAME.texts.jsonl(.gz) beside the file.
            columns: What the file calls a column.
            system: "none" leaves out which system wrote a candidate.
        """
        self.name = stem(path)
        self.rule = method.text
        self._path = path
        self._texts_path = texts or texts_beside(path)
        self._columns = columns
        self._system = system
        # Once all is decided, the method with what its rule has learnt from the file.
        self._method = method
        self._scorers: list[str] = []
        self._kind = "rater"

    def decisions(self, progress: ReadProgress) -> Iterator[ListedDecision]:
        """Decide batch by batch; see `DecisionSource.decisions`."""
        with (
            tempfile.TemporaryDirectory(prefix="darc-view-") as folder,
            read_ratings(str(self._path), columns=self._columns, batch_rows=_BATCH_ROWS) as table,
            AnswerTexts(self._texts_path, Path(folder)) as texts,
        ):
            self._scorers = list(table.scorers)
            self._kind = table.kind
            standards = standards_for(table, self._method.standards)
            methods = [replace(self._method, standards=standards)]
            done = 0
            for decided in decide_table(table, methods, system=self._system):
                self._method = decided.methods[0]
                batch = _ListedBatch.of(decided, self._uses_systems)
                if batch.opinions is not None:
                    self.known_scale = batch.opinions.known_scale
                for prompt in range(len(decided.ratings.prompt_ids)):
                    yield batch.listed(prompt, texts.of(decided.ratings, prompt))
                done += len(decided.ratings.prompt_ids)
                progress(done, table.prompts)

    def decision_view(self, details: Mapping[str, Any]) -> DecisionView:
        """Decide on the ratings of one prompt again, and make the page of the decision."""
        decision = self._decide(details)
        texts = dict(zip(details["names"], details["texts"], strict=True))
        # What is held back has a line of its own.
        explanation = decision.without_flag("held", "below_promise").explain()
        header, rows = _ratings_table(decision, self._scorers)
        return DecisionView(
            picture=dot_picture(decision, texts, title=details["question"]),
            explanation=explanation,
            sure=decision.sure_sentence,
            ratings_header=header,
            ratings=rows,
        )

    @property
    def _uses_systems(self) -> bool:
        return self._system != "none" and self._method.learns

    def _decide(self, details: Mapping[str, Any]) -> Decision:
        """Decide on one prompt, as in the batch that it was in."""
        samples = np.array(details["scores"], dtype=np.float64)[None]
        _, _, n_candidates, n_samples = samples.shape
        systems = None
        if details["systems"]:
            systems = as_ids([details["systems"]], (1, n_candidates), "system")
        raters = as_ids([details["raters"]], (1, n_candidates, n_samples), "rater")
        batch = SampleBatch(
            samples=samples,
            prompt_ids=[details["prompt_id"]],
            candidate_ids=[details["names"]],
            scorers=self._scorers,
            raters=replace(raters, groups=details["groups"]),
            systems=systems,
            side={
                name: np.array(values, dtype=np.float64)[None]
                for name, values in details["side"].items()
            },
            sample=self._kind,
        )
        return self._method.decide_batch(batch)[0]


@dataclass(frozen=True, eq=False)
class _ListedBatch:
    """A batch of decisions with what the list shows of each."""

    decided: DecidedBatch
    opinions: ChosenOpinions | None
    #: Where the highest average was not chosen, (P,).
    differs: Mask
    raters: Ids
    side: Mapping[str, Array]
    uses_systems: bool

    @classmethod
    def of(cls, decided: DecidedBatch, uses_systems: bool) -> "_ListedBatch":
        decisions = decided.decisions[0]
        ratings = decided.ratings
        return cls(
            decided=decided,
            opinions=chosen_opinions(decisions),
            differs=is_below_best_mean(decisions),
            raters=rater_ids(ratings.raters, ratings.rater_names),
            side=side_inputs_of([decided.methods[0].rule], ratings, None),
            uses_systems=uses_systems,
        )

    def listed(self, prompt: int, texts: PromptTexts) -> ListedDecision:
        """What the list shows of the decision on one prompt."""
        decisions = self.decided.decisions[0]
        ratings = self.decided.ratings
        index = int(decisions.index[prompt])
        names = list(ratings.candidate_ids[prompt])
        differs = bool(self.differs[prompt])
        best = index
        if differs:
            best = int(np.nanargmax(decisions.statistics.mean[prompt]))
        unhappy = None
        count = None
        if self.opinions is not None:
            unhappy = int(self.opinions.unhappy[prompt])
            count = int(self.opinions.ratings[prompt])
        flags = decisions.flags_of(prompt)
        systems = []
        if ratings.systems:
            systems = list(ratings.systems[prompt])
        return ListedDecision(
            prompt_id=ratings.prompt_ids[prompt],
            question=texts.question,
            chosen=names[index],
            answer=texts.answers[index],
            best_of_k=names[best],
            differs=differs,
            mean=_number(decisions.chosen["mean"][prompt]),
            disagreement=_number(decisions.chosen["sigma"][prompt]),
            unhappy=unhappy,
            ratings=count,
            held="held" in flags,
            flags=flags,
            system=systems[index] if systems else "",
            unhappy_groups=self._unhappy_groups(prompt, index),
            texts=texts.answers,
            details=self._details(prompt, names, systems, texts),
        )

    def _unhappy_groups(self, prompt: int, index: int) -> list[str]:
        ratings = self.decided.ratings
        if self.opinions is None or not ratings.groups:
            return []
        is_low = ratings.samples[prompt, 0, index] < self.opinions.limits[prompt]
        raters = {ratings.rater_names[code] for code in ratings.raters[prompt, 0, index][is_low]}
        return sorted({ratings.groups[rater] for rater in raters if rater in ratings.groups})

    def _details(
        self, prompt: int, names: list[str], systems: list[str], texts: PromptTexts
    ) -> dict[str, Any]:
        """What `RatingsSource` decides on again."""
        ratings = self.decided.ratings
        n_candidates = len(names)
        samples = ratings.samples[prompt, :, :n_candidates]
        # Samples are packed to the left.
        n_samples = int((~np.isnan(samples)).any(axis=(0, 1)).sum())
        raters = [
            ["" if code == UNKNOWN else self.raters.names[code] for code in codes]
            for codes in self.raters.codes[prompt, :n_candidates, :n_samples].tolist()
        ]
        known_raters = {name for row in raters for name in row}
        side = {}
        for name, array in self.side.items():
            values = array[prompt, :n_candidates]
            if SIDE_INPUTS.get(name) == "KK":
                values = values[:, :n_candidates]
            side[name] = values.tolist()
        return {
            "prompt_id": ratings.prompt_ids[prompt],
            "question": texts.question,
            "names": names,
            "texts": texts.answers,
            "scores": samples[:, :, :n_samples].tolist(),
            "raters": raters,
            "groups": {
                name: group for name, group in ratings.groups.items() if name in known_raters
            },
            "systems": systems if self.uses_systems else [],
            "side": side,
        }


def _ratings_table(decision: Decision, scorers: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Every rating: one row per rater, and scorer where there are several."""
    samples = decision.pools.samples[0]
    n_scorers, n_candidates, n_samples = samples.shape
    noun = "wording" if decision.pools.about_wording else "rater"
    rows: dict[str, list[str]] = {}
    for scorer in range(n_scorers):
        for candidate in range(n_candidates):
            for place in range(n_samples):
                value = samples[scorer, candidate, place]
                if np.isnan(value):
                    continue
                title = decision.rater_name(candidate, place) or f"{noun} {place + 1}"
                if n_scorers > 1:
                    title = f"{title}, {scorers[scorer]}"
                cells = rows.setdefault(title, [""] * n_candidates)
                cells[candidate] = number_cell(float(value))
    names = [decision.labels.candidate(candidate) for candidate in range(n_candidates)]
    return [noun, *names], [[title, *cells] for title, cells in rows.items()]


def _number(value: float) -> float | None:
    """A number of a table, None for NaN."""
    if np.isnan(value):
        return None
    return float(value)
