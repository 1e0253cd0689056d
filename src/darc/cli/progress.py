"""Progress on standard error, for what takes longer than two seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(
    text: str, unit: str, scale: bool = False
) -> Iterator[Callable[[int, int | None], None]]:
    """A function report(done, total) that draws a bar on a terminal, after two seconds."""
    from tqdm import tqdm

    bar = tqdm(desc=text, unit=unit, unit_scale=scale, delay=2, disable=None, leave=False)

    def report(done: int, total: int | None) -> None:
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield report
    finally:
        bar.close()


@contextmanager
def counting(total: int, what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A function report(done, total) that counts, as "12 of 16 answers written, 31 s".

    On a terminal the line follows the clock, for the first may take as long as all of them;
    elsewhere there is a line for every quarter.
    """
    started, over, live = time.monotonic(), threading.Event(), sys.stderr.isatty()
    state = {"done": 0, "total": total, "told": 0}

    def line() -> str:
        seconds = time.monotonic() - started
        return f"{state['done']} of {state['total']} {what}, {seconds:.0f} s"

    def follow() -> None:
        while not over.wait(1.0):
            print(f"\r{line()}", end="", file=sys.stderr, flush=True)

    def report(done: int, total: int | None) -> None:
        state["done"], state["total"] = done, total or state["total"]
        if not live and (done >= state["total"] or done - state["told"] >= state["total"] / 4):
            state["told"] = done
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


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A function report(stage, done, total) that draws one bar for all stages of many prompts."""
    from tqdm import tqdm

    bar = tqdm(unit=" prompts", delay=2, disable=None, leave=False)

    def report(stage: str, done: int, total: int) -> None:
        bar.total = total
        bar.set_description(stage, refresh=False)
        bar.update(done - bar.n)
        bar.refresh()

    try:
        yield report
    finally:
        bar.close()
