"""Many prompts, stage by stage, into a run folder that can be gone on with."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.api import select
from darc.errors import InputError
from darc.generators.base import Generator, Settings
from darc.pipeline.engine import Clock, Engine
from darc.pipeline.folder import RunFolder
from darc.pipeline.questions import Question
from darc.pipeline.rule_spec import RuleSpec
from darc.pipeline.story import Story
from darc.types import Candidate, Message, Prompt, Rejection, Variant

Array = NDArray[np.float64]
Report = Callable[[int, int], None]


def run(
    folder: RunFolder,
    questions: Sequence[Question],
    generator: Generator,
    settings: Settings,
    engine: Engine,
    spec: RuleSpec,
    *,
    restart: str | None = None,
    report: Report = lambda done, total: None,
) -> None:
    """Take every question through all stages; what is written already is not done again.

    Turns of one question follow each other: the second is asked after the answer chosen for the
    first. `restart` forgets a stage and the later ones. `report(done, total)` counts prompts.
    """
    if restart is not None:
        folder.restart(restart)
    total = sum(len(question.turns) for question in questions)
    done = 0
    for turn in range(max(len(question.turns) for question in questions)):
        for question in questions:
            if turn < len(question.turns):
                prompt = question.prompt(_answers(folder, question, turn))
                _advance(folder, prompt, generator, settings, engine, spec)
                done += 1
                report(done, total)
    folder.write_manifest({**folder.manifest(), "complete": True})


def _answers(folder: RunFolder, question: Question, turn: int) -> list[str]:
    rows = folder.rows("decisions.jsonl")
    return [rows[question.turn_id(earlier)]["answer"] for earlier in range(turn)]


def _advance(
    folder: RunFolder,
    prompt: Prompt,
    generator: Generator,
    settings: Settings,
    engine: Engine,
    spec: RuleSpec,
) -> None:
    """Take one prompt through the stages that are not yet written for it."""
    clock = Clock()
    if prompt.id not in folder.rows("prompts.jsonl"):
        folder.append("prompts.jsonl", _prompt_row(prompt))
    if prompt.id not in folder.rows("candidates.jsonl"):
        with clock.stage("generate"):
            (made,) = generator.generate([prompt], settings)
        folder.append("candidates.jsonl", _rows(prompt, "candidates", made))
    candidates = read_candidates(folder, prompt.id)
    if prompt.id not in folder.rows("variants.jsonl"):
        with clock.stage("rewrite"):
            rewritten = [engine.rewrite(prompt, candidate) for candidate in candidates]
        rejected = [rejection for each in rewritten for rejection in each.rejections]
        if prompt.id not in folder.rows("rejected.jsonl"):
            folder.append("rejected.jsonl", _rows(prompt, "rejected", rejected))
        variants = [variant for each in rewritten for variant in each.variants]
        folder.append("variants.jsonl", _rows(prompt, "variants", variants))
    if prompt.id not in folder.rows("scores.jsonl"):
        with clock.stage("score"):
            scores = _score(folder, prompt, candidates, engine)
        names = [scorer.name for scorer in engine.scorers]
        row = {"prompt_id": prompt.id, "scorers": names, "scores": _lists(scores)}
        folder.append("scores.jsonl", row)
    if prompt.id not in folder.rows("decisions.jsonl"):
        with clock.stage("decide"):
            decision = decide_row(folder, prompt.id, spec, engine.seed)
        answer = candidates[decision.index].text
        row = {"prompt_id": prompt.id, **decision.to_dict(), "answer": answer}
        folder.append("decisions.jsonl", row)
        spent = {name: round(value, 3) for name, value in clock.milliseconds.items()}
        folder.append("timings.jsonl", {"prompt_id": prompt.id, **spent})


def _score(
    folder: RunFolder, prompt: Prompt, candidates: Sequence[Candidate], engine: Engine
) -> Array:
    variants = read_variants(folder, prompt.id, len(candidates))
    texts = [[c.text, *(v.text for v in own)] for c, own in zip(candidates, variants, strict=True)]
    flat = engine.score(prompt, [text for own in texts for text in own])
    scores = np.full((len(engine.scorers), len(candidates), engine.n_aug + 1), np.nan)
    place = 0
    for row, own in enumerate(texts):
        scores[:, row, : len(own)] = flat[place : place + len(own)].T
        place += len(own)
    return scores


def decide_row(folder: RunFolder, prompt_id: str, spec: RuleSpec, seed: int) -> Any:
    """The decision on the scores of one prompt, normalised within the prompt."""
    scores = read_scores(folder, prompt_id)
    return select(
        scores,
        spec.rule,
        beta=spec.beta,
        gamma=spec.gamma,
        seed=seed,
        prompt_id=prompt_id,
        sample="rewrite",
    )


def read_story(folder: RunFolder, prompt_id: str, spec: RuleSpec, seed: int) -> Story:
    """The `Story` of one prompt of a finished run."""
    row = folder.rows("prompts.jsonl").get(prompt_id)
    if row is None:
        known = ", ".join(list(folder.rows("prompts.jsonl"))[:8])
        raise InputError(f"{folder.path} has no prompt {prompt_id!r}", f"it has {known}, ...")
    if prompt_id not in folder.rows("decisions.jsonl"):
        raise InputError(f"prompt {prompt_id!r} is not finished", "go on with: darc run")
    messages = tuple(Message(**message) for message in row["messages"])
    candidates = read_candidates(folder, prompt_id)
    rejected = folder.rows("rejected.jsonl")[prompt_id]["rejected"]
    scores = folder.rows("scores.jsonl")[prompt_id]
    return Story(
        Prompt(prompt_id, messages, row["category"]),
        candidates,
        read_variants(folder, prompt_id, len(candidates)),
        [Rejection(prompt_id, **each) for each in rejected],
        scores["scorers"],
        read_scores(folder, prompt_id),
        decide_row(folder, prompt_id, spec, seed),
        {
            k: v
            for k, v in folder.rows("timings.jsonl").get(prompt_id, {}).items()
            if k != "prompt_id"
        },
        int((~np.isnan(read_scores(folder, prompt_id)[0])).sum()),
    )


def read_candidates(folder: RunFolder, prompt_id: str) -> list[Candidate]:
    """The candidates of a prompt."""
    rows = folder.rows("candidates.jsonl")[prompt_id]["candidates"]
    return [Candidate(prompt_id, **row) for row in rows]


def read_variants(folder: RunFolder, prompt_id: str, count: int) -> list[list[Variant]]:
    """The variants of each of a prompt's candidates."""
    rows = folder.rows("variants.jsonl")[prompt_id]["variants"]
    made = [Variant(prompt_id, **row) for row in rows]
    return [[v for v in made if v.candidate == k] for k in range(count)]


def read_scores(folder: RunFolder, prompt_id: str) -> Array:
    """The scores of a prompt, (M, K, n), NaN where there is no sample."""
    return np.array(folder.rows("scores.jsonl")[prompt_id]["scores"], dtype=np.float64)


def _prompt_row(prompt: Prompt) -> dict[str, Any]:
    messages = [asdict(message) for message in prompt.messages]
    return {"prompt_id": prompt.id, "category": prompt.category, "messages": messages}


def _rows(prompt: Prompt, name: str, items: Sequence[Any]) -> dict[str, Any]:
    rows = [asdict(item) for item in items]
    for row in rows:
        row.pop("prompt_id")
    return {"prompt_id": prompt.id, name: rows}


def _lists(scores: Array) -> list[Any]:
    return [[[None if np.isnan(x) else float(x) for x in own] for own in each] for each in scores]


def manifest(settings: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, Any]:
    """What identifies a run: its settings and its questions, nothing of the clock."""
    text = json.dumps([asdict(question) for question in questions], ensure_ascii=False)
    return {"settings": dict(settings), "input": hashlib.sha256(text.encode()).hexdigest()}


def summary(folder: RunFolder) -> str:
    """The averages of the choices, the share of rewrites accepted, and the time by stage."""
    decisions = list(folder.rows("decisions.jsonl").values())
    chosen = [row["candidates"][row["index"]] for row in decisions]
    accepted = sum(len(row["variants"]) for row in folder.rows("variants.jsonl").values())
    refused = sum(len(row["rejected"]) for row in folder.rows("rejected.jsonl").values())
    spent: dict[str, float] = {}
    for row in folder.rows("timings.jsonl").values():
        for name, value in row.items():
            if name != "prompt_id":
                spent[name] = spent.get(name, 0.0) + value / 1000
    lines = [f"{len(decisions)} prompts"]
    for name in ("value", "mean", "sigma"):
        known = [row[name] for row in chosen if row[name] is not None]
        lines.append(f"{name} of the choices: {np.mean(known):.3f}" if known else f"{name}: -")
    lines.append(f"rewrites: {accepted} accepted, {refused} refused")
    lines.append("seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in spent.items()))
    return "\n".join(lines)
