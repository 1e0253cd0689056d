"""`darc ask`: a question, several answers, the one that few would be unhappy with."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from darc.cli.parser import add_general

FAMILIES = ("style", "targeted", "hybrid")

DESCRIPTION = """\
Choose one of several answers to a question: each is rewritten without changing its meaning, scored
for relevance, fluency and form, and a rule decides. Rewrites and scores that cannot change the
decision are never made. The answers come from a file, or from the embedded model."""
EPILOG = """\
an answer file is a JSON list, JSON lines (text, answer, response, output or content), or one a line

examples:
  darc ask "Why is the sky blue?" --answers answers.jsonl
  darc models install; darc ask "Why is the sky blue?" --html decision.html"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, help="choose one of several answers", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("question", help="what is asked; - reads standard input")
    parser.add_argument(
        "--answers", type=Path, metavar="FILE", help="your own answers instead of the model's"
    )
    add_choice(parser)
    parser.add_argument("--full", action="store_true", help="make and score every rewrite")
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="one JSON object")
    output.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    output.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    add_general(parser)
    parser.set_defaults(run=run)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Options of everything that writes, rewrites, scores and decides."""
    parser.add_argument(
        "--rule", default="epsilon", metavar="NAME[:KEY=VALUE,...]", help="default: epsilon"
    )
    parser.add_argument("--beta", type=float, default=1.0, help="risk aversion (default: 1)")
    parser.add_argument("--gamma", type=float, default=1.0, help="hedge over scorers (default: 1)")
    parser.add_argument("--n-aug", type=int, default=8, help="rewrites of each (default: 8)")
    parser.add_argument(
        "--family", default="style", choices=FAMILIES, help="of rewrites (default: style)"
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    model = parser.add_argument_group("the embedded model")
    model.add_argument("-k", "--k", type=int, default=16, help="answers to write (default: 16)")
    model.add_argument("--max-tokens", type=int, default=320, help="of each (default: 320)")
    model.add_argument("--temperature", type=float, default=0.8, help="default: 0.8")
    model.add_argument("--top-p", type=float, default=0.98, help="default: 0.98")


def settings_of(arguments: argparse.Namespace) -> Any:
    """How the embedded model shall sample."""
    from darc.generators.base import Settings

    return Settings(
        k=arguments.k,
        temperature=arguments.temperature,
        top_p=arguments.top_p,
        max_tokens=arguments.max_tokens,
        seed=arguments.seed,
    )


def run(arguments: argparse.Namespace) -> None:
    """Ask, choose, print."""
    from darc.cli.told import page_of, picture_of, print_story
    from darc.errors import InputError
    from darc.pipeline.choose import choose
    from darc.pipeline.embedded import embedded_engine
    from darc.pipeline.engine import Clock
    from darc.pipeline.rule_spec import parse_rules
    from darc.types import Message, Prompt
    from darc.views import check_picture

    text = sys.stdin.read() if arguments.question == "-" else arguments.question
    if not text.strip():
        raise InputError("there is no question", 'such as: darc ask "Why is the sky blue?"')
    (spec,) = parse_rules([arguments.rule], {}, arguments.beta, arguments.gamma)
    if arguments.plot is not None:
        check_picture(arguments.plot)
    prompt, clock = Prompt("question", (Message("user", text.strip()),)), Clock()
    engine = embedded_engine(arguments.n_aug, arguments.family, arguments.seed)
    candidates = _candidates(arguments, prompt, clock)
    story = choose(engine, prompt, candidates, spec, lazily=not arguments.full, clock=clock)
    if arguments.html is not None:
        page_of(story, arguments.html)
    if arguments.plot is not None:
        picture_of(story, arguments.plot)
    if arguments.json:
        data = {**story.decision.to_dict(), "answer": story.answer, "calls": story.calls}
        data["milliseconds"] = {name: round(ms, 1) for name, ms in story.milliseconds.items()}
        print(json.dumps(data, ensure_ascii=False))
    else:
        print_story(story)


def _candidates(arguments: argparse.Namespace, prompt: Any, clock: Any) -> Any:
    """The user's own answers, or the embedded model's."""
    if arguments.answers is not None:
        from darc.pipeline.answers import read_answers

        return read_answers(arguments.answers, prompt.id)
    from darc.cli.progress import progress
    from darc.generators.embedded import EmbeddedGenerator

    settings = settings_of(arguments)
    print(f"writing {settings.k} answers ...", file=sys.stderr, flush=True)
    with clock.stage("generate"), progress("writing", " answers") as report:
        report(0, settings.k)
        (candidates,) = EmbeddedGenerator(report=report).generate([prompt], settings)
    return candidates
