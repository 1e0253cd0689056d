"""Scorers of an answer to a prompt; importing this package registers them.

`relevance`, `fluency` and `form` need no language model; `http`, `judge` and `python` ask a server,
a language model or a function of yours; `transformers`, `dropout` and `loglik` need the extra `hf`;
`caution` reads a model that `darc train caution` fitted.
None loads anything before it is made.
"""

from darc.scorers.base import Embedder, Scorer, normalised
from darc.scorers.callable import CallableScorer
from darc.scorers.caution import Caution
from darc.scorers.dropout import DropoutScorer
from darc.scorers.fluency import Fluency
from darc.scorers.form import Form
from darc.scorers.http import HttpScorer
from darc.scorers.judge import Judge
from darc.scorers.loglik import LogLikelihood
from darc.scorers.relevance import Relevance
from darc.scorers.reward import RewardScorer

__all__ = [
    "CallableScorer",
    "Caution",
    "DropoutScorer",
    "Embedder",
    "Fluency",
    "Form",
    "HttpScorer",
    "Judge",
    "LogLikelihood",
    "Relevance",
    "RewardScorer",
    "Scorer",
    "normalised",
]
