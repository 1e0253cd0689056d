"""Small sources with a known seed."""

from typing import Any

import numpy as np

from darc.ratings.ratings import Ratings


def make_source(
    prompts: int = 12,
    candidates: int = 4,
    raters: int = 6,
    scorers: int = 1,
    seed: int = 0,
    kind: str = "rater",
    name: str = "made",
    **more: Any,
) -> Ratings:
    generator = np.random.default_rng(seed)
    quality = generator.normal(5.0, 1.0, (prompts, 1, candidates, 1))
    spread = generator.uniform(0.2, 2.0, (prompts, 1, candidates, 1))
    shape = (prompts, scorers, candidates, raters)
    samples = quality + spread * generator.normal(size=shape)
    if kind == "rater":
        samples = np.clip(np.rint(samples), 0, 10)
    numbers = np.broadcast_to(np.arange(raters), shape).copy()
    settings: dict[str, Any] = {
        "lengths": generator.integers(5, 50, (prompts, candidates)).astype(float),
        "questions": [f"question {p}" for p in range(prompts)],
        "texts": [[f"answer {p} {k}" for k in range(candidates)] for p in range(prompts)],
    }
    scorer_names = [f"s{m}" for m in range(scorers)]
    if scorers == 1:
        scorer_names = [""]
    return Ratings(
        name=name,
        kind=kind,
        prompt_ids=[f"p{p:03d}" for p in range(prompts)],
        candidate_ids=[[f"c{k}" for k in range(candidates)] for _ in range(prompts)],
        scorers=scorer_names,
        samples=samples,
        raters=numbers,
        rater_names=[f"r{i}" for i in range(raters)],
        **{**settings, **more},
    )
