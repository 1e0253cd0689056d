"""One prompt, from its candidate answers to the decision."""

from collections.abc import Sequence

from darc.perturb import Perturbed
from darc.pipeline.clock import Clock
from darc.pipeline.deciding import Deciding
from darc.pipeline.engine import Engine, LazyPool
from darc.pipeline.rule_spec import RuleSpec
from darc.pipeline.side import SideMaker
from darc.pipeline.story import Story
from darc.types import Candidate, Prompt


def choose(
    engine: Engine,
    prompt: Prompt,
    candidates: Sequence[Candidate],
    spec: RuleSpec,
    *,
    lazily: bool = True,
    normalize: str = "auto",
    side: SideMaker | None = None,
    batch: int | None = None,
    clock: Clock | None = None,
    made: dict[int, Perturbed] | None = None,
) -> Story:
    """The `Story` of choosing among candidates: rewrite and score what can matter, then decide.

    Several scorers are put on one scale by their fixed constants, so that the lazy search is exact.
    `lazily=False`, a rule that cannot be searched, and scorers without constants make and score
    every rewrite; the scale is the same where it can be. `batch` texts are scored at once, as many
    as candidates by default. `made` are rewrites that are there.
    """
    clock = clock or Clock()
    deciding = Deciding(
        spec, engine.bounds, engine.constants, normalize, engine.seed, engine.include_original
    )
    pool = LazyPool(engine, prompt, candidates, clock, made)
    if lazily and deciding.can_search():
        search = deciding.search(len(candidates), engine.n_aug + 1)
        while pairs := search.ask(batch or len(candidates)):
            search.tell(pairs, pool.answer([(k, i + deciding.first) for k, i in pairs]))
        if pool.originals_if_alone():
            decision = deciding.decide(prompt.id, pool.scores, {}, lazily=True)
        else:
            decision = search.decision()
    else:
        pool.everything()
        pool.originals_if_alone()
        with clock.stage("decide"):
            maker = side or SideMaker({}, None)
            uses = spec.rule.required() or set(spec.rule.takes) & set(maker.scorers)
            found = maker.make(prompt, candidates) if uses else {}
            fixed = normalize == "auto" and engine.constants is not None
            decision = deciding.decide(prompt.id, pool.scores, found, lazily=fixed)
    rewritten = pool.perturbed
    return Story(
        prompt,
        candidates,
        [rewritten[k].variants if k in rewritten else () for k in range(len(candidates))],
        [r for k in sorted(rewritten) for r in rewritten[k].rejections],
        [scorer.name for scorer in engine.scorers],
        pool.scores,
        decision,
        clock.milliseconds,
        pool.calls,
        frozenset(rewritten),
    )
