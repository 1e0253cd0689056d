"""`darc ask`: a question, several answers, the one that few would be unhappy with."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from darc.cli.choice import ChoiceOptions, add_choice, say_cost
from darc.cli.output import counting, say
from darc.cli.parser import Parser
from darc.cli.show import add_output, write_outcome
from darc.config import made, options_of


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("question", help="what is asked; - reads standard input")
    parser.add_argument(
        "--answers",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="your own answers instead of a model's: files, a folder, - for standard input",
    )
    parser.add_argument(
        "--answer", action="append", default=[], metavar="TEXT", help="one of your own answers"
    )
    add_choice(parser)
    parser.add_argument("--full", action="store_true", help="make and score every rewrite")
    add_output(parser.add_argument_group("output"))


def run(arguments: Namespace) -> None:
    """Ask, choose, print."""
    from darc.generators.base import as_prompt
    from darc.models.embeddings import Embeddings
    from darc.runs.questions import read_answers

    choice = made(ChoiceOptions, options_of(arguments, ChoiceOptions))
    text = sys.stdin.read() if arguments.question == "-" else arguments.question
    prompt, full = as_prompt(text), arguments.full
    own = bool(arguments.answers or arguments.answer)
    with choice.engine(model=not own) as engine:
        used = {each.name: each.embeddings for each in engine.tools.scorers if each.embeddings}
        for name, which in used.items():
            if which != Embeddings.name:
                say(f"{name} goes by the embeddings {which}")
        if own:
            answers = read_answers(arguments.answers, prompt.id, arguments.answer, text)
            say_cost(engine, len(answers), full)
            outcome = engine.choose(prompt, answers, full=full, beside=True)
        else:
            assert engine.generator is not None
            k = engine.sampling.k
            say_cost(engine, k, full)
            most = "at most " if engine.stopping else ""
            say(f"writing {most}{k} answers ({engine.generator.name}) ...")
            with counting(k, "answers written") as engine.report:
                outcome = engine.ask(prompt, full=full, beside=True)
    more: dict[str, Any] = {"calls": outcome.calls, "flags": list(outcome.flags)}
    more |= {"saved": outcome.saved, "embeddings": used}
    more |= {"panel": outcome.panel()} if outcome.rated else {}
    more["best_of_k"] = outcome.best_of_k
    more["milliseconds"] = {name: round(ms, 1) for name, ms in outcome.milliseconds.items()}
    write_outcome(outcome, arguments, **more)
