"""Several methods deciding on the same samples."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from darc.decide.decision import Decisions
from darc.decide.method import Method
from darc.decide.pools import Pools
from darc.decide.sample_batch import SampleBatch
from darc.decide.standards import Standards

_PoolsKey = tuple[float, float, str, int | None, int, Standards]


@dataclass(frozen=True, eq=False)
class MethodResult:
    """What one method decided."""

    method: Method
    #: The decisions on all prompts, None if the method failed.
    decisions: Decisions | None
    #: Why it failed, None if it did not.
    error: Exception | None
    #: The time it took. Statistics count for the first method that uses them.
    seconds: float


def decide_all(
    methods: Sequence[Method], batch: SampleBatch, keep_going: bool = False
) -> Iterator[MethodResult]:
    """Decide by several methods.

    Methods with the same beta and gamma share their statistics, and each rule is bound once.

    Args:
        methods: The methods, in the order of the results. Statistics are kept in memory as long
            as a later method needs them, so sort many methods by beta.
        batch: The samples.
        keep_going: Whether a method that raises an exception is reported as failed. Otherwise the
            exception is raised.

    Yields:
        One result per method.
    """
    shared = _SharedPools(batch, methods)
    for method in methods:
        started = time.perf_counter()
        decisions = None
        error = None
        try:
            decisions = method.decide_batch(batch, shared.pools_for(method))
        except Exception as problem:
            # A rule of another package may fail in any way.
            if not keep_going:
                raise
            error = problem
        yield MethodResult(method, decisions, error, time.perf_counter() - started)


def decisions_of(methods: Sequence[Method], batch: SampleBatch) -> list[Decisions]:
    """The decisions of several methods, in their order; a method that fails raises."""
    results = decide_all(methods, batch)
    return [result.decisions for result in results if result.decisions is not None]


class _SharedPools:
    """The pools of a batch; methods that agree on their options share statistics."""

    def __init__(self, batch: SampleBatch, methods: Sequence[Method]) -> None:
        self._batch = batch
        self._pools: dict[_PoolsKey, Pools] = {}
        self._uses_left = Counter(_pools_key(method) for method in methods)

    def pools_for(self, method: Method) -> Pools:
        """The pools as a method sees them; call it once per method."""
        key = _pools_key(method)
        if key not in self._pools:
            self._pools[key] = method.pools(self._batch)
        pools = self._pools[key]
        self._uses_left[key] -= 1
        if self._uses_left[key] == 0:
            del self._pools[key]
        return pools


def _pools_key(method: Method) -> _PoolsKey:
    """Everything of a method that its pools depend on."""
    return (
        method.beta,
        method.gamma,
        method.normalize,
        method.min_samples,
        method.seed,
        method.standards,
    )
