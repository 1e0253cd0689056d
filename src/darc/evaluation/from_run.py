"""A run folder as something to evaluate."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.evaluation.source import NOBODY, Source
from darc.evaluation.stacking import stacked
from darc.pipeline import records
from darc.pipeline.folder import RunFolder
from darc.pipeline.manifest import check_complete, deciding_of
from darc.pipeline.summary import cost
from darc.types import Candidate

Array = NDArray[np.float64]

GIVEN, RULES = "given", "rules"


def read_run(path: Path, name: str | None = None) -> Source:
    """The candidates, scores and side inputs of a finished run; a lazy one must be completed."""
    folder = RunFolder(path)
    check_complete(folder)
    data = folder.manifest()
    ids = list(folder.rows("decisions.jsonl"))
    prompts = [records.read_prompt(folder, prompt_id) for prompt_id in ids]
    candidates = [records.read_candidates(folder, prompt_id) for prompt_id in ids]
    samples = stacked([records.read_scores(folder, prompt_id) for prompt_id in ids])
    numbers = np.broadcast_to(np.arange(samples.shape[3]), samples.shape)
    deciding = deciding_of(folder)
    return Source(
        name=name or path.resolve().name,
        kind="rewrite",
        prompt_ids=ids,
        candidate_ids=[[c.id for c in own] for own in candidates],
        scorers=[scorer["name"] for scorer in data["settings"]["scorers"]],
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, numbers),
        giver_names=["original", *(f"rewrite {i}" for i in range(1, samples.shape[3]))],
        tokens=stacked([np.array([float(c.tokens) for c in own]) for own in candidates]),
        side=_side(folder, ids),
        constants=deciding.constants,
        bounds=deciding.bounds,
        questions=[prompt.question for prompt in prompts],
        texts=[[candidate.text for candidate in own] for own in candidates],
        categories=[prompt.category for prompt in prompts],
        costs=_costs(folder),
        spent=_spent(folder, ids, candidates, samples.shape[3]),
        generator=data["settings"]["generator"]["name"],
        family=data["settings"]["rewrites"]["family"],
    )


def _costs(folder: RunFolder) -> dict[str, float]:
    """Seconds and counts by stage, and what became of the rewrites."""
    costs = {
        f"{stage} {unit}": number
        for stage, counts in cost(folder).items()
        for unit, number in counts.items()
    }
    for name, file in (("variants", "variants.jsonl"), ("rejected", "rejected.jsonl")):
        total = sum(len(row[name]) for row in folder.rows(file).values())
        costs["rewrites accepted" if name == "variants" else "rewrites refused"] = total
    return costs


def _spent(
    folder: RunFolder, ids: list[str], candidates: list[list[Candidate]], size: int
) -> dict[str, Array]:
    """Tokens by what they were spent on; a rewrite's follow its original's by characters.

    Answers that were given and rewrites made by rules cost none.
    """
    given = folder.manifest()["settings"]["generator"]["name"] == GIVEN
    generated, rewritten, scored = [], [], []
    for prompt_id, own in zip(ids, candidates, strict=True):
        made = records.read_perturbed(folder, prompt_id, len(own))
        tokens = np.array([float(c.tokens) for c in own])
        each = tokens / [max(1, len(c.text)) for c in own]
        read, written = np.full((len(own), size), np.nan), np.zeros(len(own))
        for k, candidate in enumerate(own):
            texts = [candidate.text, *(v.text for v in made[k].variants)][:size]
            read[k, : len(texts)] = [each[k] * len(text) for text in texts]
            for proposed in (made[k].variants, made[k].rejections):
                written[k] += each[k] * sum(len(p.text) for p in proposed if p.rewriter != RULES)
        generated.append(np.zeros(len(own)) if given else tokens)
        rewritten.append(written)
        scored.append(read)
    return {
        "generated": stacked(generated),
        "rewritten": stacked(rewritten),
        "scored": stacked(scored),
    }


def _side(folder: RunFolder, ids: list[str]) -> dict[str, Array]:
    """The side inputs that every prompt has, with a leading prompt axis."""
    rows: list[dict[str, Any]] = [folder.rows("side.jsonl").get(each, {}) for each in ids]
    names = set.intersection(*(set(row) for row in rows)) - {"prompt_id"}
    return {
        name: stacked([np.asarray(row[name], dtype=np.float64) for row in rows])
        for name in sorted(names)
    }
