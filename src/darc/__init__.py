"""Risk-constrained decoding: from K candidate answers, pick one that few would be unhappy with.

>>> import darc
>>> decision = darc.select([[9, 1, 6, 5, 4], [7, 7, 8, 8, 7]], sample="rater")
>>> decision.index
1
"""

from typing import TYPE_CHECKING, Any

from darc.api import (
    calibrate,
    lazy_search,
    select,
    select_batch,
    select_lazily,
    select_lazily_async,
)
from darc.core.dro import tilted_weights as worst_case_weights
from darc.core.statistics import statistics
from darc.errors import DarcError, InputError, MissingExtra
from darc.registry import generator, rewriter, rule, rules, scorer
from darc.selection.calibration import Calibration
from darc.selection.decision import Decision, Decisions
from darc.selection.lazy import LazySearch
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Rule, knob, largest, pick
from darc.types import Candidate, Certificate, Flip, Message, Prompt, Scores, Statistics

if TYPE_CHECKING:
    from darc.analysis import compare, diagnose, evaluate, tune
    from darc.engine.engine import Engine, ask, choose
    from darc.engine.outcome import Outcome
    from darc.scorers.panel import Panel
    from darc.tables.read import read_ratings

__version__ = "0.1.0"

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
    "darc.analysis": ("compare", "diagnose", "evaluate", "tune"),
    "darc.engine.engine": ("Engine", "ask", "choose"),
    "darc.engine.outcome": ("Outcome",),
    "darc.scorers.panel": ("Panel",),
    "darc.tables.read": ("read_ratings",),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module 'darc' has no attribute {name!r}")
