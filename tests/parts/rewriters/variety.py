"""How many rewrites the rules find and how much they differ.

Run it with `python -m tests.parts.rewriters.variety`.

`answers.jsonl` holds answers of the embedded model to the prompts that come with DARC (k = 1, at
most 100 tokens, seed 0, otherwise the defaults); `chat.jsonl` holds answers in the manner of chat
models, written by hand. With a file as argument, its rows (`id`, `prompt` and `text`) are measured
in place of the model's.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from tests.parts.rewriters.helpers import HERE, rows

from darc.engine.parts import Parts
from darc.engine.surface_scorers import SURFACE_SCORERS
from darc.parts.rewriters import Rewrites
from darc.parts.rewriters.rules_rewriter import neighbour_pairs, pair_distance
from darc.types import Candidate, Message, Prompt

LONG = 25
FAMILIES = ("style", "targeted", "hybrid")

Answer = tuple[Prompt, str]


@dataclass(frozen=True)
class Variety:
    """What was measured on the answers of one set under one family.

    `accepted` is the mean number of rewrites of 8, `distinct` that of different wordings of them,
    `worded` the share of rewrites that differ from their answer in words, and `apart` the mean
    distance of two rewrites of an answer (0 to 1, by pairs of words). `any_spread` and
    `worded_spread` are the shares of answers with sigma > 0 under any scorer, and under relevance
    or fluency; `spread` has the same by scorer.
    """

    answers: int
    accepted: float
    distinct: float
    worded: float
    apart: float
    any_spread: float
    worded_spread: float
    spread: dict[str, float]


def plain_answers() -> list[Answer]:
    """Plain prose of the hand-made texts, and the good answers to the scorers' prompts."""
    texts = [(row["topic"], row["text"]) for row in rows("texts.jsonl")]
    measured = [
        _answer(topic, "Can you explain this?", text) for topic, text in texts if _plain(text)
    ]
    lines = (HERE.parent / "scorers" / "discrimination.jsonl").read_text("utf-8").splitlines()
    judged = [json.loads(line) for line in lines]
    return measured + [_answer(row["id"], row["prompt"], row["good"]) for row in judged]


def answers_in(path: Path) -> list[Answer]:
    """The answers of a file."""
    lines = path.read_text("utf-8").splitlines()
    return [_answer(row["id"], row["prompt"], row["text"]) for row in map(json.loads, lines)]


def measure(answers: Sequence[Answer], family: str, least_words: int = 0) -> Variety:
    """The variety of the rewrites of answers of at least so many words."""
    tools = Parts.model_validate({"family": family}).tools()
    counts: list[int] = []
    distinct: list[int] = []
    worded: list[bool] = []
    apart: list[float] = []
    sigmas: list[list[float]] = []
    for prompt, text in answers:
        if len(text.split()) < least_words:
            continue
        rewrites = tools.rewrite(prompt, Candidate(prompt.id, 0, text), tools.n_aug)
        origin = neighbour_pairs(text)
        pairs = [neighbour_pairs(variant.text) for variant in rewrites.variants]
        counts.append(len(pairs))
        distinct.append(len({*pairs} - {origin}))
        worded += [other != origin for other in pairs]
        apart += [pair_distance(first, second) for first, second in combinations(pairs, 2)]
        scored = [(prompt, other) for other in _texts(text, rewrites)]
        sigmas.append([float(tools.score(m, scored).std()) for m in range(len(SURFACE_SCORERS))])
    positive = np.array(sigmas) > 1e-12
    return Variety(
        len(counts),
        float(np.mean(counts)),
        float(np.mean(distinct)),
        float(np.mean(worded)),
        float(np.mean(apart)),
        float(positive.any(axis=1).mean()),
        float(positive[:, :2].any(axis=1).mean()),
        dict(zip(SURFACE_SCORERS, positive.mean(axis=0).tolist(), strict=True)),
    )


def _texts(text: str, rewrites: Rewrites) -> list[str]:
    return [text, *(variant.text for variant in rewrites.variants)]


def _answer(name: str, question: str, text: str) -> Answer:
    return Prompt(name, (Message("user", question),)), text


def _plain(text: str) -> bool:
    return not any(mark in text for mark in ("\n", "`", "*", "$$"))


def main() -> None:
    """Print the table."""
    answers_file = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "answers.jsonl"
    sets = {
        "plain": plain_answers(),
        "model": answers_in(answers_file),
        "chat": answers_in(HERE / "chat.jsonl"),
    }
    print(
        f"{'answers':9} {'family':9} {'words':>6} {'n':>4} {'of 8':>5} {'distinct':>8}"
        f" {'worded':>7} {'apart':>6} {'any':>5} {'r or f':>6}",
        *(f"{name:>9}" for name in SURFACE_SCORERS),
    )
    for name, answers in sets.items():
        for family in FAMILIES:
            for least in (0, LONG):
                measured = measure(answers, family, least)
                print(
                    f"{name:9} {family:9} {f'>= {least}':>6} {measured.answers:4}"
                    f" {measured.accepted:5.2f} {measured.distinct:8.2f} {measured.worded:7.1%}"
                    f" {measured.apart:6.3f} {measured.any_spread:5.0%}"
                    f" {measured.worded_spread:6.0%}",
                    *(f"{measured.spread[scorer]:9.0%}" for scorer in SURFACE_SCORERS),
                )


if __name__ == "__main__":
    main()
