"""Scorers of an answer to a prompt; importing this package registers them.

None loads anything before it is made. `fluency`, `form` and `relevance` are embedded and run no
language model; the others need the extra `hf`.
"""

from darc.scorers.base import Embedder, Scorer, normalised
from darc.scorers.dropout import DropoutScorer
from darc.scorers.fluency import Fluency
from darc.scorers.form import Form
from darc.scorers.loglik import LogLikelihood
from darc.scorers.relevance import Relevance
from darc.scorers.reward import RewardScorer

__all__ = [
    "DropoutScorer",
    "Embedder",
    "Fluency",
    "Form",
    "LogLikelihood",
    "Relevance",
    "RewardScorer",
    "Scorer",
    "normalised",
]
