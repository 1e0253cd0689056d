"""The tables of pools as they are: how far samples disagree, and what they cost."""

from typing import Any

import numpy as np

from darc.api import select_batch, select_lazily
from darc.core import risk
from darc.engine.deciding import RuleSpec
from darc.evaluation.contest import Contest
from darc.evaluation.frame import Frame
from darc.evaluation.source import Source
from darc.selection.lazy import Pair
from darc.types import clipped
from darc.typing import Array, Mask


def largest_variance(samples: Array) -> Array:
    """The largest variance (ddof = 1) over the candidates, (P, M), of samples (P, M, K, n)."""
    return np.asarray(np.fmax.reduce(risk.sigma(samples) ** 2, axis=2))


def pool_table(source: Source) -> Frame:
    """Mean, Q80 and Q90 over prompts of the largest variance, per scorer on its raw scale."""
    rows = []
    for name, values in zip(source.scorers, largest_variance(source.samples).T, strict=True):
        known = values[~np.isnan(values)]
        numbers = [float("nan")] * 4
        if known.size:
            edge = np.quantile(known, 0.8)
            numbers = [known.mean(), edge, np.quantile(known, 0.9), (known >= edge).mean()]
        rows.append((source.name, name, len(known), *map(float, numbers)))
    return Frame.of(
        "pool",
        "Disagreement on the raw pool: the largest variance among a prompt's candidates",
        ("source", "scorer", "prompts", "mean", "q80", "q90", "share_from_q80"),
        rows,
        "All samples of a candidate, nothing split.",
    )


MOST = 10
BATCH = 4


def call_table(source: Source, specs: list[RuleSpec], most: int = MOST) -> Frame:
    """Texts that each rule scores of a prompt when it searches lazily, and when it scores all.

    Needs the scorers' bounds and, for several scorers, their constants; otherwise it is empty. At
    most `most` prompts, evenly spread, are searched; the choice is checked to be the full one's.
    """
    rows = []
    prompts = _spread(source, most)
    for spec in specs:
        if not _searchable(source, spec):
            continue
        whole = lazy = same = 0
        for prompt in prompts:
            samples, shared = _searched(source, spec, prompt)
            # A sample that the search asks for and that does not exist is no text.
            there: Mask = np.asarray((~np.isnan(samples)).any(axis=0))
            asked, index = _asked(source, spec, prompt)
            full = select_batch(samples[None], spec.rule, **shared)
            whole, lazy = whole + int(there.sum()), lazy + int((asked[: len(there)] & there).sum())
            same += bool(index == full.index[0])
        count = len(prompts)
        rows.append(
            (source.name, spec.label, count, whole / count, lazy / count, lazy / whole, same)
        )
    return Frame.of(
        "calls",
        "Texts scored for a prompt",
        ("source", "method", "prompts", "full", "lazy", "share", "same_choice"),
        rows,
        f"The lazy search asks for {BATCH} texts at a time. Scores are clipped to the scorers' "
        "bounds, with fixed constants for several scorers.",
    )


def _spread(source: Source, most: int) -> list[int]:
    """At most so many prompts, evenly spread."""
    return np.unique(np.linspace(0, len(source.prompt_ids) - 1, most).astype(int)).tolist()


SECONDS, GIVEN = " seconds", "given"
PARTS = ("generated", "rewritten", "scored")


def cost_table(source: Source) -> Frame:
    """The source's totals, and each per prompt."""
    prompts = len(source.prompt_ids)
    rows = [(source.name, name, total, total / prompts) for name, total in source.costs.items()]
    columns = ("source", "item", "total", "per_prompt")
    return Frame.of("cost", "What the pools cost", columns, rows)


def latency_table(source: Source) -> Frame:
    """Seconds a prompt by stage of a run, beside what N_aug = 0 would take.

    Without rewrites a run makes none, and scores the originals alone: their share of all scored
    texts is taken of the scoring time.
    """
    seconds = {
        name.removesuffix(SECONDS): total / len(source.prompt_ids)
        for name, total in source.costs.items()
        if name.endswith(SECONDS)
    }
    there = ~np.isnan(source.samples[:, 0])
    share = there[:, :, 0].sum() / max(1, there.sum())
    plain = {
        stage: {"rewrite": 0.0, "score": spent * share}.get(stage, spent)
        for stage, spent in seconds.items()
    }
    rows = [(source.name, stage, seconds[stage], plain[stage]) for stage in seconds]
    rows.append((source.name, "all", sum(seconds.values()), sum(plain.values())))
    columns = ("source", "stage", "seconds_per_prompt", "at_n_aug_0")
    whole, alone, most = sum(seconds.values()), sum(plain.values()), there.shape[2] - 1
    # Beside answers that nobody had to write everything is much: a share would say nothing.
    written = bool(alone) and source.generator != GIVEN
    added = f"{whole / alone - 1:.1%}" if written else f"{whole - alone:.3f} s a prompt"
    note = f"{source.name}: {most} rewrites asked for add {added} to the time without any."
    if not written:
        note += " The answers were given, not written."
    return Frame.of("latency", "Latency by stage", columns, rows, note)


def decision_cost_table(contest: Contest) -> Frame:
    """Milliseconds that each rule took to decide a prompt of the cached pools, on this machine."""
    decided = max(1, int(contest.kept.sum()))
    rows = [
        (contest.source.name, method, 1000 * contest.seconds[method] / decided)
        for method in contest.methods
    ]
    return Frame.of(
        "decision_cost",
        "Deciding from cached scores",
        ("source", "method", "milliseconds_per_prompt"),
        rows,
        "The statistics, which rules of one beta and gamma share, are counted with the first rule.",
    )


def token_table(source: Source, specs: list[RuleSpec], most: int = MOST) -> Frame:
    """Tokens a prompt that each rule's decision costs, with everything scored and lazily.

    Empty where the source recorded none. At most `most` prompts, evenly spread, are counted.
    """
    rows: list[tuple[object, ...]] = []
    prompts = _spread(source, most)
    for spec in specs if source.spent else ():
        if any(name not in source.side for name in spec.rule.required()):
            continue
        full = np.array([_spent(source, p, _needed(source, spec, p)) for p in prompts])
        parts = full.mean(axis=0)
        lazily = float("nan")
        if _searchable(source, spec):
            asked = [_spent(source, p, _asked(source, spec, p)[0]) for p in prompts]
            lazily = float(np.sum(asked, axis=1).mean())
        rows.append((source.name, spec.label, len(prompts), *parts, parts.sum(), lazily))
    return Frame.of(
        "tokens",
        "Tokens that a prompt's decision takes",
        ("source", "method", "prompts", *PARTS, "total", "lazily"),
        rows,
        "Generated: all answers, as the run counted them. Rewritten: what a model wrote, refused "
        "rewrites too, none where rules rewrite. Scored: what all scorers read of the answers and "
        "rewrites that the rule needs. A rewrite's tokens follow its answer's by characters; the "
        "prompts and instructions that models read are not recorded. Lazily: the total of the "
        "lazy search.",
    )


def _spent(source: Source, prompt: int, wanted: Mask) -> list[float]:
    """Tokens generated, rewritten and scored for one prompt when `wanted` (K, n) are scored."""
    generated, rewritten, scored = (source.spent[name][prompt] for name in PARTS)
    return [
        float(np.nansum(generated)),
        float(np.nansum(rewritten[wanted[:, 1:].any(axis=1)])),
        len(source.scorers) * float(np.nansum(scored[wanted])),
    ]


def _needed(source: Source, spec: RuleSpec, prompt: int) -> Mask:
    """The samples (K, n) that a rule looks at."""
    there = ~np.isnan(source.samples[prompt]).all(axis=0)
    given = spec.rule.parameters
    if spec.rule.name == "mbr" and given.get("weights") != "reward":
        there[:] = False
    elif given.get("reward") == "original":
        there[:, 1:] = False
    return np.asarray(there)


def _searchable(source: Source, spec: RuleSpec) -> bool:
    """Whether the lazy search is exact for the rule on this source."""
    if spec.rule.plan is None or spec.rule.required() or source.bounds is None:
        return False
    return len(source.scorers) == 1 or source.constants is not None


def _searched(source: Source, spec: RuleSpec, prompt: int) -> tuple[Array, dict[str, Any]]:
    """A prompt's samples (M, K, n) as the lazy search sees them, and how the rule is asked."""
    samples = clipped(source.samples[prompt : prompt + 1], source.bounds)[0]
    samples = np.ascontiguousarray(samples[:, : len(source.candidate_ids[prompt])])
    normalize = source.constants if len(source.scorers) > 1 else "none"
    return samples, {"beta": spec.beta, "gamma": spec.gamma, "normalize": normalize}


def _asked(source: Source, spec: RuleSpec, prompt: int) -> tuple[Mask, int]:
    """The samples (K, n) that the lazy search asks for, and what it chooses."""
    samples, shared = _searched(source, spec, prompt)
    asked = np.zeros(source.samples.shape[2:], dtype=bool)

    def score(pairs: list[Pair]) -> Array:
        for pair in pairs:
            asked[pair] = True
        values = np.array([samples[:, k, i] for k, i in pairs])
        return values if values.shape[1] > 1 else values[:, 0]

    bounds = np.asarray(source.bounds, dtype=np.float64)
    _, size, depth = samples.shape
    found = select_lazily(score, size, depth, spec.rule, bounds, BATCH, **shared)
    return asked, found.index
