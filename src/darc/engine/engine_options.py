"""The keywords of `Engine`, for functions that pass them on."""

from collections.abc import Sequence
from typing import Any, TypedDict

from darc.decide.caution import Caution
from darc.decide.method import Method
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import Standards
from darc.engine.score_cache import ScoreCache
from darc.engine.scoring import ScorerRetry
from darc.engine.side_inputs import SideInputMaker
from darc.engine.stopping import Stopping
from darc.models.completion import ChatModel
from darc.parts.generators.base import SamplingParameters
from darc.parts.rewriters import Rewriter
from darc.parts.scorers.base import Scorer
from darc.parts.scorers.panel import Panel


class PartsOptions(TypedDict, total=False):
    """What turns answers into numbers: names, or objects."""

    scorers: Sequence[str | Scorer] | None
    panel: Panel | bool | int | str | Sequence[str] | None
    rewriter: str | Rewriter
    n_aug: int
    family: str
    seed: int
    guard: bool
    entities: str
    side: SideInputMaker | dict[str, str] | None
    include_original: bool
    max_attempts: int | None
    min_samples: int | None


class EngineOptions(PartsOptions, total=False):
    """All keywords of `Engine` but its model."""

    rule: str | Method
    caution: Caution | None
    calibration: Any
    normalize: str
    standards: Standards
    search: SearchMode
    sampling: SamplingParameters | None
    stop: str | Stopping | None
    cache: bool | ScoreCache
    workers: int
    retry: ScorerRetry | None
    judge: ChatModel | None
