"""Embedded scorers of an answer to a prompt; importing this package enters them in `SCORERS`.

None runs a language model, and none loads anything before it is made.
"""

from darc.scorers.base import SCORERS, Embedder, Scorer, make_scorer, normalised, scorer
from darc.scorers.fluency import Fluency
from darc.scorers.form import Form
from darc.scorers.relevance import Relevance

__all__ = [
    "SCORERS",
    "Embedder",
    "Fluency",
    "Form",
    "Relevance",
    "Scorer",
    "make_scorer",
    "normalised",
    "scorer",
]
