"""One prompt as `darc select` prints it in full."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from darc.cli.decision_view import (
    explanation_of,
    print_answers,
    print_details,
    print_groups,
    print_held,
    print_how_sure,
    unhappy_definition,
)
from darc.decide.phrases import unhappy_phrase

if TYPE_CHECKING:
    from darc.cli.decision_rows import Detail
    from darc.decide.decision import Decision
    from darc.decide.standards import Standards


def detail_lines(
    decision: "Decision", detail: "Detail", label: str = "", explain: bool = True
) -> list[str]:
    """What was asked for about a decision, one line per column.

    Args:
        decision: The decision.
        detail: What was asked for.
        label: What each line begins with, such as the name of the rule.
        explain: Whether the explanation is among the lines, if it was asked for.
    """
    lines = []
    for name, value in detail.of(decision).items():
        if name != "explanation":
            lines.append(f"    {label}{name}: {value}")
        elif explain:
            lines.append(f"    {label}{value}")
    return lines


@dataclass(frozen=True)
class PromptView:
    """The decisions on one prompt, and how they are printed."""

    prompt_id: str
    #: The decision of each rule.
    decisions: "Sequence[Decision]"
    #: The texts of the answers by name, where they are known.
    texts: Mapping[str, str]
    #: What to add about each decision.
    detail: "Detail"
    #: What counts as a good rating.
    standards: "Standards"
    #: Whether to print the numbers that the rules compared.
    numbers: bool = False

    def print(self, define_unhappy: bool = True) -> None:
        """Print why, then every candidate, then the texts of those that were chosen.

        Args:
            define_unhappy: Whether to say who counts as unhappy.
        """
        last_decision = self.decisions[-1]
        chosen_by = self._chosen_by()
        print(f"prompt {self.prompt_id}")
        print_held(last_decision)
        for decision in self.decisions:
            self._print_explanation(decision)
        print()
        print_answers(last_decision, chosen_by)
        if define_unhappy and last_decision.opinions is not None:
            print(unhappy_definition(self.standards))
        print_groups(last_decision)
        print_how_sure(last_decision)
        if self.numbers:
            print()
            print_details(last_decision)
        for candidate, rule_names in chosen_by.items():
            self._print_text(candidate, rule_names)

    def _chosen_by(self) -> dict[int, list[str]]:
        """The names of the rules that chose a candidate, by its place."""
        chosen_by: dict[int, list[str]] = {}
        for decision in self.decisions:
            chosen_by.setdefault(decision.index, []).append(decision.rule.name)
        return chosen_by

    def _print_explanation(self, decision: "Decision") -> None:
        """Print why a rule chose its candidate, and what was asked for about the decision."""
        label = ""
        if len(self.decisions) > 1:
            label = f"{decision.rule.name}: "
        print(f"{label}{explanation_of(decision, details=self.numbers)}")
        for line in detail_lines(decision, self.detail, explain=False):
            print(line)

    def _print_text(self, candidate: int, rule_names: Sequence[str]) -> None:
        """Print the text of a chosen candidate, if it is known."""
        decision = self.decisions[-1]
        name = decision.labels.candidate(candidate)
        if name not in self.texts:
            return
        rules = ", ".join(_rule_title(rule_name) for rule_name in rule_names)
        opinion = ""
        if decision.opinions is not None:
            answer = decision.opinions.answer(candidate)
            opinion = f" ({unhappy_phrase(answer, decision.opinions.known_scale)})"
        print(f"\n{rules} took {name}{opinion}: {self.texts[name]}")


def _rule_title(name: str) -> str:
    """What a rule is called in a sentence."""
    if name == "mean":
        return "Best-of-K (mean)"
    return name
