"""What decisions cost: calls, tokens, seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import Frame, Record, table
from darc.decide.method import Method
from darc.decide.search.lazy import Pair
from darc.decide.select import select_batch, select_lazily
from darc.ratings.ratings import GIVEN, SPENT, Ratings
from darc.types import clipped
from darc.typing import Array, Mask

# At most this many prompts, evenly spread, are searched lazily.
MAX_PROMPTS = 10
# How many texts the lazy search asks for at a time.
BATCH = 4
# How the names of costs end that are seconds of a stage.
SECONDS = " seconds"


@dataclass(frozen=True, eq=False)
class _LazySearch:
    """A lazy search for the choice of one prompt."""

    #: The samples (K, n) that it asked for.
    requested: Mask
    #: Whether it chose as the rule would with all samples.
    same_choice: bool


def call_table(ratings: Ratings, methods: Sequence[Method]) -> Frame:
    """Texts per prompt that each rule scores when it searches lazily, and when it scores all.

    It takes the scorers' bounds and, for several scorers, their constants; otherwise it is empty.
    The choice of the lazy search is checked to be the full one's.
    """
    prompts = _spread_prompts(ratings)
    exists = np.asarray((~np.isnan(ratings.samples[prompts])).any(axis=1))
    full = exists.sum()
    rows = []
    for method in methods:
        if not _searchable(ratings, method):
            continue
        searches = [_search(ratings, method, prompt) for prompt in prompts]
        # A sample that the search asks for and that does not exist is not a text.
        lazy = exists[np.stack([search.requested for search in searches])].sum()
        row: Record = {
            "source": ratings.name,
            "method": method.text,
            "prompts": len(prompts),
            "full": full / len(prompts),
            "lazy": lazy / len(prompts),
            "share": lazy / full,
            "same_choice": sum(search.same_choice for search in searches),
        }
        rows.append(row)
    return table("calls", rows, batch=BATCH)


def token_table(ratings: Ratings, methods: Sequence[Method]) -> Frame:
    """Tokens per prompt that each rule's decision costs, with everything scored and lazily.

    Empty if the source recorded none.
    """
    if not ratings.tokens_spent:
        return table("tokens", [])
    runnable = [method for method in methods if {*method.rule.required()} <= {*ratings.side}]
    return table("tokens", [_token_row(ratings, method) for method in runnable])


def _token_row(ratings: Ratings, method: Method) -> Record:
    prompts = _spread_prompts(ratings)
    full = [
        _tokens(ratings, prompt, _needed_samples(ratings, method, prompt)) for prompt in prompts
    ]
    tokens = np.mean(full, axis=0)
    lazily = float("nan")
    if _searchable(ratings, method):
        lazy = [
            _tokens(ratings, prompt, _search(ratings, method, prompt).requested)
            for prompt in prompts
        ]
        lazily = float(np.sum(lazy, axis=1).mean())
    row: Record = {"source": ratings.name, "method": method.text, "prompts": len(prompts)}
    row |= zip(SPENT, tokens, strict=True)
    row["total"] = tokens.sum()
    row["lazily"] = lazily
    return row


def _spread_prompts(ratings: Ratings) -> list[int]:
    """At most `MAX_PROMPTS` prompts, evenly spread."""
    places = np.linspace(0, len(ratings.prompt_ids) - 1, MAX_PROMPTS)
    return np.unique(places.astype(int)).tolist()


def _tokens(ratings: Ratings, prompt: int, samples: Mask) -> list[float]:
    """Tokens generated, rewritten and scored for one prompt if some samples (K, n) are scored."""
    generated, rewritten, scored = (ratings.tokens_spent[name][prompt] for name in SPENT)
    needs_rewrites = samples[:, 1:].any(axis=1)
    return [
        float(np.nansum(generated)),
        float(np.nansum(rewritten[needs_rewrites])),
        len(ratings.scorers) * float(np.nansum(scored[samples])),
    ]


def _needed_samples(ratings: Ratings, method: Method, prompt: int) -> Mask:
    """The samples (K, n) that a rule looks at."""
    needed = ~np.isnan(ratings.samples[prompt]).all(axis=0)
    parameters = method.rule.parameters
    if method.rule.name == "mbr" and parameters.get("weights") != "reward":
        needed[:] = False
    elif parameters.get("reward") == "original":
        needed[:, 1:] = False
    return np.asarray(needed)


def _searchable(ratings: Ratings, method: Method) -> bool:
    """Whether the lazy search is exact for the rule on these samples."""
    if method.rule.plan is None or method.rule.required() or ratings.bounds is None:
        return False
    return len(ratings.scorers) == 1 or ratings.constants is not None


def _search(ratings: Ratings, method: Method, prompt: int) -> _LazySearch:
    """Search lazily for a rule's choice."""
    samples = clipped(ratings.samples[prompt : prompt + 1], ratings.bounds)[0]
    samples = np.ascontiguousarray(samples[:, : len(ratings.candidate_ids[prompt])])
    normalize = ratings.constants if len(ratings.scorers) > 1 else "none"
    options: dict[str, Any] = {
        "beta": method.beta,
        "gamma": method.gamma,
        "normalize": normalize,
    }
    requested = np.zeros(ratings.samples.shape[2:], dtype=bool)

    def score(pairs: list[Pair]) -> Array:
        for pair in pairs:
            requested[pair] = True
        scores = np.array([samples[:, candidate, sample] for candidate, sample in pairs])
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores

    _, candidates, depth = samples.shape
    bounds = np.asarray(ratings.bounds, dtype=np.float64)
    lazy = select_lazily(score, candidates, depth, method.rule, bounds, BATCH, **options)
    full = select_batch(samples[None], method.rule, **options)
    return _LazySearch(requested, bool(lazy.index == full.index[0]))


def cost_table(ratings: Ratings) -> Frame:
    """The totals of a source, and each per prompt."""
    prompts = len(ratings.prompt_ids)
    rows = [
        {"source": ratings.name, "item": name, "total": total, "per_prompt": total / prompts}
        for name, total in ratings.costs.items()
    ]
    return table("cost", rows)


def latency_table(ratings: Ratings) -> Frame:
    """Seconds per prompt by stage of a run, beside what N_aug = 0 would take.

    Without rewrites a run makes none and scores the originals alone: of the scoring time, their
    share of all scored texts is counted.
    """
    seconds = _stage_seconds(ratings)
    exists = ~np.isnan(ratings.samples[:, 0])
    originals = exists[:, :, 0].sum() / max(1, exists.sum())
    without = seconds | {"rewrite": 0.0, "score": seconds.get("score", 0.0) * originals}
    total = sum(seconds.values())
    total_without = sum(without[stage] for stage in seconds)
    rows = [_latency_row(ratings, stage, seconds[stage], without[stage]) for stage in seconds]
    rows.append(_latency_row(ratings, "all", total, total_without))
    if total_without and ratings.generator != GIVEN:
        added = f"{total / total_without - 1:.1%}"
        remark = ""
    else:
        # Compared with answers that nobody had to write, everything is much.
        added = f"{total - total_without:.3f} s per prompt"
        remark = " The answers were given, not written."
    rewrites = exists.shape[2] - 1
    return table("latency", rows, name=ratings.name, rewrites=rewrites, added=added, remark=remark)


def _stage_seconds(ratings: Ratings) -> dict[str, float]:
    """Seconds per prompt by stage of a run."""
    return {
        name.removesuffix(SECONDS): total / len(ratings.prompt_ids)
        for name, total in ratings.costs.items()
        if name.endswith(SECONDS)
    }


def _latency_row(ratings: Ratings, stage: str, seconds: float, without: float) -> Record:
    return {
        "source": ratings.name,
        "stage": stage,
        "seconds_per_prompt": seconds,
        "at_n_aug_0": without,
    }


def decision_cost_table(contest: Contest) -> Frame:
    """Milliseconds that each rule took to decide a prompt of the cached pools, on this machine."""
    decisions = max(1, int(contest.usable.sum()))
    rows = [
        {
            "source": contest.ratings.name,
            "method": method,
            "milliseconds_per_prompt": 1000 * contest.seconds[method] / decisions,
        }
        for method in contest.methods
    ]
    return table("decision_cost", rows)
