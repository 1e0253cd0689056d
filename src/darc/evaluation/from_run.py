"""A run folder as something to evaluate."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.evaluation.source import NOBODY, Source
from darc.evaluation.stacking import stacked
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.runs.manifest import check_complete, deciding_of
from darc.runs.summary import Cost
from darc.types import Candidate, Prompt

Array = NDArray[np.float64]


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
    cost, rewrites = Cost(), Counter[str]()
    for shard in folder.shards():
        for prompt_id in shard.rows("decisions.jsonl"):
            ids.append(prompt_id)
            prompts.append(records.read_prompt(shard, prompt_id))
            candidates.append(records.read_candidates(shard, prompt_id))
            values.append(records.read_scores(shard, prompt_id).values)
            side.append(shard.rows("side.jsonl").get(prompt_id, {}))
        cost.add(shard)
        if "variants.jsonl" in shard.kept:
            for name, key in (("accepted", "variants"), ("refused", "rejected")):
                rows = shard.rows(f"{key}.jsonl").values()
                rewrites[f"rewrites {name}"] += sum(len(row[key]) for row in rows)
    samples = stacked(values)
    described = records.scores_of(settings, samples[0])
    numbers = np.broadcast_to(np.arange(samples.shape[3]), samples.shape)
    return Source(
        name=name or path.resolve().name,
        kind="rewrite",
        prompt_ids=ids,
        candidate_ids=[[c.name or str(c.index) for c in own] for own in candidates],
        scorers=list(described.scorers),
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, numbers),
        giver_names=list(described.samples),
        tokens=stacked([np.array([float(c.tokens) for c in own]) for own in candidates]),
        side=_side(side),
        constants=described.constants,
        bounds=described.bounds,
        questions=[prompt.question for prompt in prompts],
        texts=[[candidate.text for candidate in own] for own in candidates],
        categories=[prompt.category for prompt in prompts],
        costs={
            **{f"{s} {u}": x for s, counts in cost.by_stage.items() for u, x in counts.items()},
            **rewrites,
        },
        generator=settings["generator"]["name"],
        family=settings["rewrites"]["family"],
    )


def _side(rows: list[dict[str, Any]]) -> dict[str, Array]:
    """The side inputs that every prompt has, with a leading prompt axis."""
    names = set.intersection(*(set(row) for row in rows)) - {"prompt_id"}
    return {
        name: stacked([np.asarray(row[name], dtype=np.float64) for row in rows])
        for name in sorted(names)
    }
