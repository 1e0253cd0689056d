"""The decisions of a run folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.engine.outcome import written_times
from darc.runs import records
from darc.runs.folder import RunFolder, check_complete
from darc.runs.new_method import NewMethod
from darc.runs.shard import Shard
from darc.runs.stages import decide_prompt
from darc.viewer.source import DecisionSource, DecisionView, ListedDecision, ReadProgress
from darc.viewer.stored_decision import StoredDecision, stored_decision

if TYPE_CHECKING:
    from darc.decide.method import Method

_REPORT_EVERY = 50


class RunSource(DecisionSource):
    """The decisions of a run as it made them, or made again by another method."""

    def __init__(self, path: Path, new_method: NewMethod | None = None) -> None:
        """Open a run.

        Args:
            path: Its folder.
            new_method: How to decide again, None for the decisions of the run itself.

        Raises:
            InputError: If it is not a run folder, or a lazy one that cannot decide again.
        """
        self.name = path.resolve().name
        self._folder = RunFolder(path)
        settings = self._folder.manifest()["settings"]
        self.rule = settings["decision"]["rule"]
        self._scorers = [scorer["name"] for scorer in settings["scorers"]]
        self._panel = settings.get("panel")
        self._method: Method | None = None
        if new_method is not None:
            check_complete(self._folder)
            self._method = new_method.method(self._folder)
            self.rule = self._method.text

    def decisions(self, progress: ReadProgress) -> Iterator[ListedDecision]:
        """Read the decisions shard by shard; see `DecisionSource.decisions`."""
        count = 0
        total = self._count_sealed()
        for shard in self._folder.shards():
            for prompt_id in shard.rows("decisions.jsonl"):
                yield self._read(shard, prompt_id).listed()
                count += 1
                if count % _REPORT_EVERY == 0:
                    progress(count, total)

    def decision_view(self, details: Mapping[str, Any]) -> DecisionView:
        """Make the page of a decision from its row."""
        return stored_decision(details).view()

    def _count_sealed(self) -> int | None:
        """How many prompts a finished run has, None for one that is not finished."""
        total = 0
        for shard in self._folder.shards():
            data = shard.seal_data
            if data is None:
                return None
            total += int(data["prompts"])
        return total

    def _read(self, shard: Shard, prompt_id: str) -> StoredDecision:
        row: Mapping[str, Any] = shard.rows("decisions.jsonl")[prompt_id]
        question = records.read_prompt(shard, prompt_id).question
        if "scores.jsonl" not in shard.kept:
            return StoredDecision(row=row, question=question)
        candidates = records.read_candidates(shard, prompt_id)
        scores = records.read_scores(shard, prompt_id)
        if self._method is not None:
            decision = decide_prompt(shard, prompt_id, self._method, scores)
            answer = candidates[decision.index].text
            row = {"prompt_id": prompt_id, **decision.to_dict(), "answer": answer}
        return StoredDecision(
            row=row,
            question=question,
            texts=[candidate.text for candidate in candidates],
            systems=[candidate.name for candidate in candidates],
            scores=records.number_lists(scores.values),
            scorers=self._scorers,
            samples=list(scores.samples),
            sample=scores.sample,
            notes=[written_times(candidate) for candidate in candidates],
        )
