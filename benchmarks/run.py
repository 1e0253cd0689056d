"""Run the benchmarks: those named, or all that need no model."""

import argparse
import importlib

NAMES = ("batched", "lazy", "imports", "throughput", "small_sample", "tune", "rewriter")
SEPARATE = ("pipeline", "gateway", "reward", "client")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES + SEPARATE))
    parser.add_argument("--json", action="store_true", help="one JSON object a row and line")
    parser.add_argument("--full", action="store_true", help="throughput at 100,000 prompts")
    given = parser.parse_args()
    # argparse of Python 3.11 refuses no names at all where it is told the choices.
    if unknown := sorted(set(given.names) - {*NAMES, *SEPARATE}):
        parser.error(f"no benchmark {unknown[0]!r}; known: {', '.join(NAMES + SEPARATE)}")
    for name in given.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        full = given.full and name == "throughput"
        for table in module.run(100_000) if full else module.run():
            print(table.json() if given.json else table.text(), flush=True)


if __name__ == "__main__":
    main()
