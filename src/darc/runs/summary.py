"""The summary of a run: averages of the choices, what became of rewrites, and the cost by stage."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from darc.decide.method import Method
from darc.runs.folder import RunFolder
from darc.runs.records import read_scores
from darc.runs.shard import Shard

# The totals of a shard: sums of numbers, counts, flags by name, rejected rewrites by reason, and
# all rewrites by what became of them, their family and their rewriter.
_TOTALS = ("sums", "counts", "flags", "refused", "rewrites")
_ACCEPTED = "accepted"
# The numbers of a choice that are averaged.
_STATISTICS = ("value", "mean", "sigma")
# What is counted in each stage, in the order of the stages.
_STAGE_UNITS: Mapping[str, Sequence[str]] = {
    "generate": ("answers", "tokens"),
    "rewrite": ("rewrites",),
    "score": ("scores", "kept"),
    "side": (),
    "decide": (),
}


def summarize_run(folder: RunFolder, method: Method) -> dict[str, Any]:
    """Sum up a run.

    Of sealed shards only the totals in their seals are read.

    Args:
        folder: The run, whose shards have been checked.
        method: How its decisions were made.

    Returns:
        The summary as plain data: averages of the choices, flags, counts of answers and rewrites,
        and the cost by stage.
    """
    totals: dict[str, Any] = {name: Counter() for name in _TOTALS}
    for shard in folder.shards():
        seal = shard.seal_data or {}
        for name, numbers in (seal.get("totals") or shard_totals(shard)).items():
            totals[name].update(numbers)
    sums = totals["sums"]
    counts = totals["counts"]
    return {
        "prompts": counts["prompts"],
        "rule": method.text,
        "choices": {name: _ratio(sums[name], counts[name]) for name in _STATISTICS},
        "unhappy": _ratio(counts["unhappy"], counts["ratings"]),
        "flags": dict(totals["flags"]),
        "answers": counts["answers"],
        "saved": counts["saved"],
        "calls_saved": counts["calls_saved"],
        "accepted": counts["accepted"],
        "refused": dict(totals["refused"].most_common()),
        "rewrites": _rewrite_rows(totals["rewrites"]),
        "clipped": sums["clipped"] / max(1, counts["prompts"]),
        "complete": bool(folder.manifest().get("complete")),
        "cost": sum_costs(folder.shards()),
    }


def shard_totals(shard: Shard) -> dict[str, dict[str, Any]]:
    """Sums and counts over a shard's prompts, as far as its files are still there."""
    sums: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    rewrites: Counter[str] = Counter()
    kept_files = shard.kept
    # Sums are rounded, so they are always made in one order, whichever prompt was done first.
    for prompt_id, row in sorted(shard.rows("decisions.jsonl").items()):
        _add_decision(row, sums, counts, flags)
        if "scores.jsonl" in kept_files:
            sums["clipped"] += read_scores(shard, prompt_id).share_clipped
    if "candidates.jsonl" in kept_files:
        for row in shard.rows("candidates.jsonl").values():
            counts["answers"] += sum(candidate.get("copies", 1) for candidate in row["candidates"])
            if row.get("saved"):
                counts["saved"] += row["saved"]
    if "variants.jsonl" in kept_files:
        variants_rows = shard.rows("variants.jsonl").values()
        for row in variants_rows:
            counts["accepted"] += len(row["variants"])
            rewrites.update(_rewrite_key(_ACCEPTED, variant) for variant in row["variants"])
        for row in shard.rows("rejected.jsonl").values():
            for rejection in row["rejected"]:
                reason = rejection["reason"].split(":", 1)[0]
                refused[reason] += 1
                rewrites[_rewrite_key(reason, rejection)] += 1
    return {
        "sums": dict(sorted(sums.items())),
        "counts": dict(sorted(counts.items())),
        "flags": dict(sorted(flags.items())),
        "refused": dict(sorted(refused.items())),
        "rewrites": dict(sorted(rewrites.items())),
    }


def _rewrite_key(fate: str, row: Mapping[str, Any]) -> str:
    """A key of the totals; the name of the rewriter comes last, since it may hold anything."""
    return f"{fate}|{row['family']}|{row['rewriter']}"


def _rewrite_rows(totals: "Counter[str]") -> list[dict[str, Any]]:
    """What became of the rewrites of each family and rewriter, the most frequent reason first."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for key, count in totals.most_common():
        fate, family, rewriter = key.split("|", 2)
        row = rows.setdefault(
            (family, rewriter),
            {"family": family, "rewriter": rewriter, "accepted": 0, "refused": {}},
        )
        if fate == _ACCEPTED:
            row["accepted"] += count
        else:
            row["refused"][fate] = count
    return [rows[key] for key in sorted(rows)]


def sum_costs(shards: Iterable[Shard]) -> dict[str, dict[str, float]]:
    """The seconds and counts of some shards by stage, over all times that the run went on."""
    costs: dict[str, Any] = defaultdict(Counter)
    for shard in shards:
        sealed_cost = shard.sealed_cost()
        if sealed_cost is not None:
            for stage, cost in sealed_cost.items():
                costs[stage].update(cost)
            continue
        for row in shard.timings():
            cost = {"seconds": row["milliseconds"] / 1000}
            for unit in _STAGE_UNITS.get(row["stage"], ()):
                cost[unit] = row.get(unit, 0)
            costs[row["stage"]].update(cost)
    return {stage: dict(costs[stage]) for stage in _STAGE_UNITS if costs[stage]}


def _add_decision(
    row: Mapping[str, Any],
    sums: dict[str, float],
    counts: "Counter[str]",
    flags: "Counter[str]",
) -> None:
    """Add a row of decisions.jsonl to the totals."""
    counts["prompts"] += 1
    if row.get("calls_saved"):
        counts["calls_saved"] += row["calls_saved"]
    flags.update(flag.partition(":")[0] for flag in row["flags"])
    opinions = _opinions_of_choice(row)
    if opinions is not None:
        counts["unhappy"] += opinions["unhappy"]
        counts["ratings"] += opinions["ratings"]
    chosen = _entry_of_choice(row["candidates"], row["index"])
    for name in _STATISTICS:
        if chosen[name] is not None:
            sums[name] += chosen[name]
            counts[name] += 1


def _opinions_of_choice(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What people think of the choice; None if the row does not say it.

    The scores of rewrites are not people's, and a folder of an earlier version has no opinions.
    """
    people = row.get("people")
    if people is None or people["unhappy_below"] is None:
        return None
    return _entry_of_choice(people["answers"], row["index"])


def _entry_of_choice(entries: Iterable[Mapping[str, Any]], index: int) -> Mapping[str, Any]:
    return next(entry for entry in entries if entry["index"] == index)


def _ratio(total: float, count: float) -> float | None:
    if not count:
        return None
    return total / count
