"""What the installed Qwen model can do: judge answers, and rewrite them.

Every reply is kept in a folder, so that an interrupted measurement goes on where it was. The texts
of the harmlessness pairs are neither printed nor kept.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.parts.scorers.answers import examples

from benchmarks import EMBEDDED_SCORERS
from benchmarks.report import Table
from darc.analysis.ranks import spearman
from darc.errors import DarcError
from darc.models.completion import ChatModel
from darc.models.embedded import open_installed
from darc.parts.rewriters.filters import rejection_reason
from darc.parts.rewriters.llm_rewriter import LlmRewriter
from darc.parts.scorers import normalise_scores
from darc.parts.scorers.base import Pair
from darc.parts.scorers.judge import Judge
from darc.registry import scorers
from darc.settings.choices import Acceptance
from darc.train.head import read_pairs
from darc.types import Message, Prompt

Array = NDArray[np.float64]

N_AUG = 4
FAMILIES = ("style", "targeted")
RATINGS = "summeval"
RESAMPLES = 2000
_STATE = Path("build/qwen")


@dataclass(frozen=True)
class RatedAnswer:
    """The answer that Best-of-K by the default scorers takes, and what people think of it."""

    prompt: Prompt
    text: str
    #: The standard deviation of people's ratings.
    disagreement: float


class Journal:
    """Results by key, one line of JSON each, kept as soon as they are there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.results: dict[str, Any] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.results[row["key"]] = row["result"]

    def compute(self, key: str, function: Callable[[], Any]) -> Any:
        """The result of a key; the function is called only if there is none yet."""
        if key not in self.results:
            result = function()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "result": result}) + "\n")
            self.results[key] = result
        return self.results[key]


def judge_margins(judge: Judge, journal: Journal, pairs: Sequence[tuple[str, Pair, Pair]]) -> Array:
    """The grade of the better answer less that of the worse one, (pairs,).

    Args:
        judge: The judge.
        journal: Where grades are kept.
        pairs: A key, the better answer and the worse answer, each with its prompt.

    Returns:
        The margins.
    """
    margins = []
    for number, (key, better, worse) in enumerate(pairs, start=1):
        grades = [
            journal.compute(f"{key} {side}", partial(_grade, judge, pair))
            for side, pair in (("better", better), ("worse", worse))
        ]
        margins.append(grades[0] - grades[1])
        print(f"\rjudging: {number} of {len(pairs)} pairs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.array(margins)


def _grade(judge: Judge, pair: Pair) -> float:
    return float(judge.score([pair])[0])


def share_won(margins: Array) -> float:
    """The share of pairs in which the better answer has the higher grade; ties count half."""
    return float(np.mean(np.where(margins == 0, 0.5, margins > 0)))


def share_interval(margins: Array) -> tuple[float, float]:
    """Wilson's 95 % interval of `share_won`."""
    z = 1.959964
    n = len(margins)
    share = share_won(margins)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return float(centre - half), float(centre + half)


def judge_row(name: str, margins: Array) -> list[object]:
    """One row of the table of judgements."""
    low, high = share_interval(margins)
    ties = int(np.sum(margins == 0))
    return [name, len(margins), f"{share_won(margins):.2f}", f"{low:.2f} to {high:.2f}", ties]


def judge_table(
    model: ChatModel, state: Path, examples_number: int, pairs_file: Path | None, pairs_number: int
) -> Table:
    """How often the model as a judge prefers the better answer."""
    judge = Judge(model)
    journal = Journal(state / "grades.jsonl")
    rows = []
    held_out = [example for example in examples() if example.held_out][:examples_number]
    kinds = sorted({kind for example in held_out for kind in example.bad})
    for kind in kinds:
        pairs = [
            (
                f"{example.prompt.id} {kind}",
                (example.prompt, example.good),
                (example.prompt, example.bad[kind]),
            )
            for example in held_out
            if kind in example.bad
        ]
        rows.append(judge_row(f"hand-made, {kind}", judge_margins(judge, journal, pairs)))
    if pairs_file is not None and pairs_number:
        harmless = read_pairs(pairs_file)[:pairs_number]
        named = [
            (f"harmless {number}", (pair.prompt, pair.better), (pair.prompt, pair.worse))
            for number, pair in enumerate(harmless)
        ]
        rows.append(judge_row("harmlessness", judge_margins(judge, journal, named)))
    return Table(
        f"{model.name} as a judge: share of pairs in which the better answer has the higher grade",
        ["pairs", "number", "share", "95 % interval", "ties"],
        rows,
        "one grade per answer at temperature 0, the mean over the likeliest digits",
    )


def best_answers(data: Path, number: int) -> Iterator[RatedAnswer]:
    """Best-of-K's answers to the first prompts of a file of ratings."""
    ratings: dict[tuple[str, str], list[float]] = {}
    with gzip.open(data / "ratings" / f"{RATINGS}.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["prompt_id"], row["candidate_id"])
            ratings.setdefault(key, []).append(float(row["rating"]))
    pools: dict[str, list[dict[str, str]]] = {}
    with gzip.open(data / "ratings" / f"{RATINGS}.texts.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            pools.setdefault(row["prompt_id"], []).append(row)
    for prompt_id, pool in list(pools.items())[:number]:
        prompt = Prompt(prompt_id, (Message("user", pool[0]["prompt"]),))
        scores = score_texts(prompt, [row["response"] for row in pool]).mean(axis=1)
        best = pool[int(np.argmax(scores))]
        rated = ratings[prompt_id, best["candidate_id"]]
        yield RatedAnswer(prompt, best["response"], float(np.std(rated, ddof=1)))


def score_texts(prompt: Prompt, texts: Sequence[str]) -> Array:
    """Scores by the default scorers on the common scale, (texts, scorers)."""
    columns = []
    for name in EMBEDDED_SCORERS:
        scorer = scorers.make(name)
        columns.append(normalise_scores(scorer, scorer.score([(prompt, text) for text in texts])))
    return np.column_stack(columns)


def sensitivity(prompt: Prompt, texts: Sequence[str]) -> float:
    """The largest deviation of a scorer over an answer and its rewrites; NaN for one text."""
    if len(texts) < 2:
        return float("nan")
    return float(score_texts(prompt, texts).std(axis=0, ddof=1).max())


def spearman_interval(left: Array, right: Array) -> tuple[float, float]:
    """A 95 % interval of Spearman's correlation, by drawing prompts again."""
    draws = np.random.default_rng(0).integers(len(left), size=(RESAMPLES, len(left)))
    values = spearman(left[draws], right[draws])
    low, high = np.nanquantile(values, (0.025, 0.975))
    return float(low), float(high)


def rewrite_tables(model: ChatModel, state: Path, data: Path, number: int) -> list[Table]:
    """How many rewrites are accepted, and whether sensitivity goes with people's disagreement."""
    rewriter = LlmRewriter(model)
    journal = Journal(state / "rewrites.jsonl")
    levels: tuple[Acceptance, ...] = ("paper", "strict")
    counts: dict[tuple[Acceptance, str], Counter[str]] = {}
    measured: dict[str, list[tuple[float, float]]] = {level: [] for level in levels}
    for place, answer in enumerate(best_answers(data, number), start=1):
        rewrites = {
            family: journal.compute(
                f"{answer.prompt.id} {family}",
                partial(
                    rewriter.rewrite,
                    answer.prompt,
                    answer.text,
                    N_AUG // len(FAMILIES),
                    family,
                    0,
                ),
            )
            for family in FAMILIES
        }
        for level in levels:
            texts = [answer.text]
            for family, proposals in rewrites.items():
                reasons = counts.setdefault((level, family), Counter())
                for text in proposals:
                    reason = rejection_reason(answer.text, text, family, acceptance=level)
                    if reason is None and text in texts:
                        reason = "duplicate"
                    reasons[reason or "accepted"] += 1
                    if reason is None:
                        texts.append(text)
            measured[level].append((sensitivity(answer.prompt, texts), answer.disagreement))
        print(f"\rrewriting: {place} of {number} prompts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [_acceptance_table(model, counts), _correlation_table(model, measured)]


def _acceptance_table(
    model: ChatModel, counts: dict[tuple[Acceptance, str], Counter[str]]
) -> Table:
    rows: list[list[object]] = []
    for (level, family), reasons in counts.items():
        total = sum(reasons.values())
        rejected = ", ".join(
            f"{reason} {count}" for reason, count in reasons.most_common() if reason != "accepted"
        )
        accepted = reasons["accepted"]
        rows.append([level, family, total, accepted, f"{accepted / max(total, 1):.2f}", rejected])
    return Table(
        f"rewrites by llm:{model.name} on {RATINGS}, one attempt per rewrite",
        ["level", "family", "rewrites", "accepted", "share", "rejected because of"],
        rows,
    )


def _correlation_table(model: ChatModel, measured: dict[str, list[tuple[float, float]]]) -> Table:
    rows: list[list[object]] = []
    for level, values in measured.items():
        all_values = np.array(values)
        defined = all_values[~np.isnan(all_values).any(axis=1)].T
        interval = "too few"
        correlation = "too few"
        if defined.shape[1] >= 4:
            correlation = f"{float(spearman(defined[0], defined[1])):.2f}"
            low, high = spearman_interval(defined[0], defined[1])
            interval = f"{low:.2f} to {high:.2f}"
        rows.append([level, len(values), defined.shape[1], correlation, interval])
    return Table(
        "rewrite sensitivity of Best-of-K's answer and the deviation of people's ratings of it",
        ["level", "prompts", "with a rewrite", "Spearman", "95 % interval"],
        rows,
        f"{RATINGS}, K 16, n_aug {N_AUG} (2 style, 2 targeted) by llm:{model.name}; the largest "
        "deviation of the default scorers",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; the result is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.qwen", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with ratings and pairs")
    parser.add_argument("--model", default="qwen", help="the installed model")
    parser.add_argument("--state", type=Path, default=_STATE, help="where replies are kept")
    parser.add_argument("--prompts", type=int, default=40, help="prompts to rewrite answers of")
    parser.add_argument("--examples", type=int, default=40, help="hand-made prompts to judge")
    parser.add_argument("--pairs", type=int, default=60, help="harmlessness pairs to judge")
    arguments = parser.parse_args(argv)
    try:
        model = open_installed(arguments.model)
        if arguments.examples or arguments.pairs:
            pairs_file = arguments.data / "pairs" / "harmless_dev.jsonl.gz"
            table = judge_table(
                model, arguments.state, arguments.examples, pairs_file, arguments.pairs
            )
            print(table.text(), flush=True)
        if arguments.prompts:
            tables = rewrite_tables(model, arguments.state, arguments.data, arguments.prompts)
            for table in tables:
                print(table.text(), flush=True)
    except DarcError as problem:
        print(f"qwen: {problem}", file=sys.stderr)
        return problem.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
