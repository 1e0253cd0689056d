"""How the choices of `darc select` are printed: one prompt in full, or many and their averages."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from darc.cli.decision_view import (
    explanation_of,
    print_answers,
    print_details,
    print_held,
    unhappy_definition,
    unhappy_title,
)
from darc.cli.output import print_table
from darc.decide.flags import FLAGS
from darc.decide.phrases import unhappy_phrase
from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.cli.chosen_opinions import ChosenOpinions
    from darc.cli.decision_rows import Detail
    from darc.cli.decision_summary import Summary
    from darc.cli.pictured_prompt import PicturedPrompt
    from darc.decide.decision import Decision, Decisions
    from darc.decide.standards import Standards
    from darc.ratings.decisions import DecidedBatch


class FirstRows:
    """Collects the first rows of the table, and prints it with the summary."""

    def __init__(
        self, limit: int, detail: "Detail", standards: "Standards", numbers: bool = False
    ) -> None:
        self._limit = limit
        self._detail = detail
        self._standards = standards
        self._numbers = numbers
        self._rows: list[tuple[list[object], list[str]]] = []

    def add(self, decided: "DecidedBatch") -> None:
        """Keep the batch's first rows, as many as are still wanted."""
        from darc.cli.chosen_opinions import chosen_opinions

        batch = decided.ratings
        opinions = chosen_opinions(decided.decisions[0])
        for row in range(min(len(batch.prompt_ids), self._limit - len(self._rows))):
            names = [batch.candidate_ids[row][int(each.index[row])] for each in decided.decisions]
            cells: list[object] = [batch.prompt_ids[row], *names]
            if len(names) == 1:
                cells += self._numbers_of(decided.decisions[0], opinions, row)
            else:
                cells.append("*" if len(set(names)) > 1 else "")
            lines: list[str] = []
            if self._detail.columns:
                for method, decision in zip(decided.methods, decided.of(row), strict=True):
                    label = f"{method.text}: " if len(names) > 1 else ""
                    lines += self._lines(decision, label)
            self._rows.append((cells, lines))

    def _numbers_of(
        self, decisions: "Decisions", opinions: "ChosenOpinions | None", row: int
    ) -> list[object]:
        """What is said about the choice of the only rule for one prompt."""
        chosen = decisions.chosen
        cells: list[object] = [float(chosen["mean"][row])]
        if opinions is None:
            cells.append(float(chosen["sigma"][row]))
        else:
            cells.append(f"{int(opinions.unhappy[row])} of {int(opinions.ratings[row])}")
        flags = decisions.flags_of(row)
        if self._numbers:
            cells += [float(chosen[name][row]) for name in ("value", "sigma", "risk_premium")]
            cells += [int(chosen["count"][row]), " ".join(flags)]
        else:
            cells.append("none is good" if "held" in flags else "")
        return cells

    def _lines(self, decision: "Decision", label: str = "", explain: bool = True) -> list[str]:
        """What was asked for about a decision, a line each; `label` names the rule."""
        lines = []
        for name, value in self._detail.of(decision).items():
            if name != "explanation":
                lines.append(f"    {label}{name}: {value}")
            elif explain:
                lines.append(f"    {label}{value}")
        return lines

    def print(
        self, summary: "Summary", pictured: "PicturedPrompt", texts: Mapping[str, str]
    ) -> None:
        """Print one prompt in full, or the table of prompts, and the averages of each rule."""
        many = summary.prompts > 1
        if pictured.decisions and not (many and pictured.wanted is None):
            self._print_prompt(str(pictured.prompt_id), pictured.decisions, texts, not many)
        else:
            self._print_prompts(summary)
        if many:
            print()
            self._print_summary(summary)

    def _print_summary(self, summary: "Summary") -> None:
        """The averages of each rule's choices, and the flags that were raised."""
        header = ["rule", "mean"]
        if summary.known_scale is not None:
            header.append(unhappy_title(summary.known_scale))
        header.append("not the highest average")
        rows: list[list[object]] = []
        for rule, method in enumerate(summary.methods):
            value, mean, sigma, premium = summary.averages(rule)
            row: list[object] = [method.text, mean]
            if summary.known_scale is not None:
                row.append(f"{summary.unhappy_share(rule):.1%}")
            row.append(f"{summary.below_best_mean[rule]} of {summary.prompts}")
            if self._numbers:
                changed = f"{summary.changed[rule]} of {summary.prompts}" if rule else "-"
                row += [value, sigma, premium, changed]
            rows.append(row)
        if self._numbers:
            header += ["value", "sigma", "premium", "not the first rule's"]
        print_table(header, rows)
        if summary.known_scale is not None:
            print(unhappy_definition(self._standards))
        for method, flags in zip(summary.methods, summary.flags, strict=True):
            for name, times in flags.items():
                if times:
                    meaning = FLAGS.get(name, name)
                    print(f"note: {method.text}, {times} of {summary.prompts} prompts: {meaning}")

    def _print_prompts(self, summary: "Summary") -> None:
        header = ["prompt", *(method.text for method in summary.methods), ""]
        if len(summary.methods) == 1:
            header = ["prompt", "chosen", "mean", "spread", ""]
            if summary.known_scale is not None:
                header[3] = unhappy_title(summary.known_scale)
            if self._numbers:
                header[4:] = ["value", "sigma", "premium", "ratings", "flags"]
        title, rule, *lines = text_table(header, [cells for cells, _ in self._rows]).split("\n")
        print(title, rule, sep="\n")
        for line, (_, words) in zip(lines, self._rows, strict=True):
            print(line, *words, sep="\n")
        rest = summary.prompts - len(self._rows)
        if rest > 0:
            print(f"and {rest} more prompts: --limit shows more, --csv and --out all of them")

    def _print_prompt(
        self,
        prompt_id: str,
        decisions: "list[Decision]",
        texts: Mapping[str, str],
        define_unhappy: bool,
    ) -> None:
        """Why, then every candidate, and the texts of those that were taken where known.

        Args:
            prompt_id: The id of the prompt.
            decisions: The decision of each rule.
            texts: The texts of the answers by name, where they are known.
            define_unhappy: Whether to say who counts as unhappy; a summary says it otherwise.
        """
        last = decisions[-1]
        chosen_by: dict[int, list[str]] = {}
        for decision in decisions:
            chosen_by.setdefault(decision.index, []).append(decision.rule.name)
        print(f"prompt {prompt_id}")
        print_held(last)
        for decision in decisions:
            label = f"{decision.rule.name}: " if len(decisions) > 1 else ""
            print(f"{label}{explanation_of(decision, details=self._numbers)}")
            for line in self._lines(decision, explain=False):
                print(line)
        print()
        print_answers(last, chosen_by)
        if define_unhappy and last.opinions is not None:
            print(unhappy_definition(self._standards))
        if self._numbers:
            print()
            print_details(last)
        for index, names in chosen_by.items():
            name = last.labels.candidate(index)
            if name in texts:
                takers = ", ".join("Best-of-K (mean)" if rule == "mean" else rule for rule in names)
                people = ""
                if last.opinions is not None:
                    answer = last.opinions.answer(index)
                    people = f" ({unhappy_phrase(answer, last.opinions.known_scale)})"
                print(f"\n{takers} took {name}{people}: {texts[name]}")
