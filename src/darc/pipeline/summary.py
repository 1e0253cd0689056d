"""A finished run in a few lines: what was chosen, what was refused, where the time went."""

from collections import Counter
from typing import Any

import numpy as np

from darc.pipeline import records
from darc.pipeline.deciding import Deciding, share_clipped
from darc.pipeline.folder import RunFolder

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
    decisions = folder.rows("decisions.jsonl")
    chosen = [
        each
        for row in decisions.values()
        for each in row["candidates"]
        if each["index"] == row["index"]
    ]
    refused = Counter(
        rejection["reason"].split(":", 1)[0]
        for row in folder.rows("rejected.jsonl").values()
        for rejection in row["rejected"]
    )
    clipped = [share_clipped(records.read_scores(folder, p), deciding.bounds) for p in decisions]
    return {
        "prompts": len(decisions),
        "rule": deciding.spec.label,
        "choices": {name: _average(chosen, name) for name in ("value", "mean", "sigma")},
        "flags": dict(Counter(flag for row in decisions.values() for flag in row["flags"])),
        "accepted": sum(len(row["variants"]) for row in folder.rows("variants.jsonl").values()),
        "refused": dict(refused.most_common()),
        "clipped": float(np.mean(clipped)) if clipped else 0.0,
        "complete": bool(folder.manifest().get("complete")),
        "cost": cost(folder),
    }


def cost(folder: RunFolder) -> dict[str, dict[str, float]]:
    """Seconds and counts by stage, over all sittings."""
    result: dict[str, dict[str, float]] = {}
    for note in folder.notes():
        stage = result.setdefault(note["stage"], {"seconds": 0.0})
        stage["seconds"] += note["milliseconds"] / 1000
        for name in UNITS.get(note["stage"], ()):
            stage[name] = stage.get(name, 0) + note.get(name, 0)
    return {name: result[name] for name in STAGES if name in result}


def _average(rows: list[dict[str, Any]], name: str) -> float | None:
    known = [float(row[name]) for row in rows if row[name] is not None]
    return float(np.mean(known)) if known else None
