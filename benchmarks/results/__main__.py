"""Make docs/results.md from a folder of ratings and a pool of the embedded model."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.results.measure import FULL, QUICK, measure
from benchmarks.results.output_cache import OutputCache
from benchmarks.results.page import page
from darc.errors import DarcError
from darc.files import atomic_writer
from darc.runs.questions import EXAMPLES

EPILOG = """\
DATA has ratings/NAME.csv or .csv.gz (prompt_id, candidate_id, rater_id, rating) and, for the
comparison with rewrites, NAME.texts.jsonl or .jsonl.gz beside them. Running the same command again
goes on where it stopped, and makes again what other code or data made."""


def main(argv: Sequence[str] | None = None) -> int:
    """Make the page; the result is the exit code: 0, 1 failure, 2 input, 130 interrupt."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.results",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with the ratings")
    parser.add_argument("--quick", action="store_true", help="small samples, to see that it runs")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the page (default: docs/results.md; with --quick build/results-quick.md)",
    )
    parser.add_argument(
        "--work",
        type=Path,
        metavar="FOLDER",
        help="where outputs stay (default: results; with --quick build/results-quick)",
    )
    parser.add_argument(
        "--generator", default="embedded", help="what writes the pool (default: embedded)"
    )
    parser.add_argument(
        "--prompts", default=EXAMPLES, help="prompts of the pool (default: DARC's own)"
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    arguments = parser.parse_args(argv)
    if arguments.quick:
        size = QUICK
        default_page = Path("build/results-quick.md")
        default_folder = Path("build/results-quick")
        command = "make results DATA=FOLDER QUICK=1"
    else:
        size = FULL
        default_page = Path("docs/results.md")
        default_folder = Path("results")
        command = "make results DATA=FOLDER"
    out = arguments.out or default_page
    folder = arguments.work or default_folder
    started = time.monotonic()
    try:
        findings = measure(
            arguments.data,
            OutputCache(folder),
            size,
            arguments.generator,
            arguments.prompts,
            arguments.seed,
        )
        out.parent.mkdir(parents=True, exist_ok=True)
        with atomic_writer(out) as file:
            file.write(page(findings, command, f"{folder}/", arguments.quick))
    except DarcError as problem:
        print(f"results: {problem}", file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        print("results: interrupted; go on with the same command", file=sys.stderr)
        return 130
    print(f"took {time.monotonic() - started:.0f} s", file=sys.stderr)
    print(f"the page is {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
