"""A finished run in a few lines: what was chosen, what was refused, where the time went."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from darc.engine.deciding import Deciding
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.runs.shard import Shard

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


def summary(folder: RunFolder, deciding: Deciding) -> dict[str, Any]:
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
            sums["clipped"] += records.read_scores(shard, prompt_id).share_clipped
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
