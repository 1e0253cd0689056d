"""Run the benchmarks: those named, or all that need no model."""

import argparse
import importlib
from typing import Any

NAMES = ("batched", "lazy", "imports", "throughput", "small_sample", "tune", "rewriter", "auto")
SEPARATE = ("demo", "embedding", "pipeline", "gateway", "reward", "client", "scale")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES + SEPARATE))
    parser.add_argument("--json", action="store_true", help="one JSON object a row and line")
    parser.add_argument(
        "--full", action="store_true", help="throughput and scale at 100,000 prompts"
    )
    parser.add_argument("--quick", action="store_true", help="scale with a tenth of the prompts")
    parser.add_argument("--prompts", type=int, metavar="N", help="the most prompts of scale")
    parser.add_argument("--data", default="", help="auto on the ratings/NAME.csv.gz of a folder")
    parser.add_argument("--pairs", default="", help="of embedding: people's choices, counted only")
    parser.add_argument("--rows", default="", help="some rows of scale, as run,growth,overlap")
    given = parser.parse_args()
    # argparse of Python 3.11 refuses no names at all where it is told the choices.
    if unknown := sorted(set(given.names) - {*NAMES, *SEPARATE}):
        parser.error(f"no benchmark {unknown[0]!r}; known: {', '.join(NAMES + SEPARATE)}")
    for name in given.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        options: dict[str, Any] = {"prompts": 100_000} if given.full else {}
        if name == "scale":
            options = {"quick": given.quick, "rows": given.rows}
            if given.prompts or given.full:
                options["large"] = given.prompts or 100_000
        elif name == "auto":
            options = {"data": given.data}
        elif name == "embedding":
            options = {"pairs": given.pairs}
        elif name != "throughput":
            options = {}
        for table in module.run(**options):
            print(table.json() if given.json else table.text(), flush=True)


if __name__ == "__main__":
    main()
