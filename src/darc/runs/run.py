"""Many prompts, shard by shard and stage by stage, into a folder that can be gone on with."""

import asyncio
import itertools
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.method import Method
from darc.decide.statistics.repeats import components
from darc.engine.copies import copy_flags, merge_copies
from darc.engine.engine import Engine
from darc.engine.failures import raise_cause
from darc.engine.flags import FEWER_CANDIDATES, STOPPED_EARLY
from darc.engine.languages import language_flags
from darc.engine.samples import Samples
from darc.errors import DarcError, InputError, MissingExtra
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.runs.questions import Question
from darc.runs.shard import Shard
from darc.types import Prompt, Scores

logger = logging.getLogger(__name__)

WINDOW = 64
MOST_FAILURES = 20
Report = Callable[[str, int, int], None]
# What a row of candidates says of them, and the flag of a decision on them.
FLAGS = {"failed": FEWER_CANDIDATES, "saved": STOPPED_EARLY}
PARTS = ("sums", "counts", "flags", "refused")
NUMBERS = ("value", "mean", "sigma")


@dataclass(frozen=True)
class Stages:
    """The stages of some prompts in a shard; `lazy` leaves out what cannot change a decision."""

    shard: Shard
    engine: Engine
    lazy: bool = False

    async def answer(self, question: Question, count: Callable[[int], None]) -> None:
        """Take all turns of a question through the stages that are not yet written for them.

        A turn is asked after the answers that were chosen for the turns before it.
        """
        answers: list[str] = []
        for _ in question.turns:
            prompt = question.prompt(answers)
            with raise_cause():
                await self._advance(await self._candidates(prompt))
            answers.append(self.shard.rows("decisions.jsonl")[prompt.id]["answer"])
            count(1)

    async def _candidates(self, prompt: Prompt) -> Samples:
        """The candidates with what was said of them on the way, and nothing else yet."""
        shard, engine, row = self.shard, self.engine, records.prompt_row(prompt)
        if shard.rows("prompts.jsonl").get(prompt.id, row) != row:
            # Another answer was chosen for an earlier turn: this one is another prompt now.
            shard.drop(prompt.id)
        shard.append("prompts.jsonl", row)
        samples = replace(engine.new_samples(prompt), owner=prompt.id)
        if prompt.id in shard.rows("candidates.jsonl"):
            made = records.read_candidates(shard, prompt.id)
        else:
            with samples.clock.stage("generate"):
                drawn = await engine.write_candidates(samples)
            written, failed, saved = drawn.candidates, drawn.failed, drawn.saved
            made = merge_copies(written).candidates
            shard.append("candidates.jsonl", records.candidates_row(prompt.id, made, failed, saved))
            tokens = sum(candidate.tokens for candidate in written)
            self._note(samples, "generate", answers=len(written), tokens=tokens)
        return replace(
            samples,
            candidates=made,
            n_aug=engine.parts.n_aug,
            first_sample=engine.method.first_sample,
        )

    async def _advance(self, samples: Samples) -> None:
        """Rewrite, score and decide what is not written; each stage is written as it is done."""
        shard, engine = self.shard, self.engine
        prompt_id, count = samples.prompt.id, len(samples.candidates)
        row = shard.rows("scores.jsonl").get(prompt_id)
        decided = shard.rows("decisions.jsonl").get(prompt_id)
        lazy = row is None or bool(row.get("lazy"))
        if decided is not None and (self.lazy or not (lazy or decided.get("lazy"))):
            return
        if prompt_id in shard.rows("variants.jsonl"):
            samples.rewrites |= records.read_perturbed(shard, prompt_id, count)
        if row is not None:
            samples.restore(records.read_scores(shard, prompt_id))
        decision: Decision | None = None
        if self.lazy and lazy:
            decision = (await engine.new_search(samples).best()).decision
        if decision is None or samples.complete:
            await samples.rewrite(range(count))
        refused, accepted = records.rewrite_rows(prompt_id, samples.rewrites, count)
        shard.append("rejected.jsonl", refused)
        shard.append("variants.jsonl", accepted)
        proposed = len(refused["rejected"]) + len(accepted["variants"])
        self._note(samples, "rewrite", rewrites=proposed)
        if decision is None and lazy:
            await samples.score_all(range(count))
        shard.append("scores.jsonl", records.scores_row(prompt_id, samples.scores))
        self._note(samples, "score", scores=samples.counts.scored, kept=samples.counts.from_cache)
        if prompt_id not in shard.rows("side.jsonl"):
            with samples.clock.stage("side"):
                side = await engine.compute_side_inputs(samples.prompt, samples.candidates)
            shard.append("side.jsonl", {"prompt_id": prompt_id, **side})
            self._note(samples, "side")
        if decision is None or samples.complete:
            # Where the search needed everything, the row is that of a run that is not lazy.
            with samples.clock.stage("decide"):
                decision = decide(shard, prompt_id, engine.method, samples.scores)
        self._decided(samples, decision)

    def _decided(self, samples: Samples, decision: Decision) -> None:
        answer, made = samples.candidates[decision.index].text, self.shard.rows("candidates.jsonl")
        row = {"prompt_id": samples.prompt.id, **decision.to_dict(), "answer": answer}
        row["flags"] += [flag for key, flag in FLAGS.items() if made[samples.prompt.id].get(key)]
        row["flags"] += copy_flags(samples.candidates)
        row["flags"] += language_flags(
            self.engine.tools, samples.prompt, samples.candidates, self.engine.parts.n_aug
        )
        grades = samples.scores.grades
        if grades is not None and grades.shape[3] > 1:
            within = components(grades.mean(axis=0)).within
            row["noise"] = None if np.isnan(within) else float(np.sqrt(within))
        if not samples.complete:
            row["lazy"] = True
        self.shard.append("decisions.jsonl", row)
        self._note(samples, "decide")

    def _note(self, samples: Samples, stage: str, **counts: int) -> None:
        """Note what a stage cost, if there was anything to do in it."""
        if stage in samples.clock.milliseconds:
            spent = round(samples.clock.milliseconds[stage], 3)
            told = {"prompt_id": samples.prompt.id, "stage": stage, "milliseconds": spent}
            self.shard.note({**told, **counts})


def decide(shard: Shard, prompt_id: str, method: Method, scores: Scores) -> Decision:
    """The decision on the scores and side inputs of one prompt of a run."""
    side = shard.rows("side.jsonl").get(prompt_id, {})
    try:
        return method.decide(prompt_id, scores, side)
    except InputError as problem:
        where = f"{shard.path}, prompt {prompt_id!r}"
        raise InputError(f"{where}: {problem.message}", problem.hint) from None


@dataclass
class Failures:
    """Prompts that could not be finished, and why; too many of them end the run."""

    causes: dict[str, DarcError] = field(default_factory=dict)

    def add(self, prompt_id: str, problem: DarcError) -> None:
        """Note a failure; a mistake of the user's, or one failure too many, is raised."""
        if isinstance(problem, InputError | MissingExtra):
            raise problem
        self.causes[prompt_id] = problem
        logger.error("prompt %r failed: %s", prompt_id, problem)
        if len(self.causes) >= MOST_FAILURES:
            self.check()

    def check(self) -> None:
        """Raise the first failure, and say how many there are."""
        if not self.causes:
            return
        first, *others = self.causes.values()
        if not others:
            raise first
        names = f"{len(self.causes)} prompts failed ({', '.join(list(self.causes)[:8])})"
        raise DarcError(f"{names}, the first: {first.message}", first.hint)


async def fill_shards(
    shards: Iterable[tuple[Shard, list[Question]]],
    engine: Engine,
    *,
    lazy: bool = False,
    keep: str = "all",
    pack: bool = False,
    window: int = WINDOW,
    count: Callable[[int], None] = lambda more: None,
    failures: Failures | None = None,
) -> None:
    """Take the questions of shards through all stages, and seal each shard that is done.

    At most `window` questions are at work at a time, of as few shards as that takes. A question
    that fails leaves its shard open; the others go on, and the failure is raised at the end.
    """
    failures = Failures() if failures is None else failures
    places = asyncio.Semaphore(window)

    async def one(stages: Stages, question: Question) -> None:
        try:
            await stages.answer(question, count)
        except DarcError as problem:
            failures.add(question.id, problem)
        finally:
            places.release()

    async def sealed(shard: Shard, tasks: list["asyncio.Task[None]"], ids: list[str]) -> None:
        await asyncio.gather(*tasks)
        if not failures.causes.keys() & set(ids):
            shard.seal(ids, keep, pack, totals(shard), cost_by_stage([shard]))

    try:
        async with asyncio.TaskGroup() as group:
            for shard, questions in shards:
                stages, tasks = Stages(shard, engine, lazy), []
                for question in questions:
                    await places.acquire()
                    tasks.append(group.create_task(one(stages, question)))
                turns = [(turn, q.turn_id(turn)) for q in questions for turn in range(len(q.turns))]
                ids = [prompt_id for _, prompt_id in sorted(turns, key=itemgetter(0))]
                group.create_task(sealed(shard, tasks, ids))
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
    failures.check()


def run(
    folder: RunFolder,
    questions: Iterable[Question],
    engine: Engine,
    *,
    lazy: bool = False,
    keep: str = "all",
    pack: bool = False,
    window: int = WINDOW,
    report: Report = lambda stage, done, total: None,
) -> None:
    """Take every question through all stages; what is written already is not done again.

    `report(stage, done, total)` counts prompts. What a lazy run left out is made when this one is
    not lazy. Of a finished shard `keep` says what is left, and `pack` compresses it.
    """
    count = counter("deciding", questions, report)

    def begun() -> Iterator[tuple[Shard, list[Question]]]:
        for shard, part in waiting(folder, questions, lazy, count):
            shard.begin()
            yield shard, part

    engine.run(
        fill_shards(begun(), engine, lazy=lazy, keep=keep, pack=pack, window=window, count=count)
    )
    finish(folder)


def counter(stage: str, questions: Iterable[Question], report: Report) -> Callable[[int], None]:
    """What hears of prompts that are done, and reports how many of all are."""
    turns = getattr(questions, "turns", None)
    total = sum(len(question.turns) for question in questions) if turns is None else turns
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        report(stage, done, total)

    return count


def waiting(
    folder: RunFolder, questions: Iterable[Question], lazy: bool, count: Callable[[int], None]
) -> Iterator[tuple[Shard, list[Question]]]:
    """The shards that are not finished, with their questions; the others are counted at once."""
    size, left = int(folder.manifest().get("shard_size", 0)), iter(questions)
    for number in itertools.count():
        part = list(itertools.islice(left, size or None))
        if not part:
            return
        shard = folder.shard(number)
        if shard.finished(lazy):
            count(sum(len(question.turns) for question in part))
        else:
            yield shard, part


def finish(folder: RunFolder) -> None:
    """Write down that the run is done, and whether nothing was left out."""
    seals = [shard.seal_data for shard in folder.shards()]
    complete = not any(seal is None or seal.get("lazy") for seal in seals)
    done = {"finished": True, "complete": complete, "shards": len(seals)}
    folder.write_manifest({**folder.manifest(), **done})


def summary(folder: RunFolder, method: Method) -> dict[str, Any]:
    """The averages of the choices, the rewrites by what became of them, and the cost by stage.

    Of sealed shards nothing is read but what was noted of them: whoever asks has checked them.
    """
    every: dict[str, Any] = {name: Counter() for name in PARTS}
    for shard in folder.shards():
        own = (shard.seal_data or {}).get("totals") or totals(shard)
        for name in PARTS:
            every[name].update(own[name])
    sums, counts, flags, refused = every.values()
    prompts = counts["prompts"]
    return {
        "prompts": prompts,
        "rule": method.text,
        "choices": {n: sums[n] / counts[n] if counts[n] else None for n in NUMBERS},
        "unhappy": counts["unhappy"] / counts["ratings"] if counts["ratings"] else None,
        "flags": dict(flags),
        "answers": counts["answers"],
        "saved": counts["saved"],
        "accepted": counts["accepted"],
        "refused": dict(refused.most_common()),
        "clipped": sums["clipped"] / max(1, prompts),
        "complete": bool(folder.manifest().get("complete")),
        "cost": cost_by_stage(folder.shards()),
    }


def totals(shard: Shard) -> dict[str, dict[str, Any]]:
    """Sums and counts over a shard's prompts, by what its files still have."""
    found: dict[str, Any] = {name: Counter() for name in PARTS}
    (sums, counts, flags, refused), kept = found.values(), shard.kept
    # Sums are rounded: always in one order, whichever prompt was done first.
    for prompt_id, row in sorted(shard.rows("decisions.jsonl").items()):
        chosen = next(c for c in row["candidates"] if c["index"] == row["index"])
        counts["prompts"] += 1
        flags.update(flag.partition(":")[0] for flag in row["flags"])
        opinions = _opinions_of_choice(row)
        if opinions is not None:
            counts["unhappy"] += opinions["unhappy"]
            counts["ratings"] += opinions["ratings"]
        for name in NUMBERS:
            if chosen[name] is not None:
                sums[name] += chosen[name]
                counts[name] += 1
        if "scores.jsonl" in kept:
            sums["clipped"] += records.read_scores(shard, prompt_id).share_clipped
    if "candidates.jsonl" in kept:
        for row in shard.rows("candidates.jsonl").values():
            counts["answers"] += sum(each.get("copies", 1) for each in row["candidates"])
            if row.get("saved"):
                counts["saved"] += row["saved"]
    if "variants.jsonl" in kept:
        rows = shard.rows("variants.jsonl").values()
        counts["accepted"] += sum(len(row["variants"]) for row in rows)
        for row in shard.rows("rejected.jsonl").values():
            refused.update(each["reason"].split(":", 1)[0] for each in row["rejected"])
    return {name: dict(sorted(part.items())) for name, part in found.items()}


def _opinions_of_choice(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a decision's row says of people's opinions about the choice, None where it does not.

    The scores of rewrites are not people's, and a folder of an earlier version has no opinions.
    """
    people = row.get("people")
    if people is None or people["unhappy_below"] is None:
        return None
    return next(answer for answer in people["answers"] if answer["index"] == row["index"])


def cost_by_stage(shards: Iterable[Shard]) -> dict[str, dict[str, float]]:
    """Seconds and counts by stage of some shards, over all sittings."""
    found: dict[str, Any] = defaultdict(Counter)
    for shard in shards:
        noted = shard.noted_cost()
        for note in shard.notes() if noted is None else ():
            units = {unit: note.get(unit, 0) for unit in records.UNITS.get(note["stage"], ())}
            found[note["stage"]].update({"seconds": note["milliseconds"] / 1000, **units})
        for stage, spent in (noted or {}).items():
            found[stage].update(spent)
    return {stage: dict(found[stage]) for stage in records.UNITS if found[stage]}
