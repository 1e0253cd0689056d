"""The scores of a finished run as `Ratings`."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.statistics.arrays import stacked
from darc.ratings.lazy import LazySequence
from darc.ratings.ratings import GIVEN, SPENT, Ratings
from darc.ratings.splitting import NOBODY
from darc.runs import records
from darc.runs.folder import RunFolder, check_complete
from darc.runs.manifest import method_of
from darc.runs.shard import Shard
from darc.runs.summary import sum_costs
from darc.types import Candidate
from darc.typing import Array

# The rewriter that costs no tokens.
_RULES = "rules"
_VARIANTS = "variants.jsonl"


def load_run(path: Path, name: str | None = None) -> Ratings:
    """Load the scores and side inputs of a finished run; a lazy one must be completed.

    It is read shard by shard. What is held in memory are its numbers, which every rule looks at
    in every split: the scores, a length and the side inputs of each candidate. The texts are read
    again, a shard at a time, where they are looked at.

    Args:
        path: The run folder.
        name: What reports call the ratings; by default the name of the folder.

    Raises:
        InputError: It is not a complete run.
    """
    folder = RunFolder(path)
    check_complete(folder)
    method_of(folder)
    settings = folder.manifest()["settings"]
    prompts: list[_RunPrompt] = []
    rewrites = Counter[str]()
    for shard in folder.shards():
        prompt_ids = shard.rows("decisions.jsonl")
        prompts.extend(_read_prompt(shard, prompt_id) for prompt_id in prompt_ids)
        rewrites.update(_count_rewrites(shard))
    samples = stacked([prompt.scores for prompt in prompts])
    described = records.scores_of(settings, samples[0])
    systems = [prompt.systems for prompt in prompts]
    texts = _RunTexts(folder, prompts)
    costs: dict[str, float] = {}
    for stage, units in sum_costs(folder.shards()).items():
        for unit, amount in units.items():
            costs[f"{stage} {unit}"] = amount
    return Ratings(
        name=name or path.resolve().name,
        kind="panel" if described.sample == records.RATER else "rewrite",
        prompt_ids=[prompt.id for prompt in prompts],
        candidate_ids=[prompt.candidates for prompt in prompts],
        scorers=list(described.scorers),
        samples=samples,
        raters=np.where(np.isnan(samples), NOBODY, np.arange(samples.shape[3])),
        rater_names=list(described.samples),
        lengths=stacked([prompt.lengths for prompt in prompts]),
        side=_shared_side_inputs(prompts),
        systems=systems if any(map(any, systems)) else (),
        constants=described.constants,
        bounds=described.bounds,
        questions=LazySequence(len(prompts), texts.question),
        texts=LazySequence(len(prompts), texts.answers),
        costs=costs | rewrites,
        tokens_spent={
            name: stacked([prompt.tokens_spent[name] for prompt in prompts]) for name in SPENT
        },
        generator=settings["generator"]["name"],
        family=settings["rewrites"]["family"],
    )


@dataclass(frozen=True, eq=False)
class _RunPrompt:
    """The numbers of one prompt of a run."""

    id: str
    #: The number of its shard.
    shard: int
    #: The ids of the candidates, and the systems that wrote them, "" where not known.
    candidates: list[str]
    systems: list[str]
    #: The length in tokens of each candidate, and how many times it was written, (K,).
    lengths: Array
    copies: Array
    #: The scores (M, K, n).
    scores: Array
    #: Side inputs (K, ...) by name.
    side: Mapping[str, Array]
    #: See `Ratings.tokens_spent`.
    tokens_spent: Mapping[str, Array] = field(default_factory=dict)


def _read_prompt(shard: Shard, prompt_id: str) -> _RunPrompt:
    candidates = records.read_candidates(shard, prompt_id)
    scores = records.read_scores(shard, prompt_id).values
    side = shard.rows("side.jsonl").get(prompt_id, {})
    return _RunPrompt(
        id=prompt_id,
        shard=int(shard.name or 0),
        candidates=[sys.intern(candidate.id) for candidate in candidates],
        systems=[sys.intern(candidate.name) for candidate in candidates],
        lengths=np.array([float(candidate.tokens) for candidate in candidates]),
        copies=np.array([float(candidate.copies) for candidate in candidates]),
        scores=scores,
        side={name: np.array(side[name]) for name in sorted(side) if name != "prompt_id"},
        tokens_spent=_tokens_spent(shard, prompt_id, candidates, scores.shape[2]),
    )


def _count_rewrites(shard: Shard) -> dict[str, int]:
    """How many rewrites of a shard were accepted and refused."""
    if _VARIANTS not in shard.kept:
        return {}
    counts = {}
    for fate, key in (("accepted", "variants"), ("refused", "rejected")):
        rows = shard.rows(f"{key}.jsonl").values()
        counts[f"rewrites {fate}"] = sum(len(row[key]) for row in rows)
    return counts


def _shared_side_inputs(prompts: Sequence[_RunPrompt]) -> dict[str, Array]:
    """The side inputs that all prompts have, (P, K, ...)."""
    side = {
        name: stacked([prompt.side[name] for prompt in prompts])
        for name in prompts[0].side
        if all(name in prompt.side for prompt in prompts)
    }
    # Only prompts with repeated answers have their number as a side input.
    if any((prompt.copies > 1).any() for prompt in prompts):
        side["copies"] = stacked([prompt.copies for prompt in prompts])
    return side


class _RunTexts:
    """Reads the texts of a run's prompts, with one shard in memory at a time."""

    def __init__(self, folder: RunFolder, prompts: Sequence[_RunPrompt]) -> None:
        self._read_shard = lru_cache(maxsize=1)(folder.shard)
        self._shards = [prompt.shard for prompt in prompts]
        self._ids = [prompt.id for prompt in prompts]

    def question(self, prompt: int) -> str:
        """The text of a prompt."""
        shard = self._read_shard(self._shards[prompt])
        return records.read_prompt(shard, self._ids[prompt]).question

    def answers(self, prompt: int) -> list[str]:
        """The texts of a prompt's candidates."""
        shard = self._read_shard(self._shards[prompt])
        candidates = records.read_candidates(shard, self._ids[prompt])
        return [candidate.text for candidate in candidates]


def _tokens_spent(
    shard: Shard, prompt_id: str, candidates: Sequence[Candidate], size: int
) -> dict[str, Array]:
    """The tokens of a prompt by what they were spent on, see `Ratings.tokens_spent`.

    A rewrite has as many tokens per character as its original. Answers that were given and
    rewrites made by rules cost none.
    """
    perturbed: Mapping[int, Any] = {}
    if _VARIANTS in shard.kept:
        perturbed = records.read_rewrites(shard, prompt_id, len(candidates))
    generated = np.zeros(len(candidates))
    rewritten = np.zeros(len(candidates))
    scored = np.full((len(candidates), size), np.nan)
    is_given = shard.settings["generator"]["name"] == GIVEN
    for k, candidate in enumerate(candidates):
        tokens_per_character = float(candidate.tokens) / max(1, len(candidate.text))
        if not is_given:
            generated[k] = float(candidate.tokens) * float(candidate.copies)
        texts = [candidate.text]
        if k in perturbed:
            texts += [variant.text for variant in perturbed[k].variants]
            for proposals in (perturbed[k].variants, perturbed[k].rejections):
                characters = sum(len(p.text) for p in proposals if p.rewriter != _RULES)
                rewritten[k] += tokens_per_character * characters
        read = [tokens_per_character * len(text) for text in texts[:size]]
        scored[k, : len(read)] = read
    return dict(zip(SPENT, (generated, rewritten, scored), strict=True))
