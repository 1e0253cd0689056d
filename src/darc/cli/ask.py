"""`darc ask`: a question, several answers, the one that few would be unhappy with."""

import argparse
import sys
from pathlib import Path
from typing import Any

from darc.cli.choice import add_choice
from darc.cli.parser import add_general
from darc.cli.show import add_output, check_output, write_outcome

DESCRIPTION = """\
Choose one of several answers to a question: each is rewritten without changing its meaning, scored
for relevance, fluency, form and harm, and a rule decides. With --panel, and for a model on a server
unless there is a --scorer, raters with different points of view grade the answers instead. What
cannot change the decision is never made. The answers come from a file or from a model."""
EPILOG = """\
an answer file is a JSON list, JSON lines or CSV (text, answer, response, output or content), or one
a line; of several files, or those of a folder, each text is one answer

examples:
  darc ask "Why is the sky blue?" --answers answers.jsonl
  darc ask "Why is the sky blue?" --answer "Scattering." --answer "Because it is."
  darc models install; darc ask "Why is the sky blue?" --html decision.html
  darc ask "Why is the sky blue?" --generator openai:MODEL@http://localhost:8000/v1 --panel 4
  darc ask "Why is the sky blue?" --generator openai:MODEL@http://localhost:8000/v1 \\
      --scorer transformers:REWARD_MODEL"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
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
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Ask, choose, print."""
    from darc.cli.choice import engine_of, say_cost
    from darc.cli.parser import counting
    from darc.generators.base import as_prompt

    text = sys.stdin.read() if arguments.question == "-" else arguments.question
    prompt = as_prompt(text)
    check_output(arguments)
    own = bool(arguments.answers or arguments.answer)
    with engine_of(arguments, model=not own) as engine:
        used = {each.name: each.embeddings for each in engine.tools.scorers if each.embeddings}
        if used:
            told = ", ".join(f"{name} by {which}" for name, which in used.items())
            print(f"embeddings: {told}", file=sys.stderr, flush=True)
        if own:
            from darc.runs.questions import read_answers

            answers = read_answers(arguments.answers, prompt.id, arguments.answer, text)
            say_cost(engine, len(answers), arguments.full)
            outcome = engine.choose(prompt, answers, full=arguments.full, beside=True)
        else:
            assert engine.generator is not None
            k, name = engine.sampling.k, engine.generator.name
            say_cost(engine, k, arguments.full)
            most = "at most " if engine.stopping else ""
            print(f"writing {most}{k} answers ({name}) ...", file=sys.stderr, flush=True)
            with counting(k, "answers written") as engine.report:
                outcome = engine.ask(prompt, full=arguments.full, beside=True)
    more: dict[str, Any] = {"calls": outcome.calls, "flags": list(outcome.flags)}
    more |= {"saved": outcome.saved, "embeddings": used}
    more |= {"panel": outcome.panel()} if outcome.rated else {}
    more["best_of_k"] = outcome.best_of_k
    more["milliseconds"] = {name: round(ms, 1) for name, ms in outcome.milliseconds.items()}
    write_outcome(outcome, arguments, **more)
