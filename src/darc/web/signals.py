"""Signals that must not be lost while a process starts."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

#: What a service is told by signals: to stop, or to read its files again. Windows has no SIGHUP.
HANDLED_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def held_signals() -> Iterator[None]:
    """Hold signals back; processes that are started meanwhile do so until they release them."""
    # multiprocessing starts its tracker with the first process, and releases signals as it does so.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDLED_SIGNALS)
    try:
        yield
    finally:
        release_signals()


def release_signals() -> None:
    """Let signals come that were held back."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDLED_SIGNALS)
