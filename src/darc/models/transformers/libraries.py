"""The libraries of the `hf` extra: are they there, what they print, what they raise."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from darc.errors import DarcError, InputError, MissingExtra


def need(purpose: str, *more: str) -> None:
    """Raise `MissingExtra` unless torch, transformers and what else is named can be imported."""
    for name in ("torch", "transformers", *more):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(purpose, "hf")


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
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as problem:
        said = str(problem).strip().splitlines()
        raise InputError(
            f"{text} cannot be loaded as a model: {said[0] if said else type(problem).__name__}",
            "check the name, the files and the network",
        ) from problem
