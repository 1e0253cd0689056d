"""Preference pairs: made of ratings or scores, or read in the formats of TRL."""

import hashlib
import json
import re
from collections.abc import Iterator, MutableMapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from pydantic import Field

from darc.decide.statistics.summary import statistics
from darc.errors import InputError, TableError
from darc.files import read_entries
from darc.models.transformers.batching import BETWEEN
from darc.settings.model import SettingsModel
from darc.typing import Array

Row = dict[str, Any]

COLUMNS = ("prompt", "chosen", "rejected", "probability")
_NAME = re.compile(r"[\w.-]+/[\w.-]+(:[\w\[\]%-]+)?\Z", re.ASCII)


class PairChoosing(SettingsModel):
    """How pairs are made.

    A pair is contentious when the probability that someone prefers the chosen answer is below
    `agreement`: Phi(difference / sqrt(sigma_a^2 + sigma_b^2)), the two being judged independently.
    """

    by: Literal["mean", "value"] = Field(default="mean", description="what orders them")
    margin: float = Field(default=0.0, ge=0, description="least difference of a pair")
    which: Literal["extremes", "all"] = Field(
        default="extremes", description="best against worst of a prompt, or all pairs"
    )
    contentious: Literal["keep", "drop", "soft"] = Field(
        default="keep",
        description="pairs that people would disagree about: keep them, drop them, or write down "
        "the probability of every label",
    )
    agreement: float = Field(
        default=0.75, ge=0.5, le=1, description="below this probability a pair is contentious"
    )
    beta: float = Field(default=1.0, description="risk aversion")
    gamma: float = Field(default=1.0, description="hedge over scorers")


def make_pairs(
    samples: Array,
    questions: Sequence[str],
    texts: Sequence[Sequence[str]],
    choosing: PairChoosing,
    tally: MutableMapping[str, int],
) -> Iterator[Row]:
    """The rows of a preference file: pairs of the candidates of samples (P, M, K, n).

    Several scorers are normalised within the prompt and hedged as the rules do. Candidates with the
    same text make no pair, nor does one without samples or text. A row has messages, the margin,
    and the probability if it is not 1. `tally` counts pairs, those that are contentious, prompts
    with pairs and those without. O(P K^2) for all pairs.
    """
    found = statistics(samples, choosing.beta, choosing.gamma)
    ranking = found.mean if choosing.by == "mean" else found.value
    if choosing.contentious != "keep" and np.isnan(found.sigma).all():
        raise InputError(
            "contentious pairs cannot be told: no candidate has two ratings",
            "use --contentious keep",
        )
    for prompt, (values, sigma) in enumerate(zip(ranking, found.sigma, strict=True)):
        own, before = texts[prompt], tally["pairs"]
        for best, worst in _couples(values, choosing.which, own):
            difference = float(values[best] - values[worst])
            if not difference > 0 or difference < choosing.margin:
                continue
            spread = float(np.sqrt(np.nansum(sigma[[best, worst]] ** 2)))
            share = NormalDist(0.0, spread).cdf(difference) if spread else 1.0
            tally["contentious"] += share < choosing.agreement
            if choosing.contentious == "drop" and share < choosing.agreement:
                continue
            row: Row = {
                "prompt": [{"role": "user", "content": questions[prompt]}],
                "chosen": [{"role": "assistant", "content": own[best]}],
                "rejected": [{"role": "assistant", "content": own[worst]}],
                "margin": round(difference, 9),
            }
            if choosing.contentious == "soft" and share < 1.0:
                row["probability"] = round(share, 9)
            tally["pairs"] += 1
            yield row
        tally["prompts" if tally["pairs"] > before else "without"] += 1


def _couples(ranking: Array, which: str, texts: Sequence[str]) -> list[tuple[int, int]]:
    """Places of candidates in couples, the better first; ties in their own order."""
    given = enumerate(zip(texts, ranking, strict=False))
    there = [k for k, (text, value) in given if text.strip() and not np.isnan(value)]
    order = sorted(there, key=lambda k: -ranking[k])
    ends = order if which == "all" else dict.fromkeys((*order[:1], *order[-1:]))
    return [(a, b) for a, b in combinations(ends, 2) if texts[a] != texts[b]]


def read_preferences(text: str) -> list[Row]:
    """The rows of a .jsonl or .parquet file, or of OWNER/NAME[:SPLIT] on the hub (split: train).

    A row has chosen and rejected, as texts or as lists of messages, with the prompt apart or as
    their common beginning; `probability`, if there, is that of the label being right.
    """
    path = Path(text)
    if path.suffix in (".parquet", ".pq"):
        rows = _parquet(path)
    elif path.is_file() or path.suffix in (".jsonl", ".json", ".ndjson"):
        rows = [entry for _, entry in read_entries(path)]
    elif _NAME.match(text):
        rows = _hub(text)
    else:
        raise InputError(f"there is no file {text}", "give a file, or OWNER/NAME of a data set")
    if not rows:
        raise InputError(f"{text} has no pairs", "give at least one")
    return [_checked(text, place, row) for place, row in enumerate(rows, 1)]


def split(rows: Sequence[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Rows to train on and held-out ones, about `share` of the prompts; equal prompts together."""
    if not 0 <= share < 1:
        raise InputError(f"the held-out share is {share:g}", "give 0 or more, below 1")
    sides: tuple[list[Row], list[Row]] = ([], [])
    for row in rows:
        opening = row["chosen"][:-1] if isinstance(row["chosen"], list) else ""
        asked = json.dumps([seed, row.get("prompt") or opening], ensure_ascii=False)
        draw = int.from_bytes(hashlib.sha256(asked.encode()).digest()[:8], "big") / 2.0**64
        sides[draw < share].append(row)
    if not sides[0] or (share > 0 and not sides[1]):
        raise InputError(
            f"{len(rows)} pairs cannot be divided: one side would be empty",
            "give more prompts, or --held-out 0",
        )
    return sides


def as_texts(row: Row) -> Row:
    """A row of messages as plain texts, for a model without a chat template.

    Messages are joined by empty lines, as generators join them for such a model.
    """
    if isinstance(row["chosen"], str):
        return row
    said: Row = {
        name: "".join(m["content"] + BETWEEN for m in row[name])
        for name in ("prompt", "chosen", "rejected")
        if name in row
    }
    ends = {name: said[name][: -len(BETWEEN)] for name in ("chosen", "rejected")}
    return {**row, **said, **ends}


def _parquet(path: Path) -> list[Any]:
    import pyarrow as pa  # which comes with what trains
    from pyarrow import parquet

    try:
        return list(parquet.read_table(path).to_pylist())
    except (pa.ArrowException, OSError) as problem:
        raise TableError(str(path), f"it cannot be read ({str(problem).splitlines()[0]})") from None


def _hub(text: str) -> list[Any]:
    from datasets import load_dataset

    name, _, part = text.partition(":")
    try:
        return list(load_dataset(name, split=part or "train"))
    except Exception as problem:  # the hub, the network and the files have errors of their own
        said = str(problem).strip().splitlines()
        raise InputError(
            f"the data set {text} cannot be loaded: {said[0] if said else type(problem).__name__}",
            "check the name, the split and the network",
        ) from None


def _checked(source: str, place: int, row: Any) -> Row:
    where = f"{source}, pair {place}"
    if not isinstance(row, dict) or "chosen" not in row or "rejected" not in row:
        raise InputError(
            f"{where}: no chosen and rejected answer", "write prompt, chosen, rejected"
        )
    kept = {name: row[name] for name in COLUMNS if row.get(name) is not None}
    said = [name for name in COLUMNS[:3] if name in kept]
    texts = [name for name in said if isinstance(kept[name], str)]
    if texts and texts != said:
        raise InputError(f"{where}: texts and messages are mixed", "use one of them")
    for name in said if not texts else ():
        for part in kept[name]:
            if not isinstance(part, dict) or not isinstance(part.get("content"), str):
                raise InputError(f"{where}: a message has no content", "write {role, content}")
        kept[name] = [
            {"role": str(part.get("role", "user")), "content": part["content"]}
            for part in kept[name]
        ]
    if not kept.get("chosen") or not kept.get("rejected"):
        raise InputError(f"{where}: an answer is empty", "leave the pair out")
    share = kept.get("probability", 1.0)
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"{where}: the probability is {share!r}", "give 0 to 1")
    return kept
