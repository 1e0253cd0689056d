"""Risk-constrained decoding: from K candidate answers, pick one that few would be unhappy with.

>>> import darc
>>> decision = darc.select([[9, 1, 6, 5, 4], [7, 7, 8, 8, 7]], sample="rater")
>>> decision.index
1
"""

from typing import TYPE_CHECKING, Any

from darc.decide.choice import Choice, largest, pick
from darc.decide.decision import Decision, Decisions
from darc.decide.model.calibration import Calibration
from darc.decide.pools import Pools
from darc.decide.registry import rule, rules
from darc.decide.rule import Rule
from darc.decide.search.lazy import LazySearch
from darc.decide.select import (
    calibrate,
    lazy_search,
    select,
    select_batch,
    select_lazily,
    select_lazily_async,
)
from darc.decide.statistics.summary import statistics
from darc.decide.statistics.worst_case import tilted_weights as worst_case_weights
from darc.decide.tuning_grid import knob
from darc.errors import DarcError, InputError, MissingExtra
from darc.registry import generator, rewriter, scorer
from darc.types import Candidate, Certificate, Flip, Message, Prompt, Scores, Statistics

if TYPE_CHECKING:
    from darc.analysis.functions import compare, diagnose, evaluate, tune
    from darc.engine.engine import Engine, ask, choose
    from darc.engine.outcome import Outcome
    from darc.parts.scorers.panel import Panel
    from darc.ratings.read import read_ratings

__version__ = "0.2.0"

__all__ = [
    "Calibration",
    "Candidate",
    "Certificate",
    "Choice",
    "DarcError",
    "Decision",
    "Decisions",
    "Engine",
    "Flip",
    "InputError",
    "LazySearch",
    "Message",
    "MissingExtra",
    "Outcome",
    "Panel",
    "Pools",
    "Prompt",
    "Rule",
    "Scores",
    "Statistics",
    "ask",
    "calibrate",
    "choose",
    "compare",
    "diagnose",
    "evaluate",
    "generator",
    "knob",
    "largest",
    "lazy_search",
    "pick",
    "read_ratings",
    "rewriter",
    "rule",
    "rules",
    "scorer",
    "select",
    "select_batch",
    "select_lazily",
    "select_lazily_async",
    "statistics",
    "tune",
    "worst_case_weights",
]

# What loads more than numpy is loaded when it is first used.
_LATER = {
    "darc.analysis.functions": ("compare", "diagnose", "evaluate", "tune"),
    "darc.engine.engine": ("Engine", "ask", "choose"),
    "darc.engine.outcome": ("Outcome",),
    "darc.parts.scorers.panel": ("Panel",),
    "darc.ratings.read": ("read_ratings",),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module 'darc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
