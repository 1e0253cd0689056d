"""A finished run in a few lines: what was chosen, what was refused, where the time went."""

from collections import Counter
from typing import Any

from darc.engine.deciding import Deciding
from darc.runs import records
from darc.runs.folder import RunFolder
from darc.runs.shard import Shard

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
    """The averages of the choices, the rewrites by what became of them, and the cost by stage."""
    totals, counts = dict.fromkeys(NUMBERS, 0.0), Counter[str]()
    flags, refused = Counter[str](), Counter[str]()
    clipped, cost = 0.0, Cost()
    for shard in folder.shards():
        kept = shard.kept
        for prompt_id, row in shard.rows("decisions.jsonl").items():
            (chosen,) = (c for c in row["candidates"] if c["index"] == row["index"])
            counts["prompts"] += 1
            flags.update(row["flags"])
            for name in NUMBERS:
                if chosen[name] is not None:
                    totals[name] += float(chosen[name])
                    counts[name] += 1
            if "scores.jsonl" in kept:
                clipped += records.read_scores(shard, prompt_id).share_clipped
        if "variants.jsonl" in kept:
            rows = shard.rows("variants.jsonl").values()
            counts["accepted"] += sum(len(row["variants"]) for row in rows)
            for row in shard.rows("rejected.jsonl").values():
                refused.update(each["reason"].split(":", 1)[0] for each in row["rejected"])
        cost.add(shard)
    return {
        "prompts": counts["prompts"],
        "rule": deciding.spec.label,
        "choices": {n: totals[n] / counts[n] if counts[n] else None for n in NUMBERS},
        "flags": dict(flags),
        "accepted": counts["accepted"],
        "refused": dict(refused.most_common()),
        "clipped": clipped / max(1, counts["prompts"]),
        "complete": bool(folder.manifest().get("complete")),
        "cost": cost.by_stage,
    }


class Cost:
    """Seconds and counts by stage, over all sittings."""

    def __init__(self) -> None:
        self._stages: dict[str, dict[str, float]] = {}

    def add(self, shard: Shard) -> None:
        """Add what a shard has cost."""
        for note in shard.notes():
            stage = self._stages.setdefault(note["stage"], {"seconds": 0.0})
            stage["seconds"] += note["milliseconds"] / 1000
            for name in UNITS.get(note["stage"], ()):
                stage[name] = stage.get(name, 0) + note.get(name, 0)

    @property
    def by_stage(self) -> dict[str, dict[str, float]]:
        """The stages in their order."""
        return {name: self._stages[name] for name in STAGES if name in self._stages}
