"""The table of averages that `darc select` prints below the choices."""

from typing import TYPE_CHECKING

from darc.cli.decision_view import unhappy_definition, unhappy_title
from darc.cli.output import print_table
from darc.decide.flags import FLAGS

if TYPE_CHECKING:
    from darc.cli.decision_summary import Summary
    from darc.decide.standards import Standards


def print_summary_table(summary: "Summary", standards: "Standards", numbers: bool = False) -> None:
    """Print the averages of each rule's choices, and the flags that were raised.

    Args:
        summary: The averages.
        standards: What counts as a good rating.
        numbers: Whether to print the numbers that the rules compared.
    """
    header = ["rule", "mean"]
    if summary.known_scale is not None:
        header.append(unhappy_title(summary.known_scale))
    header.append("not the highest average")
    if numbers:
        header += ["value", "sigma", "premium", "not the first rule's"]
    rows = [_row(summary, rule, numbers) for rule in range(len(summary.methods))]
    print_table(header, rows)
    if summary.known_scale is not None:
        print(unhappy_definition(standards))
    _print_flags(summary)


def _row(summary: "Summary", rule: int, numbers: bool) -> list[object]:
    """The cells of one rule."""
    value, mean, sigma, premium = summary.averages(rule)
    cells: list[object] = [summary.methods[rule].text, mean]
    if summary.known_scale is not None:
        cells.append(f"{summary.unhappy_share(rule):.1%}")
    cells.append(f"{summary.below_best_mean[rule]} of {summary.prompts}")
    if numbers:
        cells += [value, sigma, premium, _changed_cell(summary, rule)]
    return cells


def _changed_cell(summary: "Summary", rule: int) -> str:
    """On how many prompts a rule chose something else than the first rule."""
    if rule == 0:
        return "-"
    return f"{summary.changed[rule]} of {summary.prompts}"


def _print_flags(summary: "Summary") -> None:
    """Print a line for each rule and flag that was raised."""
    for method, flags in zip(summary.methods, summary.flags, strict=True):
        for name, count in flags.items():
            if count:
                meaning = FLAGS.get(name, name)
                print(f"note: {method.text}, {count} of {summary.prompts} prompts: {meaning}")
