"""One prompt through the stages of a run, each written as it is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.generators.base import Generator, Settings
from darc.perturb import Perturbed
from darc.pipeline import records
from darc.pipeline.choose import choose
from darc.pipeline.clock import Clock
from darc.pipeline.deciding import Deciding
from darc.pipeline.engine import Engine
from darc.pipeline.folder import RunFolder
from darc.pipeline.questions import Question
from darc.pipeline.side import SideMaker
from darc.selection.decision import Decision
from darc.types import Prompt

AT_ONCE = 16
Say = Callable[[str], None]


@dataclass(frozen=True)
class Job:
    """What is done to every prompt; `lazy` leaves out what cannot change the decision."""

    generator: Generator
    settings: Settings
    engine: Engine
    deciding: Deciding
    side: SideMaker
    lazy: bool = False

    @property
    def together(self) -> int:
        """How many prompts are answered at once."""
        return max(1, -(-int(getattr(self.generator, "parallel", AT_ONCE)) // self.settings.k))


@dataclass(frozen=True)
class Stages:
    """A job in a folder."""

    folder: RunFolder
    job: Job

    def answers(self, question: Question, turn: int) -> list[str]:
        """The answers chosen for a question's earlier turns."""
        rows = self.folder.rows("decisions.jsonl")
        return [rows[question.turn_id(earlier)]["answer"] for earlier in range(turn)]

    def write(self, prompts: Sequence[Prompt], report: Callable[[int, int], None]) -> None:
        """Answer those prompts that have no candidates yet, all at once."""
        for prompt in prompts:
            row = records.prompt_row(prompt)
            known = self.folder.rows("prompts.jsonl").get(prompt.id)
            if known is not None and known != row:
                # Another answer was chosen for an earlier turn: this one is another prompt now.
                self.folder.drop(prompt.id)
                known = None
            if known is None:
                self.folder.append("prompts.jsonl", row)
        missing = [p for p in prompts if p.id not in self.folder.rows("candidates.jsonl")]
        if not missing:
            return
        clock = Clock()
        with clock.stage("generate"):
            made = self.job.generator.generate(missing, self.job.settings, report)
        for prompt, candidates in zip(missing, made, strict=True):
            self.folder.append("candidates.jsonl", records.candidates_row(prompt.id, candidates))
            share = clock.milliseconds["generate"] / len(missing)
            tokens = sum(candidate.tokens for candidate in candidates)
            self._note(prompt, "generate", share, answers=len(candidates), tokens=tokens)

    def advance(self, prompt: Prompt, say: Say) -> None:
        """Take a prompt with candidates through the stages that are not yet written for it."""
        row = self.folder.rows("scores.jsonl").get(prompt.id)
        decided = self.folder.rows("decisions.jsonl").get(prompt.id)
        lazy = row is None or bool(row.get("lazy"))
        if decided is not None and (self.job.lazy or not (lazy or decided.get("lazy"))):
            return
        if self.job.lazy and lazy:
            self._lazily(prompt, say)
        else:
            self._fully(prompt, say)

    def _lazily(self, prompt: Prompt, say: Say) -> None:
        """Rewrite and score what can matter, and decide."""
        say("choosing")
        job, clock = self.job, Clock()
        candidates = records.read_candidates(self.folder, prompt.id)
        before = (job.engine.scoring.asked, job.engine.scoring.kept)
        story = choose(
            job.engine,
            prompt,
            candidates,
            job.deciding.spec,
            normalize=job.deciding.normalize,
            side=job.side,
            clock=clock,
        )
        made = {
            k: Perturbed(
                tuple(story.variants[k]), tuple(r for r in story.rejections if r.candidate == k)
            )
            for k in story.rewritten
        }
        seen = ~np.isnan(story.scores[0])
        first = 0 if job.engine.include_original else 1
        whole = [
            k in made and bool(seen[k, first : len(made[k].variants) + 1].all())
            for k in range(len(candidates))
        ]
        lazy = not all(whole)
        names = [scorer.name for scorer in job.engine.scorers]
        self._append("rejected.jsonl", records.rejected_row(prompt.id, made))
        self._append("variants.jsonl", records.variants_row(prompt.id, made, len(candidates)))
        self._append("scores.jsonl", records.scores_row(prompt.id, names, story.scores, lazy=lazy))
        self._side(prompt)
        self._decision(prompt, story.decision, lazy=lazy)
        proposed = sum(len(each.variants) + len(each.rejections) for each in made.values())
        self._note(prompt, "rewrite", clock.milliseconds.get("rewrite", 0.0), rewrites=proposed)
        self._scored(prompt, clock.milliseconds.get("score", 0.0), before)

    def _fully(self, prompt: Prompt, say: Say) -> None:
        """Make every rewrite, score everything, decide; each stage is written as it is done."""
        self._rewrite(prompt, say)
        self._score(prompt, say)
        self._side(prompt)
        decided = self.folder.rows("decisions.jsonl").get(prompt.id)
        if decided is None or decided.get("lazy"):
            say("deciding")
            clock = Clock()
            with clock.stage("decide"):
                decision = decide(self.folder, prompt.id, self.job.deciding)
            self._decision(prompt, decision)
            self._note(prompt, "decide", clock.milliseconds["decide"])

    def _rewrite(self, prompt: Prompt, say: Say) -> None:
        row = self.folder.rows("variants.jsonl").get(prompt.id)
        if row is not None and "rewritten" not in row:
            return
        say("rewriting")
        candidates = records.read_candidates(self.folder, prompt.id)
        made = (
            {} if row is None else records.read_perturbed(self.folder, prompt.id, len(candidates))
        )
        missing = [candidate for candidate in candidates if candidate.index not in made]
        clock = Clock()
        with clock.stage("rewrite"):
            fresh = self.job.engine.rewrite(prompt, missing)
        made.update({c.index: each for c, each in zip(missing, fresh, strict=True)})
        self.folder.append("rejected.jsonl", records.rejected_row(prompt.id, made))
        self.folder.append("variants.jsonl", records.variants_row(prompt.id, made, len(candidates)))
        proposed = sum(len(each.variants) + len(each.rejections) for each in fresh)
        self._note(prompt, "rewrite", clock.milliseconds["rewrite"], rewrites=proposed)

    def _score(self, prompt: Prompt, say: Say) -> None:
        row = self.folder.rows("scores.jsonl").get(prompt.id)
        if row is not None and not row.get("lazy"):
            return
        say("scoring")
        engine = self.job.engine
        candidates = records.read_candidates(self.folder, prompt.id)
        made = records.read_perturbed(self.folder, prompt.id, len(candidates))
        scores = np.full((len(engine.scorers), len(candidates), engine.n_aug + 1), np.nan)
        if row is not None:
            scores[:] = records.read_scores(self.folder, prompt.id)
        alone = not any(each.variants for each in made.values())
        first = 0 if engine.include_original or alone else 1
        texts = {
            (k, i): text
            for k, candidate in enumerate(candidates)
            for i, text in enumerate([candidate.text, *(v.text for v in made[k].variants)])
            if i >= first and np.isnan(scores[0, k, i])
        }
        before = (engine.scoring.asked, engine.scoring.kept)
        clock = Clock()
        with clock.stage("score"):
            if texts:
                fresh = engine.score(prompt, list(texts.values()))
                for (k, i), numbers in zip(texts, fresh, strict=True):
                    scores[:, k, i] = numbers
        names = [scorer.name for scorer in engine.scorers]
        self.folder.append("scores.jsonl", records.scores_row(prompt.id, names, scores))
        self._scored(prompt, clock.milliseconds["score"], before)

    def _side(self, prompt: Prompt) -> None:
        if prompt.id not in self.folder.rows("side.jsonl"):
            clock = Clock()
            with clock.stage("side"):
                candidates = records.read_candidates(self.folder, prompt.id)
                side = self.job.side.make(prompt, candidates)
            self.folder.append("side.jsonl", {"prompt_id": prompt.id, **side})
            self._note(prompt, "side", clock.milliseconds["side"])

    def _decision(self, prompt: Prompt, decision: Decision, lazy: bool = False) -> None:
        candidates = records.read_candidates(self.folder, prompt.id)
        answer = candidates[decision.index].text
        row = {"prompt_id": prompt.id, **decision.to_dict(), "answer": answer}
        self.folder.append("decisions.jsonl", {**row, "lazy": True} if lazy else row)

    def _append(self, name: str, row: dict[str, Any]) -> None:
        """Add a row that a killed run may have written already."""
        if self.folder.rows(name).get(row["prompt_id"]) != row:
            self.folder.append(name, row)

    def _scored(self, prompt: Prompt, milliseconds: float, before: tuple[int, int]) -> None:
        asked, kept = self.job.engine.scoring.asked, self.job.engine.scoring.kept
        self._note(prompt, "score", milliseconds, scores=asked - before[0], kept=kept - before[1])

    def _note(self, prompt: Prompt, stage: str, milliseconds: float, **counts: int) -> None:
        spent = round(milliseconds, 3)
        self.folder.note({"prompt_id": prompt.id, "stage": stage, "milliseconds": spent, **counts})


def decide(folder: RunFolder, prompt_id: str, deciding: Deciding) -> Decision:
    """The decision on the scores and side inputs of one prompt of a run."""
    side = folder.rows("side.jsonl").get(prompt_id, {})
    try:
        return deciding.decide(prompt_id, records.read_scores(folder, prompt_id), side)
    except InputError as problem:
        where = f"{folder.path}, prompt {prompt_id!r}"
        raise InputError(f"{where}: {problem.message}", problem.hint) from None
