"""`darc scorers`, `darc rewriters`, `darc generators`: what can be named."""

import argparse
import json
from typing import Any

from darc.cli.parser import add_general

EPILOGS = {
    "generators": """\
examples:
  --generator embedded
  --generator transformers:owner/name
  --generator openai:MODEL@http://localhost:8001/v1
  --generator given:answers.jsonl""",
    "rewriters": """\
examples:
  --rewriter rules
  --rewriter llm (the embedded model)
  --rewriter llm:transformers:owner/name
  --rewriter llm:MODEL@http://localhost:8001/v1,temperature=0.9""",
    "scorers": """\
examples:
  --scorer form
  --scorer transformers:owner/name,max_length=512
  --scorer judge:MODEL@http://localhost:8001/v1
  --scorer http://localhost:8002/score""",
}


def add(commands: Any, name: str) -> None:
    """Add the command of this name to the parser."""
    parser = commands.add_parser(name, epilog=EPILOGS[name])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    add_general(parser)
    parser.set_defaults(run=run, registry=name)


def run(arguments: argparse.Namespace) -> None:
    """Print how each is written, what it is, and its options."""
    import darc.generators
    import darc.perturb
    import darc.scorers  # noqa: F401
    from darc import registry

    makers: registry.Makers = getattr(registry, arguments.registry)
    for name in makers:
        maker = makers.get(name)
        if arguments.json:
            row = {"name": name, "form": maker.form, "summary": maker.summary}
            print(json.dumps({**row, "options": maker.options}, default=str))
            continue
        print(maker.form)
        print(f"    {maker.summary}")
        if maker.options:
            print("    " + ", ".join(f"{key}={value}" for key, value in maker.options.items()))
