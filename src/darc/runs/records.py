"""Rows of a run folder's files, what they stand for, and a finished run in a few lines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.perturb import Perturbed
from darc.runs.shard import Shard
from darc.types import Candidate, Message, Prompt, Rejection, Scores, Variant
from darc.typing import Array

if TYPE_CHECKING:
    from darc.engine.deciding import Deciding
    from darc.runs.folder import RunFolder

RATER = "rater"


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """A prompt as a row."""
    messages = [asdict(message) for message in prompt.messages]
    return {"prompt_id": prompt.id, "category": prompt.category, "messages": messages}


def candidates_row(
    prompt_id: str, candidates: Sequence[Candidate], failed: int = 0, saved: int = 0
) -> dict[str, Any]:
    """The candidates of a prompt as a row, with how many failed and how many were not worth it."""
    rows = [_plain(each) for each in candidates]
    for each in rows:
        if not each["name"]:
            each.pop("name")
    counts = {"failed": failed, "saved": saved}
    told = {name: count for name, count in counts.items() if count}
    return {"prompt_id": prompt_id, "candidates": rows, **told}


def variants_row(prompt_id: str, made: dict[int, Perturbed], count: int) -> dict[str, Any]:
    """The accepted rewrites as a row; `rewritten` says of which, where it was not all of them."""
    variants = [_plain(v) for k in sorted(made) for v in made[k].variants]
    row: dict[str, Any] = {"prompt_id": prompt_id, "variants": variants}
    return row if len(made) == count else {**row, "rewritten": sorted(made)}


def rejected_row(prompt_id: str, made: dict[int, Perturbed]) -> dict[str, Any]:
    """The refused rewrites as a row."""
    rejected = [_plain(r) for k in sorted(made) for r in made[k].rejections]
    return {"prompt_id": prompt_id, "rejected": rejected}


def scores_row(prompt_id: str, scores: Scores) -> dict[str, Any]:
    """Scores as a row, null where there is none; `lazy` where more could be had.

    Those of a panel name the `raters`; `grades` (criteria, candidates, raters, repeats) are what
    they said where that is more than one number each, and `missing` what could not be had.
    """
    row: dict[str, Any] = {
        "prompt_id": prompt_id,
        "scorers": list(scores.scorers),
        "scores": numbers(scores.values),
    }
    if scores.sample == RATER:
        row["raters"] = list(scores.samples)
    if scores.criteria:
        row["criteria"] = list(scores.criteria)
    if scores.grades is not None:
        row["grades"] = numbers(scores.grades)
    if scores.failed:
        row["missing"] = [list(pair) for pair in scores.failed]
    return row if scores.complete else {**row, "lazy": True}


def numbers(values: Array) -> list[Any]:
    """An array as lists, None where it is NaN."""
    if values.ndim > 1:
        return [numbers(each) for each in values]
    return [None if x != x else x for x in values.tolist()]


def read_prompt(shard: Shard, prompt_id: str) -> Prompt:
    """A prompt of a run."""
    row = shard.rows("prompts.jsonl")[prompt_id]
    messages = tuple(Message(**message) for message in row["messages"])
    return Prompt(prompt_id, messages, row["category"])


def read_candidates(shard: Shard, prompt_id: str) -> list[Candidate]:
    """The candidates of a prompt."""
    rows = shard.rows("candidates.jsonl")[prompt_id]["candidates"]
    return [Candidate(prompt_id, **row) for row in rows]


def read_perturbed(shard: Shard, prompt_id: str, count: int) -> dict[int, Perturbed]:
    """The rewrites of those of a prompt's candidates that were rewritten."""
    row = shard.rows("variants.jsonl")[prompt_id]
    refused = shard.rows("rejected.jsonl")[prompt_id]["rejected"]
    variants = [Variant(prompt_id, **each) for each in row["variants"]]
    rejections = [Rejection(prompt_id, **each) for each in refused]
    return {
        k: Perturbed(
            tuple(v for v in variants if v.candidate == k),
            tuple(r for r in rejections if r.candidate == k),
        )
        for k in row.get("rewritten", range(count))
    }


def read_scores(shard: Shard, prompt_id: str) -> Scores:
    """The scores of a prompt."""
    row = shard.rows("scores.jsonl")[prompt_id]
    values = np.array(row["scores"], dtype=np.float64)
    names = [c.get("name", "") for c in shard.rows("candidates.jsonl")[prompt_id]["candidates"]]
    grades = row.get("grades")
    return replace(
        scores_of(shard.settings, values, names),
        complete=not row.get("lazy"),
        grades=None if grades is None else np.array(grades, dtype=np.float64),
        failed=tuple((int(k), int(i)) for k, i in row.get("missing", ())),
    )


def scores_of(settings: Mapping[str, Any], values: Array, names: Sequence[str] = ()) -> Scores:
    """Values (M, K, n) of a run with the settings of its manifest."""
    scorers, panel = settings["scorers"], settings.get("panel")
    called = tuple(name or f"candidate {k}" for k, name in enumerate(names))
    rewrites = ("original", *(f"rewrite {i}" for i in range(1, values.shape[2])))
    return Scores(
        values=values,
        scorers=tuple(scorer["name"] for scorer in scorers),
        bounds=tuple((scorer["bounds"][0], scorer["bounds"][1]) for scorer in scorers),
        location=tuple(scorer["location"] for scorer in scorers),
        scale=tuple(scorer["scale"] for scorer in scorers),
        samples=tuple(rater["name"] for rater in panel["rater"]) if panel else rewrites,
        candidates=called if any(names) else (),
        sample=RATER if panel else "rewrite",
        criteria=tuple(panel["criteria"]) if panel else (),
    )


def _plain(item: Any) -> dict[str, Any]:
    """A record without its prompt's id."""
    return {key: value for key, value in asdict(item).items() if key != "prompt_id"}


PARTS = ("sums", "counts", "flags", "refused")
NUMBERS = ("value", "mean", "sigma")
STAGES = ("generate", "rewrite", "score", "side", "decide")
UNITS = {
    "generate": ("answers", "tokens"),
    "rewrite": ("rewrites",),
    "score": ("scores", "kept"),
    "side": (),
    "decide": (),
}


def summary(folder: "RunFolder", deciding: "Deciding") -> dict[str, Any]:
    """The averages of the choices, the rewrites by what became of them, and the cost by stage.

    Of sealed shards nothing is read but what was noted of them: whoever asks has checked them.
    """
    sums, counts = Counter[str](), Counter[str]()
    flags, refused, cost = Counter[str](), Counter[str](), StageCost()
    for shard in folder.shards():
        own = (shard.seal_data or {}).get("totals") or totals(shard)
        for total, name in zip((sums, counts, flags, refused), PARTS, strict=True):
            total.update(own[name])
        cost.add(shard)
    prompts = counts["prompts"]
    return {
        "prompts": prompts,
        "rule": deciding.spec.label,
        "choices": {n: sums[n] / counts[n] if counts[n] else None for n in NUMBERS},
        "flags": dict(flags),
        "answers": counts["answers"],
        "saved": counts["saved"],
        "accepted": counts["accepted"],
        "refused": dict(refused.most_common()),
        "clipped": sums["clipped"] / max(1, prompts),
        "complete": bool(folder.manifest().get("complete")),
        "cost": cost.by_stage,
    }


def totals(shard: Shard) -> dict[str, dict[str, Any]]:
    """Sums and counts over a shard's prompts, by what its files still have."""
    sums: Any = Counter()  # of numbers, not of whole ones
    counts, flags, refused = Counter[str](), Counter[str](), Counter[str]()
    kept = shard.kept
    # Sums are rounded: always in one order, whichever prompt was done first.
    for prompt_id, row in sorted(shard.rows("decisions.jsonl").items()):
        (chosen,) = (c for c in row["candidates"] if c["index"] == row["index"])
        counts["prompts"] += 1
        flags.update(flag.partition(":")[0] for flag in row["flags"])
        for name in NUMBERS:
            if chosen[name] is not None:
                sums[name] += chosen[name]
                counts[name] += 1
        if "scores.jsonl" in kept:
            sums["clipped"] += read_scores(shard, prompt_id).share_clipped
    if "candidates.jsonl" in kept:
        for row in shard.rows("candidates.jsonl").values():
            counts["answers"] += len(row["candidates"])
            if row.get("saved"):
                counts["saved"] += row["saved"]
    if "variants.jsonl" in kept:
        rows = shard.rows("variants.jsonl").values()
        counts["accepted"] += sum(len(row["variants"]) for row in rows)
        for row in shard.rows("rejected.jsonl").values():
            refused.update(each["reason"].split(":", 1)[0] for each in row["rejected"])
    parts = (sums, counts, flags, refused)
    return {name: dict(sorted(part.items())) for name, part in zip(PARTS, parts, strict=True)}


def cost_of(shard: Shard) -> dict[str, dict[str, float]]:
    """Seconds and counts by stage of one shard."""
    cost = StageCost()
    cost.add(shard)
    return cost.by_stage


class StageCost:
    """Seconds and counts by stage, over all sittings."""

    def __init__(self) -> None:
        self._stages: dict[str, dict[str, float]] = {}

    def add(self, shard: Shard) -> None:
        """Add what a shard has cost."""
        noted = shard.noted_cost()
        if noted is not None:
            for name, own in noted.items():
                self._add(name, own)
            return
        for note in shard.notes():
            units = {unit: note.get(unit, 0) for unit in UNITS.get(note["stage"], ())}
            self._add(note["stage"], {"seconds": note["milliseconds"] / 1000, **units})

    def _add(self, name: str, own: Mapping[str, float]) -> None:
        stage = self._stages.setdefault(name, {})
        for unit, amount in own.items():
            stage[unit] = stage.get(unit, 0) + amount

    @property
    def by_stage(self) -> dict[str, dict[str, float]]:
        """The stages in their order."""
        return {name: self._stages[name] for name in STAGES if name in self._stages}
