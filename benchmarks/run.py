"""Run the named benchmarks, or all that need no model."""

import argparse
import importlib
from typing import Any

NAMES = ("batched", "lazy", "imports", "throughput", "small_sample", "tune", "rewriter", "auto")
SEPARATE = ("demo", "embedding", "pipeline", "gateway", "reward", "client", "scale", "coverage")
FULL = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES + SEPARATE))
    parser.add_argument("--json", action="store_true", help="print one line of JSON per row")
    parser.add_argument(
        "--full", action="store_true", help="throughput and scale at 100,000 prompts"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="scale with a tenth of the prompts, coverage with a tenth of the files",
    )
    parser.add_argument(
        "--prompts", type=int, metavar="N", help="the number of prompts in the largest run of scale"
    )
    parser.add_argument("--data", default="", help="folder with ratings/NAME.csv.gz, for auto")
    parser.add_argument(
        "--pairs", default="", help="file of people's choices, for embedding; never printed"
    )
    parser.add_argument(
        "--rows", default="", help="which rows of scale to measure, such as run,growth"
    )
    arguments = parser.parse_args()
    # argparse of Python 3.11 refuses no names at all where it is told the choices.
    unknown = sorted(set(arguments.names) - {*NAMES, *SEPARATE})
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; known: {', '.join(NAMES + SEPARATE)}")
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        for table in module.run(**options_of(name, arguments)):
            text = table.json() if arguments.json else table.text()
            print(text, flush=True)


def options_of(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of a benchmark's `run`."""
    options: dict[str, Any] = {}
    if name == "scale":
        options = {"quick": arguments.quick, "rows": arguments.rows}
        if arguments.prompts or arguments.full:
            options["large"] = arguments.prompts or FULL
    elif name == "coverage":
        options = {"quick": arguments.quick}
    elif name == "auto":
        options = {"data": arguments.data}
    elif name == "embedding":
        options = {"pairs": arguments.pairs}
    elif name == "throughput" and arguments.full:
        options = {"prompts": FULL}
    return options


if __name__ == "__main__":
    main()
