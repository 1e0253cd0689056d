"""Progress on standard error, for what takes longer than two seconds."""

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
