"""Makes order.json and prints the scorers' constants: `python -m tests.parts.scorers.calibrate`.

The word-order counts come from everything fluent in the development half. Location and scale are
the mean and the standard deviation over the development half's good and mediocre answers, where
good answers with slight faults count as mediocre too.
"""

import json
import random

import numpy as np
from tests.parts.scorers.answers import Example, examples, misspelt
from tests.parts.scorers.embedding import embedder

from darc.language.data_files import DATA
from darc.language.text import SENTENCE_END, Text
from darc.language.word_classes import CLASSES
from darc.language.word_order import class_pairs
from darc.parts.scorers import Fluency, Form, Relevance, Scorer
from darc.types import Prompt

OPENING = "Great question! "
CLOSING = " I hope this helps."


def development() -> list[Example]:
    """The half that may be looked at."""
    return [example for example in examples() if not example.held_out]


def order_counts() -> dict[str, object]:
    """Counts of neighbouring word classes in everything fluent of the development half."""
    fluent = []
    for example in development():
        bad = [example.bad[kind] for kind in ("rude", "evasive") if kind in example.bad]
        fluent += [example.good, example.prompt.question, *bad]
    counts = np.zeros((2, len(CLASSES), len(CLASSES)), dtype=np.int64)
    for text in fluent:
        for table, places in zip(counts, class_pairs(Text(text).tokens), strict=True):
            np.add.at(table, places, 1)
    return {"classes": CLASSES, "counts": counts.tolist()}


def ordinary_pairs() -> list[tuple[Prompt, str]]:
    """Good and mediocre answers of the development half with their prompts."""
    pairs = []
    for example in development():
        draw = random.Random(example.prompt.id)
        first_half = SENTENCE_END.split(example.good)
        answers = [
            example.good,
            misspelt(example.good, 0.04, draw),
            OPENING + example.good + CLOSING,
            "\n".join(first_half[: max(2, len(first_half) // 2)]),
        ]
        if example.mediocre:
            answers.append(example.mediocre)
        pairs += [(example.prompt, answer) for answer in answers]
    return pairs


def main() -> None:
    """Write the counts, then print the constants with them in place."""
    (DATA / "order.json").write_text(
        json.dumps(order_counts(), separators=(",", ":")) + "\n", encoding="utf-8"
    )
    scorers: list[Scorer] = [Relevance(embedder()), Fluency(), Form()]
    pairs = ordinary_pairs()
    for scorer in scorers:
        scores = scorer.score(pairs)
        print(f"{scorer.name}: location {np.mean(scores):.3f}, scale {np.std(scores, ddof=1):.3f}")


if __name__ == "__main__":
    main()
