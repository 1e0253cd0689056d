"""How the summary of a run is printed."""

from typing import Any

from darc.cli.outcome_output import saved_sentence
from darc.cli.output import print_table


def print_summary(totals: dict[str, Any]) -> None:
    """Print what a run came to, as `darc.runs.summary` counts it."""
    print(_choices_sentence(totals))
    if totals["saved"]:
        print(saved_sentence(totals["answers"], totals["saved"]))
    _print_rewrites(totals)
    if totals["clipped"]:
        print(f"scores beyond the bounds of their scorer, clipped: {totals['clipped']:.1%}")
    for name, count in totals["flags"].items():
        meaning = ""
        if name == "held":
            meaning = ": none of the answers is good, or it is not sure that one is"
        print(f"flagged {name}: {count}{meaning}")
    if totals["calls_saved"]:
        print(f"calls to raters that were saved: {totals['calls_saved']:,}")
    if not totals["complete"]:
        if totals["flags"].get("likely"):
            print("grades that would hardly matter were left out")
        else:
            print("scores that cannot matter were left out")
    print()
    _print_cost(totals["cost"])


def _choices_sentence(totals: dict[str, Any]) -> str:
    """How many prompts were decided, and how good the choices are."""
    sentence = f"{totals['prompts']} prompts by {totals['rule']}"
    mean = totals["choices"]["mean"]
    if mean is not None:
        sentence += f"; mean of the choices {mean:.3f}"
    if totals["unhappy"] is not None:
        sentence += f"; {totals['unhappy']:.1%} of their ratings are of unhappy raters"
    return sentence


def _print_rewrites(totals: dict[str, Any]) -> None:
    """Print how many rewrites were accepted, and why the others were not."""
    rows = totals["rewrites"]
    if not rows:
        # A run of an earlier version, whose seals do not divide them.
        rows = [{"accepted": totals["accepted"], "refused": totals["refused"]}]
    for row in rows:
        accepted = row["accepted"]
        refused = sum(row["refused"].values())
        if not accepted + refused:
            continue
        title = "rewrites"
        if "family" in row:
            title = f"{row['family']} rewrites by {row['rewriter']}"
        line = f"{title}: {accepted} accepted ({accepted / (accepted + refused):.0%}), "
        line += f"{refused} refused"
        reasons = ", ".join(f"{name} {count}" for name, count in row["refused"].items())
        if reasons:
            line += f" ({reasons})"
        print(line)


def _print_cost(stages: dict[str, dict[str, float]]) -> None:
    """Print how long each stage took, and what it did in that time."""
    total = sum(stage["seconds"] for stage in stages.values()) or 1.0
    rows: list[list[object]] = []
    for name, stage in stages.items():
        counts = [f"{count:.0f} {unit}" for unit, count in stage.items() if unit != "seconds"]
        seconds = stage["seconds"]
        rows.append([name, f"{seconds:.2f}", f"{seconds / total:.0%}", ", ".join(counts)])
    print_table(["stage", "seconds", "share", ""], rows)
