"""What is asked of one decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from darc.decide.method import Method
from darc.engine.cost import Clock
from darc.engine.samples import Samples
from darc.errors import UnknownName
from darc.models.completion import Report
from darc.models.remote.meter import Meter


@dataclass(frozen=True, kw_only=True)
class DecisionRequest:
    """How many of a prompt's candidates to choose, how, and at what cost."""

    #: The rule, as a text or with its parameters; the engine's own if None.
    rule: str | Method | None = None
    #: How to decide, in place of the engine's own method.
    method: Method | None = None
    #: How many candidates to choose.
    n: int = 1
    #: How many rewrites of each candidate to make; the engine's own number if None.
    n_aug: int | None = None
    #: Whether to rewrite and score everything, even what cannot change the choice.
    score_everything: bool = False
    #: Whether to also find what Best-of-K would choose.
    also_best_of_k: bool = False
    #: Whether to raise the error of a part that fails. Otherwise the decision is made without the
    #: part, and is flagged.
    strict: bool = True
    #: How many texts may be scored, or grades asked for. The best choice so far is then taken and
    #: flagged.
    max_calls: int | None = None
    #: When to take the best choice so far, by the clock of the event loop.
    deadline: float | None = None
    #: How many samples to ask for at a time; by default as many as there are candidates.
    wave: int | None = None
    #: Flags that the outcome has from the start.
    flags: Sequence[str] = ()
    #: Adds up the time of the stages.
    clock: Clock | None = None
    #: Count the remote calls of the stages "rewrite" and "score".
    meters: Mapping[str, Meter] = field(default_factory=dict)
    #: Told how many candidates are written, as report(done, total).
    report: Report | None = None
    #: The samples of an earlier decision on some of the candidates, whose scores are used again.
    samples: Samples | None = None
    #: How many candidates were not written because they were not worth their cost.
    saved: int = 0


def as_request(request: DecisionRequest | None, options: Mapping[str, Any]) -> DecisionRequest:
    """A request with some of its fields changed.

    Args:
        request: The request; the default one if None.
        options: Fields of `DecisionRequest` by name.

    Returns:
        The changed request.

    Raises:
        UnknownName: If there is no such field.
    """
    request = request or DecisionRequest()
    names = [field_info.name for field_info in fields(DecisionRequest)]
    for name in options:
        if name not in names:
            raise UnknownName("option", name, names)
    return replace(request, **options)
