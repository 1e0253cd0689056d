"""A run folder as something to evaluate."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.core.arrays import stacked
from darc.evaluation.source import NOBODY, Source
from darc.runs import records
from darc.runs.folder import RunFolder, check_complete, deciding_of
from darc.runs.run import cost_by_stage
from darc.runs.shard import Shard
from darc.types import Candidate, Prompt
from darc.typing import Array

if TYPE_CHECKING:
    from darc.perturb import Perturbed


GIVEN, RULES = "given", "rules"
SPENT = ("generated", "rewritten", "scored")


def read_run(path: Path, name: str | None = None) -> Source:
    """The candidates, scores and side inputs of a finished run; a lazy one must be completed."""
    folder = RunFolder(path)
    check_complete(folder)
    deciding_of(folder)
    settings = folder.manifest()["settings"]
    ids: list[str] = []
    prompts: list[Prompt] = []
    candidates: list[list[Candidate]] = []
    values: list[Array] = []
    side: list[dict[str, Any]] = []
    spent: list[dict[str, Array]] = []
    rewrites = Counter[str]()
    for shard in folder.shards():
        for prompt_id in shard.rows("decisions.jsonl"):
            ids.append(prompt_id)
            prompts.append(records.read_prompt(shard, prompt_id))
            candidates.append(records.read_candidates(shard, prompt_id))
            values.append(records.read_scores(shard, prompt_id).values)
            side.append(shard.rows("side.jsonl").get(prompt_id, {}))
            spent.append(_spent(shard, prompt_id, candidates[-1], values[-1].shape[2]))
        if "variants.jsonl" in shard.kept:
            for fate, key in (("accepted", "variants"), ("refused", "rejected")):
                rows = shard.rows(f"{key}.jsonl").values()
                rewrites[f"rewrites {fate}"] += sum(len(row[key]) for row in rows)
    samples = stacked(values)
    cost = cost_by_stage(folder.shards())
    described = records.scores_of(settings, samples[0])
    numbers = np.broadcast_to(np.arange(samples.shape[3]), samples.shape)
    named = [[candidate.name for candidate in own] for own in candidates]
    return Source(
        name=name or path.resolve().name,
        kind="panel" if described.sample == records.RATER else "rewrite",
        prompt_ids=ids,
        candidate_ids=[[c.id for c in own] for own in candidates],
        scorers=list(described.scorers),
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, numbers),
        giver_names=list(described.samples),
        tokens=stacked([np.array([float(c.tokens) for c in own]) for own in candidates]),
        side=_side(side),
        systems=named if any(map(any, named)) else (),
        constants=described.constants,
        bounds=described.bounds,
        questions=[prompt.question for prompt in prompts],
        texts=[[candidate.text for candidate in own] for own in candidates],
        categories=[prompt.category for prompt in prompts],
        costs={
            **{f"{s} {u}": x for s, counts in cost.items() for u, x in counts.items()},
            **rewrites,
        },
        spent={name: stacked([each[name] for each in spent]) for name in SPENT},
        generator=settings["generator"]["name"],
        family=settings["rewrites"]["family"],
    )


def _spent(shard: Shard, prompt_id: str, own: list[Candidate], size: int) -> dict[str, Array]:
    """Tokens of a prompt by what they were spent on; a rewrite's follow its original's characters.

    Answers that were given and rewrites made by rules cost none.
    """
    given = shard.settings["generator"]["name"] == GIVEN
    made: dict[int, Perturbed] = {}
    if "variants.jsonl" in shard.kept:
        made = records.read_perturbed(shard, prompt_id, len(own))
    tokens = np.array([float(c.tokens) for c in own])
    each = tokens / [max(1, len(c.text)) for c in own]
    read, written = np.full((len(own), size), np.nan), np.zeros(len(own))
    for k, candidate in enumerate(own):
        variants, rejections = (made[k].variants, made[k].rejections) if k in made else ((), ())
        texts = [candidate.text, *(v.text for v in variants)][:size]
        read[k, : len(texts)] = [each[k] * len(text) for text in texts]
        for proposed in (variants, rejections):
            written[k] += each[k] * sum(len(p.text) for p in proposed if p.rewriter != RULES)
    return {
        "generated": np.zeros(len(own)) if given else tokens,
        "rewritten": written,
        "scored": read,
    }


def _side(rows: list[dict[str, Any]]) -> dict[str, Array]:
    """The side inputs that every prompt has, with a leading prompt axis."""
    names = set.intersection(*(set(row) for row in rows)) - {"prompt_id"}
    return {
        name: stacked([np.asarray(row[name], dtype=np.float64) for row in rows])
        for name in sorted(names)
    }
