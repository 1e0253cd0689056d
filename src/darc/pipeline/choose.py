"""One prompt, from its candidate answers to the decision."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from darc.api import lazy_search, select
from darc.pipeline.engine import Clock, Engine, LazyPool
from darc.pipeline.rule_spec import RuleSpec
from darc.pipeline.story import Story
from darc.types import Candidate, Prompt


def choose(
    engine: Engine,
    prompt: Prompt,
    candidates: Sequence[Candidate],
    spec: RuleSpec,
    *,
    lazily: bool = True,
    batch: int = 4,
    clock: Clock | None = None,
) -> Story:
    """The `Story` of choosing among candidates: rewrite and score what can matter, then decide.

    Scorers are put on one scale by their fixed constants, so that the lazy search is exact.
    `lazily=False`, and a rule that cannot be searched, make and score every rewrite.
    """
    clock = clock or Clock()
    pool = LazyPool(engine, prompt, candidates, clock)
    shared: dict[str, Any] = {
        "beta": spec.beta,
        "gamma": spec.gamma,
        "normalize": engine.constants,
        "sample": "rewrite",
    }
    if lazily and spec.rule.plan is not None:
        search = lazy_search(
            len(candidates), engine.n_aug + 1, spec.rule, engine.bounds, clip=True, **shared
        )
        while pairs := search.ask(batch):
            search.tell(pairs, pool.answer(pairs))
        decision = search.decision()
    else:
        pool.answer([(int(k), int(i)) for k, i in np.ndindex(pool.scores.shape[1:])])
        decision = select(pool.scores, spec.rule, prompt_id=prompt.id, seed=engine.seed, **shared)
    made = pool.perturbed
    return Story(
        prompt,
        candidates,
        [made[k].variants if k in made else () for k in range(len(candidates))],
        [rejection for each in made.values() for rejection in each.rejections],
        [scorer.name for scorer in engine.scorers],
        pool.scores,
        decision,
        clock.milliseconds,
        pool.calls,
    )
