"""The functions that most users need: a rule by name, applied to scores."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.decision import Decision, Decisions, Labels, decide
from darc.decide.evidence.judged_learning import learn_with_judges
from darc.decide.evidence.judgements import LearningRatings, read_judgements, with_prediction
from darc.decide.ids import Ids, as_ids
from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import as_calibrations
from darc.decide.options import SelectOptions, show_options
from darc.decide.padding import pad_scores
from darc.decide.pools import Pools
from darc.decide.registry import DEFAULT_RULE, rules
from darc.decide.rule import Rule
from darc.decide.rule_text import split_rule_text
from darc.decide.score_inputs import read_scores
from darc.decide.search.lazy import LazySearch, Pair, drive, drive_async
from darc.decide.search.likely import LikelySearch, can_be_likely
from darc.decide.side_inputs import SIDE_INPUTS, check_side_inputs
from darc.decide.statistics.arrays import as_samples, as_weights, check_level
from darc.decide.statistics.draws import prompt_seeds
from darc.decide.trial import check_parameters
from darc.errors import InputError
from darc.settings.choices import SearchMode
from darc.typing import Array


@show_options
def select(
    scores: Any,
    rule: str | Rule = DEFAULT_RULE,
    *,
    weights: ArrayLike | str | None = None,
    mask: ArrayLike | None = None,
    seed: int = 0,
    prompt_id: object = "",
    candidate_ids: Sequence[str] | None = None,
    rater_ids: Any = None,
    rater_groups: Mapping[str, str] | None = None,
    system_ids: Any = None,
    scorer_ids: Sequence[str] | None = None,
    **keywords: Any,
) -> Decision:
    """Choose one of the candidates of one prompt.

    Args:
        scores: The candidates' samples, (K, n), or (M, K, n) of several scorers. NaN marks a
            missing sample. Also a dict of lists by candidate, or a frame of pandas or polars: tidy
            (candidate_id, rater_id, rating), or one row per candidate and one column per rater.
        rule: The name of a rule, with parameters as in "epsilon:epsilon=0.5", or a rule.
        weights: Weights of the samples, of the shape of the scores; or the text that is a rule's
            own parameter of this name.
        mask: False marks a missing sample; of the shape of the scores.
        seed: Seed of the rules that draw at random.
        prompt_id: Rules that draw are seeded by it, too.
        candidate_ids: Names of the candidates, (K,), for the explanation.
        rater_ids: Who gave each sample, (K, n) or (n,), None where not known. `auto` uses them
            with a calibration.
        rater_groups: The group of each rater, by its id, for the rule `group`.
        system_ids: What wrote each candidate, (K,), None where not known. `auto` uses them with a
            calibration.
        scorer_ids: Names of the scorers, (M,), for the explanation.
        **keywords: Options, parameters of the rule, and its side inputs. Options are

            - `beta` (1.0): risk aversion of the entropic value;
            - `gamma` (1.0): hedge over scorers;
            - `normalize`: "prompt", "none" or (locations, scales) of the scorers; by default
              "prompt" for several scorers;
            - `min_samples`: candidates with fewer samples are left out where another has as many;
              by default half of the pool's largest count;
            - `sample` ("sample"): what one sample is, "rater" for ratings or "rewrite", which tells
              of wording and not of people;
            - `scale`: the ends of the ratings' scale, such as (1, 5) or "1-5";
            - `threshold`: people who rate below it are unhappy; by default the middle of the scale;
            - `no_rating_below`: only candidates all of whose ratings reach it are chosen among;
            - `poor_below`: the decision is flagged `held` where the mean of the choice is probably
              below it; by default the middle of the scale.

            The main parameter of the rule `auto` is `caution`: "none", "low", "medium", "high" or a
            number from 0 up. Side inputs are arrays such as log_likelihood=[...] for `rbon`. With
            a `calibration` that has learnt from them, `covariates` are judgements of the
            candidates, (K,), (K, judgements), or arrays by name.

    Returns:
        The decision; its `index` is the chosen candidate.

    Raises:
        InputError: If the scores, options or parameters cannot be used.
        UnknownName: If there is no such rule or parameter.
    """
    named = read_scores(scores)
    samples = as_samples(named.scores, mask)
    if candidate_ids is None:
        candidate_ids = named.candidates
    if rater_ids is None:
        rater_ids = named.raters
    if _is_one_list(rater_ids) and samples.ndim > 1:
        rater_ids = [list(rater_ids)] * samples.shape[-2]
    if samples.ndim not in (2, 3):
        raise InputError(
            f"scores have {samples.ndim} dimensions",
            "give (candidates, samples) or (scorers, candidates, samples); "
            "select_batch takes many prompts",
        )
    rule, keywords = _read_rule(rule, keywords)
    options, parameters = SelectOptions.from_keywords(keywords)
    if isinstance(weights, str):
        parameters["weights"] = weights
        weights = None
    sample_weights = as_weights(weights, samples.shape)
    shape = (1,) * (4 - samples.ndim) + samples.shape
    if sample_weights is not None:
        sample_weights = sample_weights.reshape(shape)
    judgements = _judgements_of_one(parameters.pop("covariates", None), shape[2])
    bound, side = _bind(rule, parameters)
    side = {name: np.asarray(value)[None] for name, value in side.items()}
    bound, side = with_prediction(bound, side, judgements)
    pools = Pools.with_options(
        samples.reshape(shape),
        options,
        weights=sample_weights,
        seed_source=prompt_seeds(seed, [prompt_id]),
        side=check_side_inputs(side, 1, shape[2]),
        raters=_read_raters(_one_prompt(rater_ids), shape, rater_groups),
        systems=_read_systems(_one_prompt(system_ids), shape),
    )
    if candidate_ids is not None and len(candidate_ids) != shape[2]:
        raise InputError(f"there are {len(candidate_ids)} candidate_ids for {shape[2]} candidates")
    names = None if candidate_ids is None else [list(candidate_ids)]
    decision = decide(bound, pools, names)[0]
    return replace(decision, labels=replace(decision.labels, scorers=scorer_ids))


@show_options
def select_batch(
    scores: ArrayLike | Sequence[Any],
    rule: str | Rule = DEFAULT_RULE,
    *,
    weights: ArrayLike | str | None = None,
    seed: int = 0,
    prompt_ids: Sequence[object] | None = None,
    candidate_ids: Sequence[Sequence[str]] | None = None,
    rater_ids: Any = None,
    rater_groups: Mapping[str, str] | None = None,
    system_ids: Any = None,
    **keywords: Any,
) -> Decisions:
    """Choose one of the candidates of each of many prompts.

    Args:
        scores: (P, M, K, n), (P, K, n) of one scorer, or a list of pools. Pools in a list may
            differ in K and n, and candidates in their numbers of samples; a pool is (K, n),
            (M, K, n), or a list of lists.
        rule: The name of a rule, or a rule.
        weights: Weights of the samples, of the shape of the scores; or the text that is a rule's
            own parameter of this name.
        seed: Seed of the rules that draw at random.
        prompt_ids: Rules that draw are seeded by them, too, (P,). By default the positions.
        candidate_ids: Names of each prompt's candidates, for explanations.
        rater_ids: Who gave each sample, (P, K, n), as an array or lists like the scores'.
        rater_groups: The group of each rater, by its id, for the rule `group`.
        system_ids: What wrote each candidate, (P, K).
        **keywords: As in `select`. Side inputs have a leading axis for the prompts.

    Returns:
        The decisions; their `index` is the chosen candidate of each prompt, (P,).

    Raises:
        InputError: If the scores, options or parameters cannot be used.
        UnknownName: If there is no such rule or parameter.
    """
    samples = pad_scores(scores)
    prompts, _, candidates, _ = samples.shape
    if prompt_ids is None:
        prompt_ids = range(prompts)
    elif len(prompt_ids) != prompts:
        raise InputError(f"there are {len(prompt_ids)} prompt_ids for {prompts} prompts")
    rule, keywords = _read_rule(rule, keywords)
    options, parameters = SelectOptions.from_keywords(keywords)
    if isinstance(weights, str):
        parameters["weights"] = weights
        weights = None
    if weights is not None and isinstance(scores, np.ndarray):
        weights = np.asarray(weights)
        if scores.ndim == weights.ndim == 3:
            # One scorer, which the samples have an axis for by now.
            weights = weights[:, None]
    judgements = read_judgements(parameters.pop("covariates", None), (prompts, candidates))
    bound, side = _bind(rule, parameters)
    raters = _read_raters(rater_ids, samples.shape, rater_groups)
    systems = _read_systems(system_ids, samples.shape)
    bound, side = with_prediction(
        bound, side, judgements, LearningRatings(samples, raters, systems)
    )
    pools = Pools.with_options(
        samples,
        options,
        weights=as_weights(weights, samples.shape),
        seed_source=partial(prompt_seeds, seed, prompt_ids),
        side=check_side_inputs(side, prompts, candidates),
        raters=raters,
        systems=systems,
    )
    return decide(bound, pools, candidate_ids)


def calibrate(
    scores: ArrayLike | Sequence[Any],
    rater_ids: Any = None,
    system_ids: Any = None,
    lam: float = 2.0,
    covariates: Any = None,
) -> Calibration:
    """Learn from the ratings of many prompts for later decisions by the rule `auto`.

    Args:
        scores: Scores of one scorer, (P, K, n) or a list of pools (K, n).
        rater_ids: Who gave each sample, (P, K, n).
        system_ids: What wrote each candidate, (P, K).
        lam: What a unit of sigma is worth in units of mean.
        covariates: Cheap judgements of every candidate, such as the grades of an LLM judge: (P, K),
            (P, K, judgements), or arrays (P, K) by name. How far they predict people's ratings is
            learnt from 30 prompts on; `judges` of the result says what they are worth.

    Returns:
        What to give as calibration=... to `select` and `select_batch`.

    Raises:
        InputError: If there are several scorers.
    """
    samples = pad_scores(scores)
    if samples.shape[1] != 1:
        raise InputError(
            f"there are {samples.shape[1]} scorers",
            "calibrate each on its own, scores[:, m : m + 1]",
        )
    ratings = samples[:, 0]
    raters = _read_raters(rater_ids, samples.shape)
    systems = _read_systems(system_ids, samples.shape)
    lam = check_level("lam", lam)
    judgements = read_judgements(covariates, ratings.shape[:2])
    return learn_with_judges(ratings, judgements, raters, systems, lam, intervals=True).calibration


def _judgements_of_one(covariates: Any, candidates: int) -> dict[str, Array]:
    """The judgements of one prompt's candidates, (1, K) by name."""
    if covariates is None:
        return {}
    if isinstance(covariates, Mapping):
        covariates = {name: np.asarray(values)[None] for name, values in covariates.items()}
    else:
        covariates = np.asarray(covariates)[None]
    return read_judgements(covariates, (1, candidates))


def select_lazily(
    score: Callable[[list[Pair]], ArrayLike],
    n_candidates: int,
    n_samples: int,
    rule: str | Rule = DEFAULT_RULE,
    bounds: ArrayLike = (-10.0, 10.0),
    batch_size: int = 1,
    **keywords: Any,
) -> Decision:
    """Choose as `select` does, but score only the samples that can matter.

    Works for `auto`, `entropic`, `epsilon`, `penalty`, `tau`, `cvar`, `lcb` and `mean`, with fixed
    or no normalisation. The choice of `auto` on ratings is that of `select` if all candidates have
    `n_samples` ratings; where `score` says that one does not exist, everything is asked for.

    Args:
        score: Called as `score(pairs)` with a list of (candidate, sample); returns their scores in
            order, (pairs,) or, for several scorers, (pairs, M). NaN says that there is no such
            sample.
        n_candidates: The number of candidates.
        n_samples: The number of samples of a candidate.
        rule: The name of a rule, or a rule.
        bounds: (a, b) or one pair per scorer, within which all scores must lie.
        batch_size: The largest number of pairs per call of `score`.
        **keywords: As in `select`, but for ids, weights and `no_rating_below`, which need every
            sample. Besides,

            - `candidate_ids` and `scorer_ids`: names for the explanation;
            - `clip` (False): whether scores outside the bounds are clipped instead of refused;
            - `search` ("exact"): "likely" asks `auto` on ratings for less. It stops when the choice
              is final with a probability of 99 %, and flags the decision `likely:0.99`. Elsewhere
              it changes nothing.

    Returns:
        The decision; its `calls` counts the samples that were asked for.

    Raises:
        InputError: If the rule cannot be searched lazily, or a score is outside the bounds.
    """
    search = lazy_search(n_candidates, n_samples, rule, bounds, **keywords)
    return drive(search, score, batch_size)


async def select_lazily_async(
    score: Callable[[list[Pair]], Awaitable[ArrayLike]],
    n_candidates: int,
    n_samples: int,
    rule: str | Rule = DEFAULT_RULE,
    bounds: ArrayLike = (-10.0, 10.0),
    batch_size: int = 1,
    **keywords: Any,
) -> Decision:
    """Choose as `select_lazily` does, with a `score` that is awaited.

    Args:
        score: Awaited as `await score(pairs)`, otherwise as in `select_lazily`.
        n_candidates: The number of candidates.
        n_samples: The number of samples of a candidate.
        rule: The name of a rule, or a rule.
        bounds: (a, b) or one pair per scorer, within which all scores must lie.
        batch_size: The largest number of pairs per call of `score`.
        **keywords: As in `select_lazily`.

    Returns:
        The decision; its `calls` counts the samples that were asked for.

    Raises:
        InputError: If the rule cannot be searched lazily, or a score is outside the bounds.
    """
    search = lazy_search(n_candidates, n_samples, rule, bounds, **keywords)
    return await drive_async(search, score, batch_size)


@show_options
def lazy_search(
    n_candidates: int,
    n_samples: int,
    rule: str | Rule = DEFAULT_RULE,
    bounds: ArrayLike = (-10.0, 10.0),
    *,
    clip: bool = False,
    candidate_ids: Sequence[str] | None = None,
    scorer_ids: Sequence[str] | None = None,
    search: SearchMode = "exact",
    check: bool = True,
    **keywords: Any,
) -> LazySearch:
    """Make the state machine behind `select_lazily`, which takes the same arguments.

    Args:
        n_candidates: The number of candidates.
        n_samples: The number of samples of a candidate.
        rule: The name of a rule, or a rule.
        bounds: (a, b) or one pair per scorer, within which all scores must lie.
        clip: Whether scores outside the bounds are clipped instead of refused.
        candidate_ids: Names of the candidates for the explanation.
        scorer_ids: Names of the scorers for the explanation.
        search: "exact", or "likely" to ask for less.
        check: Whether the rule's parameters are tried first. Programs that make many searches by
            one rule need that only once.
        **keywords: As in `select_lazily`.

    Returns:
        A search with the methods `ask`, `tell` and `decision`.

    Raises:
        InputError: If the rule cannot be searched lazily, or `search` is unknown.
    """
    if search not in get_args(SearchMode):
        raise InputError(f"search is {search!r}", f"use {' or '.join(get_args(SearchMode))}")
    rule, keywords = _read_rule(rule, keywords)
    options, parameters = SelectOptions.from_keywords(keywords)
    has_ids = False
    for name in ("rater_ids", "system_ids"):
        if parameters.pop(name, None) is not None:
            has_ids = True
    bound, side = _bind(rule, parameters)
    if side or has_ids:
        raise InputError(f"rule {bound.name!r} cannot be searched lazily", "use darc.select")
    if check and bound.plan is not None:
        check_parameters(bound, options)
    search_class: type[LazySearch] = LazySearch
    if search == "likely" and can_be_likely(bound, options.sample):
        search_class = LikelySearch
    labels = Labels(candidate_ids, options.sample, scorer_ids)
    return search_class(
        bound, n_candidates, n_samples, bounds, options=options, clip=clip, labels=labels
    )


def _is_one_list(rater_ids: Any) -> bool:
    """Whether these are the raters of the first, second, ... sample of every candidate."""
    if rater_ids is None or isinstance(rater_ids, str):
        return False
    return len(rater_ids) > 0 and all(isinstance(rater, str | int) for rater in rater_ids)


def _one_prompt(ids: Any) -> Any:
    """The ids of one prompt as those of a batch of one."""
    return None if ids is None else [ids]


def _read_raters(
    ids: Any, shape: tuple[int, ...], groups: Mapping[str, str] | None = None
) -> Ids | None:
    """The raters of samples of a shape (P, M, K, n), with their groups."""
    if ids is None:
        return None
    prompts, _, candidates, size = shape
    raters = as_ids(ids, (prompts, candidates, size), "rater")
    group_of_rater = {str(rater): name for rater, name in (groups or {}).items()}
    return replace(raters, groups=group_of_rater)


def _read_systems(ids: Any, shape: tuple[int, ...]) -> Ids | None:
    """The systems of candidates of a shape (P, M, K, n)."""
    if ids is None:
        return None
    return as_ids(ids, (shape[0], shape[2]), "system")


def _read_rule(rule: str | Rule, keywords: Mapping[str, Any]) -> tuple[Rule, dict[str, Any]]:
    """Find a rule by its text, and add the parameters of the text to a user's keywords."""
    if isinstance(rule, Rule):
        return rule, dict(keywords)
    name, parameters = split_rule_text(rule)
    merged = {**keywords, **parameters}
    if isinstance(merged.get("calibration"), str | Path):
        calibrations = as_calibrations(merged["calibration"])
        if calibrations is not None:
            merged["calibration"] = calibrations.of(tuple(calibrations.by_scorer))
    return rules.get(name), merged


def _bind(rule: Rule, parameters: Mapping[str, Any]) -> tuple[Rule, dict[str, Any]]:
    """Bind the parameters among a user's keywords.

    Returns:
        The rule with its parameters, and the side inputs among the keywords.

    Raises:
        UnknownName: If a keyword is neither.
    """
    rule_parameters = {
        name: value for name, value in parameters.items() if rule.has_parameter(name)
    }
    bound = rule.bind(**rule_parameters) if rule_parameters else rule
    side_names = {*SIDE_INPUTS, *bound.side_names} - rule_parameters.keys()
    side = {name: value for name, value in parameters.items() if name in side_names}
    unknown = parameters.keys() - rule_parameters.keys() - side.keys()
    if unknown:
        # Raises an error that names the nearest parameter.
        bound.bind(**{name: parameters[name] for name in parameters if name in unknown})
    return bound, side
