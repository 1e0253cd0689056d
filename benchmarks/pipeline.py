"""What choosing costs beside writing, on the embedded model: N_aug 0, 4, 8, 16, full and lazy."""

import itertools
import time
from collections.abc import Iterator

from benchmarks import EMBEDDED_SCORERS
from benchmarks.report import Table
from darc.engine.engine import Engine
from darc.parts.generators import SamplingParameters
from darc.registry import generators
from darc.runs.questions import find_questions
from darc.types import Candidate, Prompt

PROMPTS = 8
TOKENS = 128
ROUNDS = 3
SIZES = (0, 4, 8, 16)
GOAL = 0.30


def run() -> Iterator[Table]:
    questions = list(find_questions("examples"))[:: 40 // PROMPTS][:PROMPTS]
    prompts = [question.prompt() for question in questions]
    settings = SamplingParameters(k=16, max_tokens=TOKENS)
    generator = generators.make("embedded")
    generator.generate(prompts[:1], SamplingParameters(k=2, max_tokens=8))
    started = time.perf_counter()
    pools = [generator.generate([prompt], settings)[0] for prompt in prompts]
    writing = (time.perf_counter() - started) * 1000 / len(prompts)
    generator.close()
    tokens = sum(candidate.tokens for pool in pools for candidate in pool)
    rate = tokens / (writing * len(prompts) / 1000)
    rows: list[list[object]] = []
    notes = []
    for n_aug, lazily in itertools.product(SIZES, (False, True)):
        spent = min(
            (measured(prompts, pools, n_aug, lazily) for _ in range(ROUNDS)),
            key=total_of,
        )
        added = total_of(spent) / writing
        search = "lazy" if lazily else "full"
        stages = [round(spent[name], 1) for name in ("rewrite", "score", "decide", "texts")]
        rows.append([n_aug, search, round(writing), *stages, f"{added:.1%}"])
        if n_aug == 8:
            notes.append(f"{search} n_aug 8: scoring alone adds {spent['score'] / writing:.1%}")
            if lazily:
                word = "met" if added <= GOAL else "missed"
                notes.append(f"goal of at most {GOAL:.0%} for everything: {word}")
    notes.append(f"{len(prompts)} prompts, {tokens} tokens at {rate:.0f} per second")
    notes.append(f"best of {ROUNDS}, no scores kept")
    header = ["n_aug", "search", "write", "rewrite", "score", "decide", "texts scored", "added"]
    title = f"milliseconds per prompt, K = 16 answers of up to {TOKENS} tokens"
    yield Table(title, header, rows, "; ".join(notes))


def total_of(stages: dict[str, float]) -> float:
    """Milliseconds of everything that comes after writing."""
    return stages["rewrite"] + stages["score"] + stages["decide"]


def measured(
    prompts: list[Prompt], pools: list[list[Candidate]], n_aug: int, lazily: bool
) -> dict[str, float]:
    """Milliseconds by stage, and texts scored, per prompt."""
    with Engine(scorers=EMBEDDED_SCORERS, n_aug=n_aug) as engine:
        engine.choose(prompts[0], pools[0][:2])  # loads what is loaded once
        started = time.perf_counter()
        outcomes = [
            engine.choose(prompt, pool, score_everything=not lazily)
            for prompt, pool in zip(prompts, pools, strict=True)
        ]
        total = (time.perf_counter() - started) * 1000
    texts = sum(outcome.calls for outcome in outcomes)
    rewrite = sum(outcome.milliseconds.get("rewrite", 0.0) for outcome in outcomes)
    score = sum(outcome.milliseconds.get("score", 0.0) for outcome in outcomes)
    return {
        "rewrite": rewrite / len(prompts),
        "score": score / len(prompts),
        "decide": (total - rewrite - score) / len(prompts),
        "texts": texts / len(prompts),
    }
