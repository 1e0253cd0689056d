"""The functions that most users need: a rule by name, applied to scores."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.decision import Decision, Decisions, Labels, decide
from darc.decide.ids import Ids, as_ids
from darc.decide.model.calibration import Calibration
from darc.decide.model.learning import learn, with_intervals
from darc.decide.pools import Pools
from darc.decide.registry import DEFAULT_RULE, rules
from darc.decide.rule import Rule
from darc.decide.search.lazy import LazySearch, Pair, SearchMode, drive, drive_async
from darc.decide.search.likely import LikelySearch, can_be_likely
from darc.decide.standards import as_standards
from darc.decide.statistics.arrays import as_samples, as_weights, check_level, stacked
from darc.decide.statistics.draws import prompt_seeds
from darc.decide.statistics.kernel import Normalization
from darc.errors import InputError
from darc.typing import Array


def select(
    scores: ArrayLike,
    rule: str | Rule = DEFAULT_RULE,
    *,
    beta: float = 1.0,
    gamma: float = 1.0,
    normalize: Normalization = None,
    weights: ArrayLike | str | None = None,
    mask: ArrayLike | None = None,
    min_samples: int | None = None,
    seed: int = 0,
    prompt_id: object = "",
    candidate_ids: Sequence[str] | None = None,
    rater_ids: Any = None,
    rater_groups: Mapping[str, str] | None = None,
    system_ids: Any = None,
    scorer_ids: Sequence[str] | None = None,
    sample: str = "sample",
    scale: Sequence[float] | str | None = None,
    threshold: float | None = None,
    no_rating_below: float | None = None,
    poor_below: float | None = None,
    **parameters: Any,
) -> Decision:
    """The `Decision` of a rule for one pool of scores, (K, n) or (M, K, n).

    NaN (or a mask that is False) marks missing samples. `parameters` are the rule's own, and its
    side inputs, such as log_likelihood=[...] for `rbon`. `rater_ids` (K, n) and `system_ids` (K,)
    name who gave a sample and what wrote a candidate, None where not known; `auto` uses them with a
    `calibration`. `rater_groups` has the group of each rater for `group`. `weights` are those of
    samples, or the text that is a rule's own parameter of this name. `candidate_ids`, `scorer_ids`
    are used in the explanation only. `sample` says what one sample is: "rater" for people's ratings
    and panels (as "sample" is taken too), or "rewrite", which tells of wording and not of people.
    `caution`, the main parameter of `auto`, is "none", "low", "medium", "high" or a number.
    `scale`, such as (1, 5), is that of the ratings, and people who rate below `threshold` (by
    default its middle) are unhappy. With `no_rating_below` only candidates all of whose ratings
    reach it are chosen among. The decision is flagged `held` where the choice's mean is probably
    below `poor_below` (by default the middle of the scale).
    """
    samples = as_samples(scores, mask)
    if samples.ndim not in (2, 3):
        raise InputError(
            f"scores have {samples.ndim} dimensions",
            "give (candidates, samples) or (scorers, candidates, samples); "
            "select_batch takes many prompts",
        )
    weights, parameters = _own_weights(weights, parameters)
    mass = as_weights(weights, samples.shape)
    shape = (1,) * (4 - samples.ndim) + samples.shape
    bound, side = _bind(rule, parameters)
    pools = Pools(
        samples.reshape(shape),
        beta,
        gamma,
        normalize,
        None if mass is None else mass.reshape(shape),
        min_samples,
        prompt_seeds(seed, [prompt_id]),
        _side_inputs({name: np.asarray(value)[None] for name, value in side.items()}, shape),
        raters=_raters(None if rater_ids is None else [rater_ids], shape, rater_groups),
        systems=_systems(None if system_ids is None else [system_ids], shape),
        sample=sample,
        standards=as_standards(scale, threshold, no_rating_below, poor_below),
    )
    names = None if candidate_ids is None else [list(candidate_ids)]
    if names is not None and len(names[0]) != shape[2]:
        raise InputError(f"there are {len(names[0])} candidate_ids for {shape[2]} candidates")
    decision = decide(bound, pools, names)[0]
    return replace(decision, labels=replace(decision.labels, scorers=scorer_ids))


def select_batch(
    scores: ArrayLike | Sequence[Any],
    rule: str | Rule = DEFAULT_RULE,
    *,
    beta: float = 1.0,
    gamma: float = 1.0,
    normalize: Normalization = None,
    weights: ArrayLike | str | None = None,
    min_samples: int | None = None,
    seed: int = 0,
    prompt_ids: Sequence[object] | None = None,
    candidate_ids: Sequence[Sequence[str]] | None = None,
    rater_ids: Any = None,
    rater_groups: Mapping[str, str] | None = None,
    system_ids: Any = None,
    sample: str = "sample",
    scale: Sequence[float] | str | None = None,
    threshold: float | None = None,
    no_rating_below: float | None = None,
    poor_below: float | None = None,
    **parameters: Any,
) -> Decisions:
    """The `Decisions` of a rule for many prompts.

    Scores are (P, M, K, n), (P, K, n) of one scorer, or a list of pools.
    Pools in a list may differ in K and n, and candidates in their numbers of samples; a pool is
    (K, n), (M, K, n), or a list of lists. Side inputs have a leading prompt axis. Stochastic rules
    draw by (seed, prompt_id); prompt_ids default to the positions. `rater_ids` (P, K, n) and
    `system_ids` (P, K), arrays or lists like the scores', are used by `auto`, and `rater_groups`,
    the group of each rater, by `group`. The other keywords are those of `select`.
    """
    samples = pad(scores)
    prompts = len(samples)
    weights, parameters = _own_weights(weights, parameters)
    if (
        weights is not None
        and isinstance(scores, np.ndarray)
        and scores.ndim == np.ndim(weights) == 3
    ):
        weights = np.asarray(weights)[:, None]
    if prompt_ids is not None and len(prompt_ids) != prompts:
        raise InputError(f"there are {len(prompt_ids)} prompt_ids for {prompts} prompts")
    bound, side = _bind(rule, parameters)
    pools = Pools(
        samples,
        beta,
        gamma,
        normalize,
        as_weights(weights, samples.shape),
        min_samples,
        partial(prompt_seeds, seed, range(prompts) if prompt_ids is None else prompt_ids),
        _side_inputs(side, samples.shape),
        raters=_raters(rater_ids, samples.shape, rater_groups),
        systems=_systems(system_ids, samples.shape),
        sample=sample,
        standards=as_standards(scale, threshold, no_rating_below, poor_below),
    )
    return decide(bound, pools, candidate_ids)


def calibrate(
    scores: ArrayLike | Sequence[Any],
    rater_ids: Any = None,
    system_ids: Any = None,
    lam: float = 2.0,
) -> Calibration:
    """What ratings of many prompts teach the rule `auto`, for calibration=... in later decisions.

    Scores are those of one scorer, (P, K, n) or a list of pools (K, n), with ids as in
    `select_batch`. `lam` is what a unit of sigma is worth in units of mean.
    """
    samples = pad(scores)
    if samples.shape[1] != 1:
        raise InputError(
            f"there are {samples.shape[1]} scorers",
            "calibrate each on its own, scores[:, m : m + 1]",
        )
    raters, systems = _raters(rater_ids, samples.shape), _systems(system_ids, samples.shape)
    learnt = learn(samples[:, 0], raters, systems, check_level("lam", lam))
    return with_intervals(learnt, samples[:, 0], raters, systems)


def select_lazily(
    score: Callable[[list[Pair]], ArrayLike],
    n_candidates: int,
    n_samples: int,
    rule: str | Rule = DEFAULT_RULE,
    bounds: ArrayLike = (-10.0, 10.0),
    batch_size: int = 1,
    **parameters: Any,
) -> Decision:
    """The `Decision` of the full computation, asking `score` only for samples that can matter.

    `score(pairs)` takes a list of (candidate, sample) and returns their scores in order, (pairs,)
    or, for several scorers, (pairs, M); NaN says that there is no such sample. All scores must lie
    in `bounds`, (a, b) or one pair a scorer; clip=True clips them instead of refusing. Works for
    `auto`, `entropic`, `epsilon`, `penalty`, `tau`, `cvar`, `lcb` and `mean`, with fixed or no
    normalisation. The choice of `auto` on ratings is that of the full computation if all candidates
    have `n_samples` ratings; where `score` says that one does not exist, everything is asked for.
    search="likely" asks `auto` on ratings for less: it stops when the choice is final with a
    probability of 99 %, and flags the decision `likely:0.99`; elsewhere it changes nothing. The
    other keywords are those of `select`, but for ids, weights and no_rating_below, which need every
    sample.
    """
    search = lazy_search(n_candidates, n_samples, rule, bounds, **parameters)
    return drive(search, score, batch_size)


async def select_lazily_async(
    score: Callable[[list[Pair]], Awaitable[ArrayLike]],
    n_candidates: int,
    n_samples: int,
    rule: str | Rule = DEFAULT_RULE,
    bounds: ArrayLike = (-10.0, 10.0),
    batch_size: int = 1,
    **parameters: Any,
) -> Decision:
    """`select_lazily` for a `score` that is awaited."""
    search = lazy_search(n_candidates, n_samples, rule, bounds, **parameters)
    return await drive_async(search, score, batch_size)


def lazy_search(
    n_candidates: int,
    n_samples: int,
    rule: str | Rule = DEFAULT_RULE,
    bounds: ArrayLike = (-10.0, 10.0),
    *,
    beta: float = 1.0,
    gamma: float = 1.0,
    normalize: Normalization = None,
    min_samples: int | None = None,
    clip: bool = False,
    candidate_ids: Sequence[str] | None = None,
    scorer_ids: Sequence[str] | None = None,
    sample: str = "sample",
    scale: Sequence[float] | str | None = None,
    threshold: float | None = None,
    no_rating_below: float | None = None,
    poor_below: float | None = None,
    search: SearchMode = "exact",
    **parameters: Any,
) -> LazySearch:
    """The state machine behind `select_lazily`: ask, tell, decision."""
    if search not in get_args(SearchMode):
        raise InputError(f"search is {search!r}", f"use {' or '.join(get_args(SearchMode))}")
    ids = [name for name in ("rater_ids", "system_ids") if parameters.pop(name, None) is not None]
    bound, side = _bind(rule, parameters)
    if side or ids:
        raise InputError(f"rule {bound.name!r} cannot be searched lazily", "use darc.select")
    kind: type[LazySearch] = LazySearch
    if search == "likely" and can_be_likely(bound, sample):
        kind = LikelySearch
    return kind(
        bound,
        n_candidates,
        n_samples,
        bounds,
        beta=beta,
        gamma=gamma,
        normalize=normalize,
        min_samples=min_samples,
        clip=clip,
        labels=Labels(candidate_ids, sample, scorer_ids),
        standards=as_standards(scale, threshold, no_rating_below, poor_below),
    )


def _raters(
    given: Any, shape: tuple[int, ...], groups: Mapping[str, str] | None = None
) -> Ids | None:
    if given is None:
        return None
    found = as_ids(given, (shape[0], *shape[2:]), "rater")
    return replace(found, groups={str(rater): name for rater, name in (groups or {}).items()})


def _systems(given: Any, shape: tuple[int, ...]) -> Ids | None:
    return None if given is None else as_ids(given, (shape[0], shape[2]), "system")


def pad(scores: ArrayLike | Sequence[Any]) -> Array:
    """Scores of many prompts as one array (P, M, K, n), NaN where a pool is smaller."""
    if isinstance(scores, np.ndarray) and scores.dtype != object:
        if scores.ndim not in (3, 4):
            raise InputError(
                f"scores have {scores.ndim} dimensions",
                "give (prompts, candidates, samples), (prompts, scorers, candidates, samples), or "
                "a list of pools",
            )
        return as_samples(scores if scores.ndim == 4 else scores[:, None])
    pools = [_pool(pool, position) for position, pool in enumerate(scores)]  # type: ignore[arg-type]
    if not pools:
        raise InputError("there are no prompts", "give at least one pool of scores")
    if len({len(pool) for pool in pools}) > 1:
        raise InputError(
            "prompts have different numbers of scorers", "score each with the same ones"
        )
    return stacked(pools)


def _pool(pool: ArrayLike, position: int) -> Array:
    """One pool as (M, K, n); a list of candidates with different numbers of samples is padded."""
    if isinstance(pool, Sequence) and len({np.size(row) for row in pool}) > 1:
        size = max(np.size(row) for row in pool)
        rows = [as_samples(row, name=f"prompt {position}") for row in pool]
        pool = [np.pad(row, (0, size - row.size), constant_values=np.nan) for row in rows]
    samples = as_samples(pool, name=f"prompt {position}")
    if samples.ndim not in (2, 3):
        raise InputError(
            f"prompt {position} has {samples.ndim} dimensions", "give (K, n) or (M, K, n)"
        )
    return samples if samples.ndim == 3 else samples[None]


def _own_weights(
    weights: ArrayLike | str | None, parameters: dict[str, Any]
) -> tuple[ArrayLike | None, dict[str, Any]]:
    """The samples' weights, and the parameters with a text that is the rule's own `weights`."""
    if isinstance(weights, str):
        return None, {**parameters, "weights": weights}
    return weights, parameters


def _bind(rule: str | Rule, parameters: Mapping[str, Any]) -> tuple[Rule, dict[str, Any]]:
    """The rule with its own parameters bound, and the side inputs among the keywords."""
    found = rules.get(rule) if isinstance(rule, str) else rule
    given = {name: value for name, value in parameters.items() if found.has_parameter(name)}
    bound = found.bind(**given)
    names = (SIDE_INPUTS.keys() | {*bound.side_names}) - given.keys()
    side = {name: value for name, value in parameters.items() if name in names}
    return bound.bind(**{k: v for k, v in parameters.items() if k not in names}), side


# What is not listed, as of a rule of another package, has one number a candidate.
SIDE_INPUTS = {
    "log_likelihood": "K",
    "tokens": "K",
    "atypicality": "K",
    "similarity": "KK",
    "dropout": "KT",
}


def _side_inputs(side: Mapping[str, Any], shape: tuple[int, ...]) -> dict[str, Array]:
    prompts, _, candidates, _ = shape
    result = {name: as_samples(value, name=name) for name, value in side.items()}
    for name, array in result.items():
        rest = {"K": (), "KK": (candidates,), "KT": array.shape[-1:]}[SIDE_INPUTS.get(name, "K")]
        if array.shape != (expected := (prompts, candidates, *rest)):
            raise InputError(
                f"{name} has the shape {array.shape[1:]}, not {expected[1:]}",
                "give one row a candidate, in the order of the scores",
            )
    return result
