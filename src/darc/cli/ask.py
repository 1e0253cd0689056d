"""`darc ask`: a question, several answers, the one that few would be unhappy with."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.choice import ChoiceOptions, add_choice, say_cost
from darc.cli.decision_view import note_wording
from darc.cli.options import options_of
from darc.cli.output import counting, say
from darc.cli.parser import Parser
from darc.cli.show import add_output, write_outcome
from darc.cli.toy_model import toy_model_note
from darc.settings.validation import validate_settings

if TYPE_CHECKING:
    from darc.engine.outcome import Outcome


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
    from darc.models.embeddings import Embeddings
    from darc.parts.generators.inputs import as_prompt
    from darc.runs.answers import read_answers

    choice = validate_settings(ChoiceOptions, options_of(arguments, ChoiceOptions))
    text = sys.stdin.read() if arguments.question == "-" else arguments.question
    prompt = as_prompt(text)
    full = arguments.full
    has_answers = bool(arguments.answers or arguments.answer)
    note = "" if has_answers else toy_model_note(choice.generator, "darc ask QUESTION")
    with choice.engine(model=not has_answers) as engine:
        if choice.caution is not None and engine.parts.panel is None:
            note_wording("rewrite")
        embeddings = {
            scorer.name: scorer.embeddings for scorer in engine.tools.scorers if scorer.embeddings
        }
        for name, which in embeddings.items():
            if which != Embeddings.name:
                say(f"{name} goes by the embeddings {which}")
        if note:
            say(note)
        if has_answers:
            answers = read_answers(arguments.answers, prompt.id, arguments.answer, text)
            say_cost(engine, len(answers), full)
            outcome = engine.choose(prompt, answers, score_everything=full, also_best_of_k=True)
        else:
            assert engine.generator is not None
            k = engine.sampling.k
            say_cost(engine, k, full)
            most = "at most " if engine.stopping else ""
            say(f"writing {most}{k} answers ({engine.generator.name}) ...")
            with counting(k, "answers written") as report:
                outcome = engine.ask(
                    prompt, score_everything=full, also_best_of_k=True, report=report
                )
    write_outcome(outcome, arguments, **_details(outcome, embeddings, note))


def _details(outcome: "Outcome", embeddings: dict[str, str], note: str) -> dict[str, Any]:
    """What the JSON has besides the decision and the answer."""
    from darc.decide.flags import flag_words
    from darc.engine.flags import FLAG_SENTENCES

    details: dict[str, Any] = {
        "calls": outcome.calls,
        "flags": list(outcome.flags),
        "saved": outcome.saved,
        "embeddings": embeddings,
    }
    if outcome.rated:
        details["panel"] = outcome.panel()
    details["best_of_k"] = outcome.best_of_k
    details["milliseconds"] = {name: round(ms, 1) for name, ms in outcome.milliseconds.items()}
    notes = [{"name": flag, "text": flag_words(flag, FLAG_SENTENCES)} for flag in outcome.flags]
    if note:
        notes.insert(0, {"name": "toy_model", "text": note})
    details["notes"] = notes
    return details
