"""`darc show`: how one prompt of a run was decided; how outcomes are written."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.cli.output import draw, print_json, print_table, say
from darc.cli.parser import Parser, calibrations_of

if TYPE_CHECKING:
    from darc.engine.outcome import Outcome

NUMBERS = ("value", "mean", "sigma", "risk_premium")


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.cli.choice import ChoiceOptions
    from darc.config import add_options

    parser.add_argument("folder", type=Path, help="a folder made by darc run")
    parser.add_argument("prompt", help="the prompt's id")
    own = ("rule", "calibration", "beta", "gamma")
    add_options(parser, ChoiceOptions, *own, unset="the run's own")
    add_output(parser)


def run(arguments: Namespace) -> None:
    """Read the outcome and print it."""
    from darc.engine.deciding import parse_rules
    from darc.runs.folder import RunFolder, deciding_of
    from darc.runs.results import read_outcome

    folder = RunFolder(arguments.folder)
    own = deciding_of(folder).spec
    beta = own.beta if arguments.beta is None else arguments.beta
    gamma = own.gamma if arguments.gamma is None else arguments.gamma
    given = calibrations_of(arguments)
    (spec,) = parse_rules([arguments.rule or own.label], {}, beta, gamma, given)
    write_outcome(read_outcome(folder, arguments.prompt, deciding_of(folder, spec)), arguments)


def add_output(parser: Any) -> None:
    """Add what is made of an outcome."""
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")


def write_outcome(outcome: "Outcome", arguments: Namespace, **more: Any) -> None:
    """Write the page and the picture that are wanted, and print the outcome; `more` is for JSON."""
    from darc.files import atomic_writer
    from darc.views import draw_plane, plane

    decision, title = outcome.decision, outcome.prompt.question[:70]
    assert decision is not None
    if arguments.html is not None:
        with atomic_writer(arguments.html) as file:
            file.write(outcome.to_html())
        say(f"the page is {arguments.html}")
    draw(arguments.plot, lambda: draw_plane(plane(decision, (), title)))
    if arguments.json:
        print_json({**decision.to_dict(), "answer": outcome.answer, **more})
    else:
        print_outcome(outcome)


def print_outcome(outcome: "Outcome") -> None:
    """Print the answer, then the candidates and why they were not chosen."""
    print(outcome.answer)
    print()
    decision = outcome.decision
    assert decision is not None
    statistics = decision.statistics
    order = np.argsort(-np.nan_to_num(statistics.value), kind="stable").tolist()
    rows: list[list[object]] = []
    for k in order:
        seen = int((~np.isnan(outcome.scores.values[:, k])).all(axis=0).sum())
        own = [float(getattr(statistics, name)[k]) for name in NUMBERS]
        numbers: list[object] = ["" if np.isnan(number) else f"{number:.3f}" for number in own]
        if decision.bounded is not None and decision.bounded[k]:
            numbers = [f"<{numbers[0]}", "", "", ""]
        opening = " ".join(outcome.candidates[k].text.split())[:34]
        name = outcome.candidates[k].name or k
        rows.append([name, *numbers, seen, outcome.why_not(k) or "chosen", opening])
    print_table(["", "value", "mean", "sigma", "premium", "scored", "", "begins"], rows)
    print()
    print(outcome.explain())
    if outcome.best_of_k is not None:
        print(outcome.beside_best_of_k())
    if outcome.limits:
        say(outcome.limits)
    if "stopped_early" in outcome.flags:
        say(saved_words(len(outcome.candidates), outcome.saved))
    spent = ", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in outcome.milliseconds.items())
    if outcome.rated:
        say(_differing(outcome))
    did = ("asked for", "grades") if outcome.rated else ("scored", "texts")
    say(f"{did[0]} {outcome.calls} of {outcome.most} {did[1]}; {spent}")


def saved_words(written: int, saved: int) -> str:
    """How many answers were written, and how many were not."""
    return f"wrote {written} of {written + saved} answers; {saved} were not worth their cost"


def _differing(outcome: "Outcome") -> str:
    """How much raters differ on the choice, and from themselves."""
    told = outcome.panel()
    between, noise = told["disagreement"][outcome.index], told["noise"]
    words = "" if between is None else f"raters differ by {between:.2f} on the choice"
    own = "" if noise is None else f"each differs by {noise:.2f} from itself"
    return "; ".join(each for each in (words, own) if each) or "one grade each: nothing to compare"
