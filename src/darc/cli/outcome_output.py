"""How the outcome for one prompt is printed, written and drawn."""

from textwrap import shorten
from typing import TYPE_CHECKING, Any

from darc.cli.decision_view import (
    explanation_of,
    print_answers,
    print_details,
    print_held,
    print_how_sure,
    unhappy_definition,
)
from darc.cli.output import draw, print_json, say

if TYPE_CHECKING:
    from darc.decide.decision import Decision
    from darc.engine.outcome import Outcome
    from darc.settings.ask import OutcomeSettings

# How much of an answer is shown in a table, and in a sentence.
_SHORT_OPENING = 34
_LONG_OPENING = 160


def write_outcome(outcome: "Outcome", settings: "OutcomeSettings", **json_fields: Any) -> None:
    """Write the page and the picture that are wanted, and print the outcome.

    Args:
        outcome: The outcome for one prompt.
        settings: What is to be printed, written and drawn.
        **json_fields: Further fields of the JSON object.
    """
    decision = outcome.decision
    if decision is not None:
        _write_page(outcome, settings)
        draw(settings.plot, lambda: outcome.plot().figure)
    elif settings.html is not None or settings.plot is not None:
        say("there is nothing to draw: all answers are the same; --full scores them anyway")
    if settings.as_json:
        held = decision is not None and decision.held
        fields = {**outcome.to_dict(), "held": held, "answer": outcome.answer, **json_fields}
        print_json(fields)
    else:
        print_outcome(outcome, settings.details)


def _write_page(outcome: "Outcome", settings: "OutcomeSettings") -> None:
    """Write the page about a decision, if one is wanted."""
    from darc.files import atomic_writer

    if settings.html is None:
        return
    with atomic_writer(settings.html) as file:
        file.write(outcome.to_html())
    say(f"wrote the page to {settings.html}")


def print_outcome(outcome: "Outcome", details: bool = False) -> None:
    """Print the answer, why it was chosen, and what people think of all answers.

    Args:
        outcome: What came of choosing for one prompt.
        details: Also print the numbers that the rule compared.
    """
    print(outcome.answer)
    print()
    if outcome.decision is None:
        print(outcome.explain())
    else:
        _print_decision(outcome, outcome.decision, details)
    if outcome.best_of_k is not None:
        print(_best_of_k_sentence(outcome))
    if outcome.limits and outcome.decision is not None:
        say(outcome.limits)
    if "stopped_early" in outcome.flags:
        say(saved_sentence(outcome.written, outcome.saved))
    if outcome.rated and outcome.decision is not None:
        say(_disagreement_sentence(outcome))
    say(_cost_sentence(outcome))


def _print_decision(outcome: "Outcome", decision: "Decision", details: bool) -> None:
    """Print why the answer was chosen, and a row for each answer."""
    from darc.engine.outcome import written_times

    print_held(decision)
    flags = dict.fromkeys([*decision.flags, *outcome.flags])
    print(explanation_of(decision, list(flags), details))
    print()
    chosen_by = {decision.index: [decision.rule.name]}
    if outcome.best_of_k is not None:
        chosen_by.setdefault(outcome.best_of_k, []).append("Best-of-K")
    columns: dict[str, list[str]] = {}
    if any(candidate.copies > 1 for candidate in outcome.candidates):
        columns["copies"] = [written_times(candidate) for candidate in outcome.candidates]
    columns["begins"] = [_opening(candidate.text) for candidate in outcome.candidates]
    print_answers(decision, chosen_by, columns)
    if decision.opinions is not None:
        print(unhappy_definition(decision.pools.standards))
        print_how_sure(decision)
    if details:
        print()
        reasons = [outcome.why_not(k) or "chosen" for k in range(len(outcome.candidates))]
        print_details(decision, reasons)
    print()


def _best_of_k_sentence(outcome: "Outcome") -> str:
    """What Best-of-K would have taken; empty where that is not known."""
    other = outcome.best_of_k
    if other is None or other == outcome.index or not outcome.rated:
        return outcome.beside_best_of_k()
    opening = shorten(outcome.candidates[other].text, _LONG_OPENING, placeholder=" ...")
    return f"Best-of-K would have taken {outcome.name(other)}: {opening}"


def _opening(text: str) -> str:
    """The beginning of a text, on one line."""
    return " ".join(text.split())[:_SHORT_OPENING]


def _cost_sentence(outcome: "Outcome") -> str:
    """How many texts were scored or graded, and how long every stage took."""
    if outcome.rated:
        unit = "grades"
        if outcome.scores.orders:
            unit = "lists of grades"
        elif outcome.scores.compared:
            unit = "calls for comparisons"
        count = f"asked for {outcome.calls} of {outcome.most} {unit}"
    else:
        count = f"scored {outcome.calls} of {outcome.most} texts"
    seconds = [f"{name} {ms / 1000:.1f} s" for name, ms in outcome.milliseconds.items()]
    return f"{count}; {', '.join(seconds)}"


def saved_sentence(written: int, saved: int) -> str:
    """How many answers were written, and how many were not."""
    return f"wrote {written} of {written + saved} answers; {saved} were not worth their cost"


def _disagreement_sentence(outcome: "Outcome") -> str:
    """How far the raters are apart on the choice, and a rater from its own other grades."""
    panel = outcome.panel()
    between = panel["disagreement"][outcome.index]
    noise = panel["noise"]
    sentences = []
    if between is not None:
        sentences.append(
            f"raters differ by {between:.1f} points on the chosen answer (standard deviation)"
        )
    if noise is not None:
        sentences.append(f"the same rater, asked again, differs by {noise:.1f}")
    if not sentences:
        return "each answer has one grade: there is nothing to compare"
    return "; ".join(sentences)
