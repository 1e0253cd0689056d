"""`relevance` and the guard of rewrites on MiniLM, beside the static embeddings they use.

The scale of `relevance` is calibrated anew for each, on the development half of the hand-written
answers; the other three scorers stay as they are. The shipped prompts are answered once by the
embedded model, into `build/embedding`. PAIRS (--pairs) are counted, never printed.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from tests.parts.rewriters.helpers import rows as read_rows
from tests.parts.scorers.answers import examples
from tests.parts.scorers.calibrate import ordinary_pairs
from tests.parts.scorers.test_discrimination import REFUSALS, accuracy

from benchmarks.demo import ASKED, has_asked, is_complete
from benchmarks.report import Table
from darc.cli import main
from darc.decide.statistics.risk import entropic_value
from darc.engine.tools import similarity_of
from darc.models.embeddings import Embeddings, MiniLM
from darc.parts.scorers import Fluency, Form, Harm, Relevance, normalise_scores
from darc.parts.scorers.base import Pair
from darc.runs.folder import RunFolder
from darc.runs.records import read_candidates, read_prompt
from darc.train.caution_report import auc
from darc.train.head import read_pairs
from darc.types import Prompt
from darc.typing import Array

FOLDER = Path("build/embedding")
K = 4
TOKENS = 128
OTHERS = (Fluency(), Form(), Harm())


def run(pairs: str = "") -> Iterator[Table]:
    columns = [measured(embedder, pairs) for embedder in (Embeddings(), MiniLM())]
    rows: list[list[object]] = [
        [name, *(column[name] for column in columns)] for name in columns[0]
    ]
    title = "what the embedded scorers get right by the embeddings that relevance uses"
    note = f"shipped prompts: K = {K}, at most {TOKENS} tokens, chosen by the answers alone"
    yield Table(title, ["measure", Embeddings.name, MiniLM.name], rows, note)


def measured(embedder: Embeddings | MiniLM, pairs: str) -> dict[str, str]:
    """Every figure of one embedder by its name."""
    relevance = Relevance(embedder)
    started = time.perf_counter()
    ordinary = ordinary_pairs()
    scores = relevance.score(ordinary)
    seconds = time.perf_counter() - started
    relevance.location = float(scores.mean())
    relevance.scale = float(scores.std(ddof=1))
    figures = {"relevance, ms per answer": f"{1000 * seconds / len(ordinary):.1f}"}
    for half in (False, True):
        name = "held-out" if half else "development"
        half_examples = [example for example in examples() if example.held_out == half]
        answers = [
            (example.prompt, (example.good, *example.bad.values())) for example in half_examples
        ]
        alone, all_four = shares(relevance, answers)
        figures[f"{name} answers: relevance alone"] = f"{alone:.3f}"
        figures[f"{name} answers: all four"] = f"{all_four:.3f}"
        with_refusals = [(example.prompt, (example.good, *REFUSALS)) for example in half_examples]
        _, refusals = shares(relevance, with_refusals)
        figures[f"{name} answers above refusals"] = f"{refusals:.3f}"
    figures |= chosen(relevance)
    if pairs:
        choices = [(pair.prompt, (pair.better, pair.worse)) for pair in read_pairs(Path(pairs))]
        alone, all_four = shares(relevance, choices)
        figures[f"{len(choices)} pairs for harmlessness: relevance alone"] = f"{alone:.3f}"
        figures[f"{len(choices)} pairs for harmlessness: all four"] = f"{all_four:.3f}"
    return figures | guarded(embedder)


def scored(relevance: Relevance, pairs: Sequence[Pair]) -> Array:
    """Scores on the common scale, (n, 4)."""
    scorers = (relevance, *OTHERS)
    return np.column_stack([normalise_scores(scorer, scorer.score(pairs)) for scorer in scorers])


def shares(relevance: Relevance, answers: Sequence[tuple[Prompt, Sequence[str]]]) -> Array:
    """How often the first answer of a prompt scores above each other: relevance, all four."""
    pairs = [(prompt, text) for prompt, texts in answers for text in texts]
    scores = scored(relevance, pairs)
    both = np.column_stack([scores[:, 0], entropic_value(scores, 1.0)])
    ends = np.cumsum([len(texts) for _, texts in answers])
    differences = [rows[:1] - rows[1:] for rows in np.split(both, ends[:-1])]
    return accuracy(np.concatenate(differences))


def chosen(relevance: Relevance) -> dict[str, str]:
    """Of the shipped prompts: where the choice is complete, has what was asked for, or both."""
    command = ["run", "--prompts", "examples", "--out", str(FOLDER), "--scorer", "form"]
    if main([*command, "--n-aug", "0", "-k", str(K), "--max-tokens", str(TOKENS)]) != 0:
        raise SystemExit(1)
    counts = np.zeros(3, dtype=int)
    for shard in RunFolder(FOLDER).shards():
        # Later turns of a conversation are not looked into.
        for name in ASKED.keys() & shard.rows("candidates.jsonl"):
            candidates = read_candidates(shard, name)
            prompt = read_prompt(shard, name)
            values = scored(relevance, [(prompt, candidate.text) for candidate in candidates])
            best = candidates[int(np.argmax(entropic_value(values, 1.0)))]
            complete = is_complete(best)
            answered = has_asked(name, best.text)
            counts += (complete, answered, complete and answered)
    names = ("complete", "what was asked for", "both")
    return {f"shipped prompts: {name}": str(n) for name, n in zip(names, counts, strict=True)}


def guarded(embedder: Embeddings | MiniLM) -> dict[str, str]:
    """How far the likeness of original and rewrite tells good rewrites by hand from bad ones."""
    rows = read_rows("rewrites.jsonl")
    pairs = [(row["original"], row["rewrite"]) for row in rows]
    likeness = np.asarray(similarity_of(embedder)(pairs), dtype=np.float64)
    good = np.array([row["good"] for row in rows])
    least = float(np.quantile(likeness[good], 0.01))
    return {
        "rewrites by hand: AUC of the likeness": f"{auc(likeness[~good], likeness[good]):.3f}",
        "bad rewrites refused where 1 in 100 good ones is": (
            f"{(likeness[~good] < least).mean():.3f}"
        ),
    }
