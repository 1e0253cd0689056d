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
