"""What commands share: results on standard output, and progress on standard error."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.files import atomic_path
from darc.json_files import jsonable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def say(text: str) -> None:
    """Tell the user, beside the results."""
    print(text, file=sys.stderr, flush=True)


def print_json(data: Any) -> None:
    """Print a result as one line of JSON, what is not a finite number as null."""
    print(json.dumps(jsonable(data), ensure_ascii=False, allow_nan=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]], **options: Any) -> None:
    """Print a table of text."""
    from darc.views.text_table import text_table

    print(text_table(header, rows, **options))


def draw(
    path: Path | None, make: Callable[[], "Figure"], words: str = "wrote the picture to"
) -> None:
    """Draw the picture that is wanted, whole or not at all."""
    if path is None:
        return
    from darc.views import save_figure

    figure = make()
    with atomic_path(path) as temporary:
        save_figure(figure, temporary)
    say(f"{words} {path}")


@contextmanager
def progress(text: str, unit: str, scale: bool = False) -> Iterator[Callable[..., None]]:
    """A function report([stage,] done, total) that draws a bar on a terminal, after two seconds."""
    from tqdm import tqdm

    with tqdm(desc=text, unit=unit, unit_scale=scale, delay=2, disable=None, leave=False) as bar:

        def report(*values: Any) -> None:
            *stage, done, total = values
            bar.total = total
            bar.update(done - bar.n)
            for name in stage:
                bar.set_description(name)

        yield report


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A function report(done, total) that counts, as "12 of 16 answers written, 31 s".

    On a terminal the line follows the clock, for the first may take as long as all of them;
    elsewhere there is a line for every quarter.
    """
    started = time.monotonic()
    over = threading.Event()
    live = sys.stderr.isatty()
    state = {"done": 0, "total": total, "printed": 0}

    def line() -> str:
        seconds = time.monotonic() - started
        return f"{state['done']} of {state['total']} {what}, {seconds:.0f} s"

    def follow() -> None:
        while not over.wait(1.0):
            print(f"\r{line()}", end="", file=sys.stderr, flush=True)

    def report(done: int, total: int | None) -> None:
        state["done"] = done
        state["total"] = total or state["total"]
        is_quarter_done = done - state["printed"] >= state["total"] / 4
        if not live and (done >= state["total"] or is_quarter_done):
            state["printed"] = done
            print(line(), file=sys.stderr, flush=True)

    follower = threading.Thread(target=follow, daemon=True)
    if live:
        follower.start()
    try:
        yield report
    finally:
        over.set()
        if live:
            follower.join()
            print(f"\r{line()}", file=sys.stderr, flush=True)
