"""The engine that ships with the install: rules for rewrites, and three scorers."""

from darc.errors import InputError
from darc.perturb import RulesRewriter
from darc.pipeline.engine import Engine
from darc.scorers import Fluency, Form, Relevance


def embedded_engine(n_aug: int = 8, family: str = "style", seed: int = 0) -> Engine:
    """An `Engine` of the embedded scorers; it runs no language model."""
    if n_aug < 0:
        raise InputError(f"n_aug must be 0 or more, not {n_aug}", "8 is usual")
    return Engine(RulesRewriter(), [Relevance(), Fluency(), Form()], n_aug, family, seed)
