"""`darc show`: how one prompt of a run was decided; how outcomes are written."""

from argparse import Namespace
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from darc.cli.decision_view import (
    add_details,
    explanation_of,
    note_wording,
    print_answers,
    print_details,
    print_held,
    unhappy_definition,
)
from darc.cli.output import draw, print_json, say
from darc.cli.parser import Parser, calibrations_of

if TYPE_CHECKING:
    from darc.decide.decision import Decision
    from darc.engine.outcome import Outcome


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.cli.choice import ChoiceOptions
    from darc.cli.options import add_options
    from darc.engine.options import PeopleOptions

    parser.add_argument("folder", type=Path, help="a folder made by darc run")
    parser.add_argument("prompt", help="the prompt's id")
    names = (*PeopleOptions.model_fields, "rule", "calibration", "beta", "gamma")
    add_options(parser, ChoiceOptions, *names, unset="the run's own")
    add_output(parser)


def run(arguments: Namespace) -> None:
    """Read the outcome and print it."""
    from darc.cli.options import options_of
    from darc.decide.method import Method
    from darc.decide.registry import rules
    from darc.engine.options import PeopleOptions
    from darc.runs.folder import RunFolder
    from darc.runs.manifest import method_of
    from darc.runs.outcomes import read_outcome
    from darc.settings.validation import validate_settings

    folder = RunFolder(arguments.folder)
    people = validate_settings(PeopleOptions, options_of(arguments, PeopleOptions))
    own = method_of(folder)
    rule = arguments.rule or own.text
    parameters = people.rule_parameters
    takes_caution = rules.get(rule.partition(":")[0].strip()).has_parameter("caution")
    if not parameters and own.caution is not None and takes_caution:
        parameters = {"caution": own.caution}
    beta = own.beta if arguments.beta is None else arguments.beta
    gamma = own.gamma if arguments.gamma is None else arguments.gamma
    method = Method.parse(
        rule, parameters, beta=beta, gamma=gamma, calibrations=calibrations_of(arguments)
    )
    every = asdict(people.standards)
    changes = {name: value for name, value in every.items() if value is not None}
    method = method_of(folder, method, replace(own.standards, **changes))
    outcome = read_outcome(folder, arguments.prompt, method)
    if people.caution is not None:
        note_wording(outcome.scores.sample)
    write_outcome(outcome, arguments)


def add_output(parser: Any) -> None:
    """Add what is made of an outcome."""
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_details(parser)
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")


def write_outcome(outcome: "Outcome", arguments: Namespace, **more: Any) -> None:
    """Write the page and the picture that are wanted, and print the outcome; `more` is for JSON."""
    from darc.files import atomic_writer

    decision = outcome.decision
    if decision is None:
        if arguments.html is not None or arguments.plot is not None:
            say("there is nothing to draw: all answers are the same; --full scores them anyway")
    else:
        if arguments.html is not None:
            with atomic_writer(arguments.html) as file:
                file.write(outcome.to_html())
            say(f"the page is {arguments.html}")
        draw(arguments.plot, lambda: outcome.plot().figure)
    if arguments.json:
        held = decision is not None and decision.held
        print_json({**outcome.to_dict(), "held": held, "answer": outcome.answer, **more})
    else:
        print_outcome(outcome, arguments.details)


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
        print(_best_of_k_words(outcome))
    if outcome.limits and outcome.decision is not None:
        say(outcome.limits)
    if "stopped_early" in outcome.flags:
        say(saved_words(outcome.written, outcome.saved))
    spent = ", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in outcome.milliseconds.items())
    if outcome.rated and outcome.decision is not None:
        say(_disagreement_words(outcome))
    work = "asked for {} of {} grades" if outcome.rated else "scored {} of {} texts"
    say(f"{work.format(outcome.calls, outcome.most)}; {spent}")


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
    columns["begins"] = [" ".join(each.text.split())[:34] for each in outcome.candidates]
    print_answers(decision, chosen_by, columns)
    if decision.opinions is not None:
        print(unhappy_definition(decision.pools.standards))
    if details:
        print()
        reasons = [outcome.why_not(k) or "chosen" for k in range(len(outcome.candidates))]
        print_details(decision, reasons)
    print()


def _best_of_k_words(outcome: "Outcome") -> str:
    """What Best-of-K would have taken; empty where that is not known."""
    other = outcome.best_of_k
    if other is None or other == outcome.index or not outcome.rated:
        return outcome.beside_best_of_k()
    opening = shorten(outcome.candidates[other].text, 160, placeholder=" ...")
    return f"Best-of-K would have taken {outcome.name(other)}: {opening}"


def saved_words(written: int, saved: int) -> str:
    """How many answers were written, and how many were not."""
    return f"wrote {written} of {written + saved} answers; {saved} were not worth their cost"


def _disagreement_words(outcome: "Outcome") -> str:
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
