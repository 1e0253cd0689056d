"""Scorers of an answer to a prompt; importing this package registers them.

`relevance`, `fluency`, `form` and `harm` need no language model; `http`, `judge` and `python` ask a
server, a language model or a function of yours; `reward` (or `transformers`), `dropout` and
`loglik` need the extra `hf`;
`caution` and `head` read what `darc train` fitted.
None loads anything before it is made.
"""

from darc.scorers.base import Embedder, Scorer, normalised
from darc.scorers.callable import CallableScorer
from darc.scorers.caution import Caution
from darc.scorers.dropout import DropoutScorer
from darc.scorers.fluency import Fluency
from darc.scorers.form import Form
from darc.scorers.harm import Harm
from darc.scorers.head import Head
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
    "Harm",
    "Head",
    "HttpScorer",
    "Judge",
    "LogLikelihood",
    "Relevance",
    "RewardScorer",
    "Scorer",
    "normalised",
]
