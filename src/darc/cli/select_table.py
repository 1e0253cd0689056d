"""The table that `darc select` prints: one row per prompt, the first ones only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from darc.cli.decision_view import unhappy_title
from darc.cli.prompt_view import PromptView, detail_lines
from darc.cli.summary_table import print_summary_table
from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.cli.decision_rows import Detail
    from darc.cli.decision_summary import Summary
    from darc.cli.pictured_prompt import PicturedPrompt
    from darc.decide.chosen_opinions import ChosenOpinions
    from darc.decide.decision import Decisions
    from darc.decide.standards import Standards
    from darc.ratings.decisions import DecidedBatch

_NUMBER_COLUMNS = ("value", "sigma", "risk_premium")
_NUMBER_TITLES = ("value", "sigma", "premium", "ratings", "flags")


@dataclass(frozen=True)
class _TableRow:
    """One prompt in the table."""

    cells: list[object]
    #: What is printed below the row.
    lines: list[str]


class FirstRows:
    """Collects the first rows of the table, and prints it with the summary.

    Args:
        limit: How many rows to collect.
        detail: What to add about each decision.
        standards: What counts as a good rating.
        numbers: Whether to print the numbers that the rules compared.
    """

    def __init__(
        self, limit: int, detail: "Detail", standards: "Standards", numbers: bool = False
    ) -> None:
        self._limit = limit
        self._detail = detail
        self._standards = standards
        self._numbers = numbers
        self._rows: list[_TableRow] = []

    def add(self, decided: "DecidedBatch") -> None:
        """Collect the first rows of a batch, up to the limit."""
        from darc.decide.chosen_opinions import chosen_opinions

        opinions = chosen_opinions(decided.decisions[0])
        free_rows = self._limit - len(self._rows)
        for prompt in range(min(len(decided.ratings.prompt_ids), free_rows)):
            cells = self._cells(decided, opinions, prompt)
            self._rows.append(_TableRow(cells, self._lines(decided, prompt)))

    def _cells(
        self, decided: "DecidedBatch", opinions: "ChosenOpinions | None", prompt: int
    ) -> list[object]:
        """The cells of one prompt: its id, the choice of each rule, and remarks."""
        candidate_ids = decided.ratings.candidate_ids[prompt]
        choices = [candidate_ids[int(decisions.index[prompt])] for decisions in decided.decisions]
        cells: list[object] = [decided.ratings.prompt_ids[prompt], *choices]
        if len(choices) == 1:
            cells += self._number_cells(decided.decisions[0], opinions, prompt)
        elif len(set(choices)) > 1:
            cells.append("*")
        else:
            cells.append("")
        return cells

    def _number_cells(
        self, decisions: "Decisions", opinions: "ChosenOpinions | None", prompt: int
    ) -> list[object]:
        """What is said about the choice of the only rule for one prompt."""
        chosen = decisions.chosen
        cells: list[object] = [float(chosen["mean"][prompt])]
        if opinions is None:
            cells.append(float(chosen["sigma"][prompt]))
        else:
            cells.append(f"{int(opinions.unhappy[prompt])} of {int(opinions.ratings[prompt])}")
        flags = decisions.flags_of(prompt)
        if self._numbers:
            cells += [float(chosen[name][prompt]) for name in _NUMBER_COLUMNS]
            cells.append(int(chosen["count"][prompt]))
            cells.append(" ".join(flags))
        elif "below_promise" in flags:
            cells.append("held back")
        elif "held" in flags:
            cells.append("none is good")
        else:
            cells.append("")
        return cells

    def _lines(self, decided: "DecidedBatch", prompt: int) -> list[str]:
        """The lines below the row of one prompt, which name the rule if there are several."""
        lines: list[str] = []
        if not self._detail.columns:
            return lines
        for method, decision in zip(decided.methods, decided.of(prompt), strict=True):
            label = ""
            if len(decided.methods) > 1:
                label = f"{method.text}: "
            lines += detail_lines(decision, self._detail, label)
        return lines

    def print(
        self, summary: "Summary", pictured: "PicturedPrompt", texts: Mapping[str, str]
    ) -> None:
        """Print one prompt in full or the table of prompts, then the averages of each rule.

        Args:
            summary: The averages of each rule's choices.
            pictured: The prompt that is printed in full if it is the only one or asked for.
            texts: The texts of that prompt's answers by name, where they are known.
        """
        has_many_prompts = summary.prompts > 1
        is_one_prompt_enough = not has_many_prompts or pictured.requested_id is not None
        if pictured.decisions and is_one_prompt_enough:
            view = PromptView(
                prompt_id=str(pictured.prompt_id),
                decisions=pictured.decisions,
                texts=texts,
                detail=self._detail,
                standards=self._standards,
                numbers=self._numbers,
            )
            # The summary below says who counts as unhappy, too.
            view.print(define_unhappy=not has_many_prompts)
        else:
            self._print_table(summary)
        if has_many_prompts:
            print()
            print_summary_table(summary, self._standards, self._numbers)

    def _print_table(self, summary: "Summary") -> None:
        """Print the collected rows, each with its lines, and how many prompts are left out."""
        table = text_table(self._header(summary), [row.cells for row in self._rows])
        title, separator, *row_texts = table.split("\n")
        print(title)
        print(separator)
        for row_text, row in zip(row_texts, self._rows, strict=True):
            print(row_text, *row.lines, sep="\n")
        left_out = summary.prompts - len(self._rows)
        if left_out > 0:
            print(f"and {left_out} more prompts: --limit shows more, --csv and --out all of them")

    def _header(self, summary: "Summary") -> Sequence[str]:
        """The titles of the columns."""
        if len(summary.methods) > 1:
            return ["prompt", *(method.text for method in summary.methods), ""]
        spread_title = "spread"
        if summary.known_scale is not None:
            spread_title = unhappy_title(summary.known_scale)
        header = ["prompt", "chosen", "mean", spread_title]
        if self._numbers:
            return [*header, *_NUMBER_TITLES]
        return [*header, ""]
