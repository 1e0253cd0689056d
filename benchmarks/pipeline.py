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

PROMPTS, TOKENS, ROUNDS = 8, 128, 3
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
            key=lambda each: each["rewrite"] + each["score"] + each["decide"],
        )
        added = (spent["rewrite"] + spent["score"] + spent["decide"]) / writing
        search = "lazy" if lazily else "full"
        stages = [round(spent[name], 1) for name in ("rewrite", "score", "decide", "texts")]
        rows.append([n_aug, search, round(writing), *stages, f"{added:.1%}"])
        if n_aug == 8:
            notes.append(f"{search} n_aug 8: scoring alone adds {spent['score'] / writing:.1%}")
            if lazily:
                word = "met" if added <= GOAL else "missed"
                notes.append(f"goal of at most {GOAL:.0%} for everything: {word}")
    notes.append(f"{len(prompts)} prompts, {tokens} tokens at {rate:.0f} a second")
    notes.append(f"best of {ROUNDS}, no scores kept")
    header = ["n_aug", "search", "write", "rewrite", "score", "decide", "texts scored", "added"]
    title = f"milliseconds a prompt, K = 16 answers of up to {TOKENS} tokens"
    yield Table(title, header, rows, "; ".join(notes))


def measured(
    prompts: list[Prompt], pools: list[list[Candidate]], n_aug: int, lazily: bool
) -> dict[str, float]:
    """Milliseconds a prompt by stage, and texts scored a prompt."""
    with Engine(scorers=EMBEDDED_SCORERS, n_aug=n_aug) as engine:
        engine.choose(prompts[0], pools[0][:2])  # loads what is loaded once
        started = time.perf_counter()
        outcomes = [
            engine.choose(prompt, pool, score_everything=not lazily)
            for prompt, pool in zip(prompts, pools, strict=True)
        ]
        whole = (time.perf_counter() - started) * 1000
    texts = sum(outcome.calls for outcome in outcomes)
    rewrite, score = (
        sum(outcome.milliseconds.get(stage, 0.0) for outcome in outcomes)
        for stage in ("rewrite", "score")
    )
    each = {"rewrite": rewrite, "score": score, "decide": whole - rewrite - score}
    return {name: ms / len(prompts) for name, ms in each.items()} | {"texts": texts / len(prompts)}
