"""`darc ask`: a question, several answers, the one that few would be unhappy with."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from darc.cli.choice import add_choice
from darc.cli.parser import add_general

DESCRIPTION = """\
Choose one of several answers to a question: each is rewritten without changing its meaning, scored
for relevance, fluency and form, and a rule decides. Rewrites and scores that cannot change the
decision are never made. The answers come from a file or from a model."""
EPILOG = """\
an answer file is a JSON list, JSON lines (text, answer, response, output or content), or one a line

examples:
  darc ask "Why is the sky blue?" --answers answers.jsonl
  darc models install; darc ask "Why is the sky blue?" --html decision.html
  darc ask "Why is the sky blue?" --generator openai:MODEL@http://localhost:8000/v1 \\
      --scorer transformers:REWARD_MODEL"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        name, help="choose one of several answers", description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument("question", help="what is asked; - reads standard input")
    parser.add_argument(
        "--answers", type=Path, metavar="FILE", help="your own answers instead of a model's"
    )
    add_choice(parser)
    parser.add_argument("--full", action="store_true", help="make and score every rewrite")
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="one JSON object")
    output.add_argument("--html", type=Path, metavar="FILE", help="a page with everything")
    output.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Ask, choose, print."""
    from darc.cli.choice import cache_of, parts_of, rule_of
    from darc.cli.told import page_of, picture_of, print_story
    from darc.errors import InputError
    from darc.pipeline.choose import choose
    from darc.pipeline.clock import Clock
    from darc.types import Message, Prompt
    from darc.views import check_picture

    text = sys.stdin.read() if arguments.question == "-" else arguments.question
    if not text.strip():
        raise InputError("there is no question", 'such as: darc ask "Why is the sky blue?"')
    spec = rule_of(arguments)
    if arguments.plot is not None:
        check_picture(arguments.plot)
    prompt, clock = Prompt("question", (Message("user", text.strip()),)), Clock()
    parts = parts_of(arguments)
    side = parts.side_maker()
    side.check(spec.rule)
    engine = parts.engine(cache_of(arguments))
    story = choose(
        engine,
        prompt,
        _candidates(arguments, prompt, clock),
        spec,
        lazily=not arguments.full,
        normalize=arguments.normalize,
        side=side,
        clock=clock,
    )
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
    """The user's own answers, or a model's."""
    if arguments.answers is not None:
        from darc.pipeline.answers import read_answers

        return read_answers(arguments.answers, prompt.id)
    from darc.cli.choice import generator_of, sampling_of
    from darc.cli.progress import progress

    generator = generator_of(arguments)
    settings = sampling_of(arguments, generator)
    print(f"writing {settings.k} answers ({generator.name}) ...", file=sys.stderr, flush=True)
    with clock.stage("generate"), progress("writing", " answers") as report:
        report(0, settings.k)
        (candidates,) = generator.generate([prompt], settings, report)
    return candidates
