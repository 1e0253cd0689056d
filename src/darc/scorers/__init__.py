"""Embedded scorers of an answer to a prompt; importing this package registers them.

None runs a language model, and none loads anything before it is made.
"""

from darc.scorers.base import Embedder, Scorer, normalised
from darc.scorers.fluency import Fluency
from darc.scorers.form import Form
from darc.scorers.relevance import Relevance

__all__ = [
    "Embedder",
    "Fluency",
    "Form",
    "Relevance",
    "Scorer",
    "normalised",
]
