"""The stages of a question in a run: candidates, rewrites, scores, side inputs, decision.

Each stage is written to the shard as soon as it is done, so that a stopped run goes on from there.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from darc.decide.decision import Decision
from darc.decide.method import Method
from darc.decide.statistics.panel_disagreement import panel_disagreement
from darc.engine.copies import copy_flags, merge_copies
from darc.engine.cost import Clock, SharedTime
from darc.engine.engine import Engine
from darc.engine.failures import raise_cause
from darc.engine.flags import FEWER_CANDIDATES, STOPPED_EARLY
from darc.engine.languages import language_flags
from darc.engine.samples import Samples
from darc.errors import InputError
from darc.runs import records
from darc.runs.calls import calls_saved
from darc.runs.questions import Question
from darc.runs.shard import Shard
from darc.types import Candidate, Prompt, Scores


@dataclass(frozen=True)
class Stages:
    """Takes the questions of a shard through the stages."""

    shard: Shard
    engine: Engine
    #: Whether to leave out rewrites and scores that cannot change a decision.
    lazy: bool = False
    #: Divides the time of the run among the stages of the prompts in flight.
    shared_time: SharedTime = field(default_factory=SharedTime)

    async def answer(self, question: Question, count: Callable[[int], None]) -> None:
        """Take all turns of a question through the stages that are not written yet.

        Args:
            question: The question. A turn is asked after the answers that were chosen for the
                turns before it.
            count: Told of each turn that is done.

        Raises:
            DarcError: If a part fails.
        """
        answers: list[str] = []
        for _ in question.turns:
            prompt = question.prompt(answers)
            with raise_cause():
                samples = await self._write_candidates(prompt)
                await self._rewrite_score_and_decide(samples)
            answers.append(self.shard.rows("decisions.jsonl")[prompt.id]["answer"])
            count(1)

    async def _write_candidates(self, prompt: Prompt) -> Samples:
        """The samples of a prompt's candidates, before any is rewritten."""
        shard = self.shard
        row = records.prompt_row(prompt)
        if shard.rows("prompts.jsonl").get(prompt.id, row) != row:
            # Another answer was chosen for an earlier turn, so that this is another prompt now.
            shard.drop(prompt.id)
        shard.append("prompts.jsonl", row)
        samples = replace(
            self.engine.new_samples(prompt, patient=True),
            owner=prompt.id,
            clock=Clock(shared_time=self.shared_time),
        )
        if prompt.id in shard.rows("candidates.jsonl"):
            candidates = records.read_candidates(shard, prompt.id)
        else:
            candidates = await self._generate(samples)
        return replace(
            samples,
            candidates=candidates,
            n_aug=self.engine.parts.n_aug,
            first_sample=self.engine.method.first_sample,
        )

    async def _generate(self, samples: Samples) -> list[Candidate]:
        """Let the model write the candidates of a prompt."""
        prompt_id = samples.prompt.id
        with samples.clock.stage("generate"):
            written = await self.engine.write_candidates(samples)
        candidates = merge_copies(written.candidates).candidates
        row = records.candidates_row(prompt_id, candidates, written.failed, written.saved)
        self.shard.append("candidates.jsonl", row)
        tokens = sum(candidate.tokens for candidate in written.candidates)
        self._write_timing(samples, "generate", answers=len(written.candidates), tokens=tokens)
        return candidates

    async def _rewrite_score_and_decide(self, samples: Samples) -> None:
        """Take the candidates of a prompt through the stages that are not written yet."""
        shard = self.shard
        prompt_id = samples.prompt.id
        n_candidates = len(samples.candidates)
        old_scores = shard.rows("scores.jsonl").get(prompt_id)
        old_decision = shard.rows("decisions.jsonl").get(prompt_id)
        scores_incomplete = old_scores is None or bool(old_scores.get("lazy"))
        if old_decision is not None:
            decision_incomplete = scores_incomplete or bool(old_decision.get("lazy"))
            if self.lazy or not decision_incomplete:
                return
        if prompt_id in shard.rows("variants.jsonl"):
            samples.rewrites |= records.read_rewrites(shard, prompt_id, n_candidates)
        if old_scores is not None:
            samples.restore(records.read_scores(shard, prompt_id))
        decision: Decision | None = None
        if self.lazy and scores_incomplete:
            ranking = await self.engine.new_search(samples).best()
            decision = ranking.decision
        if decision is None or samples.complete:
            await samples.rewrite(range(n_candidates))
        self._write_rewrites(samples)
        if decision is None and scores_incomplete:
            await samples.score_all(range(n_candidates))
        self._write_scores(samples)
        await self._write_side_inputs(samples)
        if decision is None or samples.complete:
            # Where the search needed everything, the row is that of a run that is not lazy.
            with samples.clock.stage("decide"):
                decision = decide_prompt(shard, prompt_id, self.engine.method, samples.scores)
        self._write_decision(samples, decision)

    def _write_rewrites(self, samples: Samples) -> None:
        prompt_id = samples.prompt.id
        rejected = records.rejected_row(prompt_id, samples.rewrites)
        accepted = records.variants_row(prompt_id, samples.rewrites, len(samples.candidates))
        self.shard.append("rejected.jsonl", rejected)
        self.shard.append("variants.jsonl", accepted)
        proposed = len(rejected["rejected"]) + len(accepted["variants"])
        self._write_timing(samples, "rewrite", rewrites=proposed)

    def _write_scores(self, samples: Samples) -> None:
        row = records.scores_row(samples.prompt.id, samples.scores)
        self.shard.append("scores.jsonl", row)
        counts = samples.counts
        self._write_timing(samples, "score", scores=counts.scored, kept=counts.from_cache)

    async def _write_side_inputs(self, samples: Samples) -> None:
        prompt_id = samples.prompt.id
        if prompt_id in self.shard.rows("side.jsonl"):
            return
        with samples.clock.stage("side"):
            side = await self.engine.compute_side_inputs(samples.prompt, samples.candidates)
        self.shard.append("side.jsonl", {"prompt_id": prompt_id, **side})
        self._write_timing(samples, "side")

    def _write_decision(self, samples: Samples, decision: Decision) -> None:
        prompt_id = samples.prompt.id
        answer = samples.candidates[decision.index].text
        row = {"prompt_id": prompt_id, **decision.to_dict(), "answer": answer}
        row["flags"] += self._flags(samples)
        grades = samples.scores.grades
        if grades is not None and grades.shape[3] > 1:
            noise_variance = panel_disagreement(grades.mean(axis=0)).repeat_variance
            row["noise"] = None
            if not np.isnan(noise_variance):
                row["noise"] = float(np.sqrt(noise_variance))
        if not samples.complete:
            row["lazy"] = True
            saved = calls_saved(samples.scores)
            if saved:
                row["calls_saved"] = saved
        self.shard.append("decisions.jsonl", row)
        self._write_timing(samples, "decide")

    def _flags(self, samples: Samples) -> list[str]:
        """What the candidates themselves are flagged with."""
        candidates_row = self.shard.rows("candidates.jsonl")[samples.prompt.id]
        flags = []
        if candidates_row.get("failed"):
            flags.append(FEWER_CANDIDATES)
        if candidates_row.get("saved"):
            flags.append(STOPPED_EARLY)
        flags += copy_flags(samples.candidates)
        flags += language_flags(
            self.engine.tools, samples.prompt, samples.candidates, self.engine.parts.n_aug
        )
        return flags

    def _write_timing(self, samples: Samples, stage: str, **counts: int) -> None:
        """Write what a stage cost, if there was anything to do in it."""
        if stage not in samples.clock.milliseconds:
            return
        milliseconds = round(samples.clock.milliseconds[stage], 3)
        row = {"prompt_id": samples.prompt.id, "stage": stage, "milliseconds": milliseconds}
        self.shard.append_timing({**row, **counts})


def decide_prompt(shard: Shard, prompt_id: str, method: Method, scores: Scores) -> Decision:
    """Decide on the scores and side inputs of one prompt of a run.

    Raises:
        InputError: If the rule cannot be applied; names the shard and the prompt.
    """
    side = shard.rows("side.jsonl").get(prompt_id, {})
    try:
        return method.decide(prompt_id, scores, side)
    except InputError as problem:
        place = f"{shard.path}, prompt {prompt_id!r}"
        raise InputError(f"{place}: {problem.message}", problem.hint) from None
