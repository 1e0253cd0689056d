"""Ratings to look at: people of two groups, three answers per prompt, texts beside the ratings."""

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from darc.viewer.index import DecisionIndex, build_index
from darc.viewer.open_source import SourceOptions, open_source

HOSTILE = "<script>document.title = 'broken'</script>"
ANSWERS = {
    "roast": "A roast that a few guests will not forgive. ",
    "story": "A short story about how they met. ",
    "poem": "A poem in free verse, read slowly. ",
}


def write_ratings(path: Path, prompts: int = 12, seed: int = 0) -> Path:
    """Write ratings from 1 to 10 by eight people: the roast divides them, the poem is poor."""
    draw = random.Random(seed)
    lines = ["prompt_id,candidate_id,rater_id,rating,rater_group"]
    for prompt in range(prompts):
        for rater in range(8):
            group = "young" if rater < 5 else "old"
            ratings = {
                "roast": 10 if group == "young" else draw.randint(1, 3),
                "story": draw.randint(6, 7),
                "poem": draw.randint(1, 4),
            }
            for name, rating in ratings.items():
                lines.append(f"p{prompt},{name},r{rater},{rating},{group}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_texts(ratings: Path, prompts: int = 12) -> Path:
    """Write the texts beside a file of ratings; one of them wants to run a script."""
    path = ratings.with_name(f"{ratings.stem}.texts.jsonl")
    rows = []
    for prompt in range(prompts):
        question = f"Write toast number {prompt} for a wedding in Zürich."
        if prompt == 3:
            question = f"結婚式の乾杯 {HOSTILE}"
        for name, answer in ANSWERS.items():
            text = answer * (1 + prompt % 3)
            if prompt == 3:
                text = f"{HOSTILE} {text}"
            rows.append(
                {
                    "prompt_id": f"p{prompt}",
                    "candidate_id": name,
                    "prompt": question,
                    "response": text,
                }
            )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@contextmanager
def index_of(*paths: Path, rules: Sequence[str | None] = (None,)) -> Iterator[DecisionIndex]:
    """The index of one or two sources, each decided by its rule."""
    if len(paths) == 1:
        paths *= len(rules)
    if len(rules) == 1:
        rules = list(rules) * len(paths)
    sources = [
        open_source(path, SourceOptions(rule=rule)) for path, rule in zip(paths, rules, strict=True)
    ]
    with build_index(sources, lambda done, total: None) as index:
        yield index
