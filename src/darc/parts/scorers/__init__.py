"""Scorers of answers to prompts; importing this package registers them.

`relevance`, `fluency`, `form` and `harm` need no language model, and `logprob` reads what came
with the answers. `http`, `judge` and `python` use a
server, a language model or a function of yours. `reward` (or `transformers`), `dropout` and
`loglik` need the extra `hf`. `caution` and `head` use what `darc train` fitted. None of them loads
anything before it is made.
"""

from darc.parts.scorers.base import Embedder, Scorer, normalise_scores
from darc.parts.scorers.callable import CallableScorer
from darc.parts.scorers.caution import Caution
from darc.parts.scorers.dropout import DropoutScorer
from darc.parts.scorers.fluency import Fluency
from darc.parts.scorers.form import Form
from darc.parts.scorers.harm import Harm
from darc.parts.scorers.head import Head
from darc.parts.scorers.http import HttpScorer
from darc.parts.scorers.judge import Judge
from darc.parts.scorers.loglik import LogLikelihood
from darc.parts.scorers.logprob import LogProb
from darc.parts.scorers.relevance import Relevance
from darc.parts.scorers.reward import RewardScorer

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
    "LogProb",
    "Relevance",
    "RewardScorer",
    "Scorer",
    "normalise_scores",
]
