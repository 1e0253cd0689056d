"""The libraries of the `hf` extra: are they there, what they print, what they raise."""

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager

from darc.errors import DarcError, InputError, MissingExtra

WAITING = "OMP_WAIT_POLICY"


def need(purpose: str, *more: str) -> None:
    """Import torch; raise `MissingExtra` unless transformers and what is named are there too."""
    for name in ("torch", "transformers", *more):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(purpose, "hf")
    import_torch()


def import_torch() -> None:
    """Import torch so that its threads sleep while they wait.

    The variable is read once, as the library is loaded. Spinning threads slow to a crawl on a
    machine that has anything else to do.
    """
    before = os.environ.get(WAITING)
    os.environ.setdefault(WAITING, "passive")
    try:
        importlib.import_module("torch")
    finally:
        if before is None:
            del os.environ[WAITING]


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from drawing progress bars and logging less than errors meanwhile."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def readable(text: str) -> Iterator[None]:
    """Turn what the libraries raise for missing or broken files into one `InputError`."""
    try:
        yield
    except DarcError:
        raise
    except Exception as problem:  # each file format has errors of its own
        said = str(problem).strip().splitlines()
        raise InputError(
            f"{text} cannot be loaded as a model: {said[0] if said else type(problem).__name__}",
            "check the name, the files and the network",
        ) from problem
