"""Scorers of an answer to a prompt; importing this package registers them.

`relevance`, `fluency` and `form` need no language model; `http`, `judge` and `python` ask a server,
a language model or a function of yours. None loads anything before it is made.
"""

from darc.scorers.base import Embedder, Scorer, normalised
from darc.scorers.callable import CallableScorer
from darc.scorers.fluency import Fluency
from darc.scorers.form import Form
from darc.scorers.http import HttpScorer
from darc.scorers.judge import Judge
from darc.scorers.relevance import Relevance

__all__ = [
    "CallableScorer",
    "Embedder",
    "Fluency",
    "Form",
    "HttpScorer",
    "Judge",
    "Relevance",
    "Scorer",
    "normalised",
]
