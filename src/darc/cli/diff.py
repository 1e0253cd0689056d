"""`darc diff`: what changed between the decisions of two sources."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.decision_sources import open_sources
from darc.cli.output import print_json, print_table, progress
from darc.errors import InputError
from darc.settings.view import DiffSettings

if TYPE_CHECKING:
    from darc.viewer.comparison import Comparison, SideSummary
    from darc.viewer.index import DecisionIndex

# So many letters of an answer and so many ids of prompts are printed.
_ANSWER_LENGTH = 32
_LISTED_PROMPTS = 5


def run(settings: DiffSettings) -> None:
    """Read both sources, and print what changed."""
    from darc.viewer.comparison import compare
    from darc.viewer.index import build_index

    sources = open_sources(settings)
    if len(sources) == 1:
        raise InputError(
            "there is one source to compare", "name a second one, or give --rule twice"
        )
    with ExitStack() as stack:
        with progress("reading decisions", " decisions") as report:
            index = stack.enter_context(build_index(sources, report, with_pages=False))
        comparison = compare(index)
        if settings.as_json:
            print_json(_json_fields(index, comparison))
        else:
            _print(index, comparison, settings.limit)


def _json_fields(index: "DecisionIndex", comparison: "Comparison") -> dict[str, Any]:
    """Everything that changed."""
    from darc.viewer.comparison import changed_entries, entry_fields, lonely_prompts, side_fields

    return {
        "both": comparison.both,
        "changed": comparison.changed,
        "mean_change": comparison.mean_change,
        "first": side_fields(comparison.first, lonely_prompts(index, "first")),
        "second": side_fields(comparison.second, lonely_prompts(index, "second")),
        "prompts": [entry_fields(entry) for entry in changed_entries(index)],
    }


def _print(index: "DecisionIndex", comparison: "Comparison", limit: int) -> None:
    """Print the counts, the averages and the first changed prompts."""
    from darc.viewer.comparison import changed_entries

    for title, side in (("first", comparison.first), ("second", comparison.second)):
        print(f"{title}: {side.name} by {side.rule}, {side.decisions} decisions")
    print(f"{comparison.changed} of {comparison.both} prompts have another answer in the second")
    _print_averages(comparison)
    for title, side in (("first", comparison.first), ("second", comparison.second)):
        if side.alone:
            print(f"only in the {title}: {_prompt_list(index, title, side)}")
    entries = changed_entries(index, limit)
    if entries:
        print()
        print_table(
            ["prompt", "first", "second", "average", "unhappy"],
            [_row(entry) for entry in entries],
        )
    hidden = comparison.changed - len(entries)
    if hidden > 0:
        print(f"and {hidden} more; --limit {comparison.changed} or --json shows them")


def _print_averages(comparison: "Comparison") -> None:
    """Print what the changes do to the average rating, to unhappy people and to held answers."""
    first = comparison.first
    second = comparison.second
    if comparison.mean_change is not None:
        means = f"{first.mean:.4g} -> {second.mean:.4g} ({comparison.mean_change:+.3g})"
        print(f"average of the chosen answers: {means}")
    if first.unhappy_share is not None and second.unhappy_share is not None:
        what = "unhappy ratings" if comparison.known_scale else "clearly lower ratings"
        shares = f"{first.unhappy_share:.1%} -> {second.unhappy_share:.1%}"
        print(f"{what} of the chosen answers: {shares}")
    if first.held or second.held:
        print(f"answers held back: {first.held} -> {second.held}")


def _prompt_list(index: "DecisionIndex", title: str, side: "SideSummary") -> str:
    """How many prompts only one source has, and the first of them."""
    from darc.viewer.comparison import lonely_prompts

    names = lonely_prompts(index, title)[:_LISTED_PROMPTS]
    listed = ", ".join(names)
    if side.alone > len(names):
        listed += ", ..."
    return f"{side.alone} ({listed})"


def _row(entry: Mapping[str, Any]) -> list[object]:
    """A changed prompt as a row of the table."""
    first = entry["first"]
    second = entry["second"]
    return [
        entry["prompt_id"],
        _answer_text(first, second),
        _answer_text(second, first),
        f"{_number(first['mean'])} -> {_number(second['mean'])}",
        f"{_unhappy(first)} -> {_unhappy(second)}",
    ]


def _answer_text(row: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The beginning of an answer, from a little before where it differs from the other one."""
    text = row["answer"]
    if not text:
        return str(row["chosen"])
    same = 0
    for letter, other_letter in zip(text, other["answer"], strict=False):
        if letter != other_letter:
            break
        same += 1
    start = 0
    if same > _ANSWER_LENGTH // 2:
        start = text.rfind(" ", 0, same - _ANSWER_LENGTH // 4) + 1
    part = text[start : start + _ANSWER_LENGTH]
    before = "... " if start else ""
    after = " ..." if start + _ANSWER_LENGTH < len(text) else ""
    return f"{before}{part.rstrip()}{after}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _unhappy(row: Mapping[str, Any]) -> str:
    if row["unhappy"] is None:
        return "-"
    return f"{row['unhappy']} of {row['ratings']}"


COMMAND = Command(DiffSettings, run)
