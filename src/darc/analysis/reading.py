"""Sources as users name them: files of ratings with the texts beside, run folders, audit logs."""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.decide.statistics.arrays import stacked
from darc.errors import InputError, TableError
from darc.files import json_lines
from darc.ratings import read_ratings
from darc.ratings.lazy import LazySequence
from darc.ratings.ratings import GIVEN, SPENT, Ratings
from darc.ratings.splitting import NOBODY
from darc.runs import records
from darc.runs.folder import RunFolder, check_complete, method_of
from darc.runs.records import Fault, check_decision
from darc.runs.run import cost_by_stage
from darc.runs.shard import Shard
from darc.types import Candidate
from darc.typing import Array

if TYPE_CHECKING:
    from darc.parts.rewriters import Perturbed

SUFFIXES = (".gz", ".zst", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx")
RULES = "rules"
WANTED = {"prompt_id", "candidates", "answer", "request_id"}


def load_table(
    path: Any,
    texts: str | os.PathLike[str] | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Ratings:
    """The `Ratings` of a file in any layout that `darc select` reads, or of a data frame.

    `columns` says what the file calls a column. Systems are what the column `system` says, or else
    the candidates' ids; `system` "none" leaves them out.

    Texts come from `texts`, or from NAME.texts.jsonl(.gz) beside the file: JSON lines with
    prompt_id, candidate_id, prompt and response. Lengths are then numbers of words. Everything is
    held in memory.
    """
    with read_ratings(path, columns=columns) as table:
        batch = table.batch(0, table.prompts)
        groups, systems = table.groups(), table.systems(batch) if system != "none" else []
    if isinstance(path, str | os.PathLike):
        name, texts = name or stem(Path(path)), texts or texts_beside(Path(path))
    known = {} if texts is None else read_texts(Path(texts))
    words = [
        [known.get((prompt, candidate), ("", "")) for candidate in row]
        for prompt, row in zip(batch.prompt_ids, batch.candidate_ids, strict=True)
    ]
    lengths = [[len(text.split()) if text else np.nan for _, text in own] for own in words]
    # Givers are numbered by their first appearance in the prompts.
    used, first = np.unique(batch.raters[batch.raters != NOBODY], return_index=True)
    order = used[np.argsort(first)]
    place = np.full(len(batch.rater_names) + 1, NOBODY)
    place[order] = np.arange(len(order))
    return Ratings(
        name=name or "ratings",
        kind="rater",
        prompt_ids=batch.prompt_ids,
        candidate_ids=batch.candidate_ids,
        scorers=batch.scorer_ids,
        samples=batch.scores,
        raters=place[batch.raters],
        rater_names=[batch.rater_names[rater] for rater in order.tolist()],
        lengths=stacked([np.array(own) for own in lengths]),
        questions=[next((question for question, _ in own if question), "") for own in words],
        texts=[[text for _, text in own] for own in words] if known else (),
        length_unit="words",
        systems=systems,
        groups=groups,
    )


def stem(path: Path) -> str:
    """A file's name without the endings that tables have."""
    name = path.name
    while name.lower().endswith(SUFFIXES):
        name = name[: name.rfind(".")]
    return name or path.name


def texts_beside(path: Path) -> Path | None:
    """NAME.texts.jsonl or NAME.texts.jsonl.gz in the folder of the ratings."""
    names = (f"{stem(path)}.texts.jsonl{zipped}" for zipped in ("", ".gz"))
    return next((p for p in (path.with_name(name) for name in names) if p.is_file()), None)


def read_texts(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """(prompt, response) by (prompt_id, candidate_id), "" for what is null or absent."""
    result = {}
    for line, row in json_lines(path, "write one JSON object a line"):
        if not isinstance(row, dict) or "prompt_id" not in row or "candidate_id" not in row:
            raise TableError(
                str(path),
                "a line without prompt_id or candidate_id",
                "write prompt_id, candidate_id, prompt and response",
                line,
            )
        words = (str(row.get("prompt") or ""), str(row.get("response") or ""))
        result[str(row["prompt_id"]), str(row["candidate_id"])] = words
    return result


def load_run(path: Path, name: str | None = None) -> Ratings:
    """The scores and side inputs of a finished run; a lazy one must be completed.

    It is read shard by shard. What is kept are its numbers, which every rule looks at in every
    split: the scores, a length and the side inputs of each candidate. The texts are read again, a
    shard at a time, where they are looked at.
    """
    folder = RunFolder(path)
    check_complete(folder)
    method_of(folder)
    settings = folder.manifest()["settings"]
    columns: dict[str, list[Any]] = defaultdict(list)
    rewrites = Counter[str]()
    for shard in folder.shards():
        for prompt_id in shard.rows("decisions.jsonl"):
            own = records.read_candidates(shard, prompt_id)
            scores = records.read_scores(shard, prompt_id).values
            side = shard.rows("side.jsonl").get(prompt_id, {})
            found = {
                "id": prompt_id,
                "shard": int(shard.name or 0),
                "candidates": [sys.intern(each.id) for each in own],
                "names": [sys.intern(each.name) for each in own],
                "tokens": np.array([float(each.tokens) for each in own]),
                "copies": np.array([float(each.copies) for each in own]),
                "scores": scores,
                "side": {n: np.array(side[n]) for n in sorted(side) if n != "prompt_id"},
                **_spent(shard, prompt_id, own, scores.shape[2]),
            }
            for key, value in found.items():
                columns[key].append(value)
        if "variants.jsonl" in shard.kept:
            for fate, key in (("accepted", "variants"), ("refused", "rejected")):
                rows = shard.rows(f"{key}.jsonl").values()
                rewrites[f"rewrites {fate}"] += sum(len(row[key]) for row in rows)
    ids, places, shard_of = columns["id"], columns["shard"], lru_cache(maxsize=1)(folder.shard)

    def read(p: int) -> tuple[Shard, str]:
        return shard_of(places[p]), ids[p]

    samples, sides = stacked(columns["scores"]), columns["side"]
    shared = {
        name: stacked([each[name] for each in sides])
        for name in sides[0]
        if all(name in each for each in sides)
    }
    # Only prompts with repeated answers have them as a side input.
    if any((copies > 1).any() for copies in columns["copies"]):
        shared["copies"] = stacked(columns["copies"])
    described = records.scores_of(settings, samples[0])
    cost = cost_by_stage(folder.shards())
    return Ratings(
        name=name or path.resolve().name,
        kind="panel" if described.sample == records.RATER else "rewrite",
        prompt_ids=ids,
        candidate_ids=columns["candidates"],
        scorers=list(described.scorers),
        samples=samples,
        raters=np.where(np.isnan(samples), NOBODY, np.arange(samples.shape[3])),
        rater_names=list(described.samples),
        lengths=stacked(columns["tokens"]),
        side=shared,
        systems=columns["names"] if any(map(any, columns["names"])) else (),
        constants=described.constants,
        bounds=described.bounds,
        questions=LazySequence(len(ids), lambda p: records.read_prompt(*read(p)).question),
        texts=LazySequence(len(ids), lambda p: [c.text for c in records.read_candidates(*read(p))]),
        costs={f"{s} {u}": x for s, own in cost.items() for u, x in own.items()} | rewrites,
        tokens_spent={name: stacked(columns[name]) for name in SPENT},
        generator=settings["generator"]["name"],
        family=settings["rewrites"]["family"],
    )


def _spent(shard: Shard, prompt_id: str, own: list[Candidate], size: int) -> dict[str, Array]:
    """Tokens of a prompt by what they were spent on; a rewrite's follow its original's characters.

    Answers that were given and rewrites made by rules cost none.
    """
    given = shard.settings["generator"]["name"] == GIVEN
    made: dict[int, Perturbed] = {}
    if "variants.jsonl" in shard.kept:
        made = records.read_perturbed(shard, prompt_id, len(own))
    tokens = np.array([float(c.tokens) for c in own])
    each = tokens / [max(1, len(c.text)) for c in own]
    read, written = np.full((len(own), size), np.nan), np.zeros(len(own))
    for k, candidate in enumerate(own):
        variants, rejections = (made[k].variants, made[k].rejections) if k in made else ((), ())
        texts = [candidate.text, *(v.text for v in variants)][:size]
        read[k, : len(texts)] = [each[k] * len(text) for text in texts]
        for proposed in (variants, rejections):
            written[k] += each[k] * sum(len(p.text) for p in proposed if p.rewriter != RULES)
    copies = np.array([float(c.copies) for c in own])
    generated = np.zeros(len(own)) if given else tokens * copies
    return dict(zip(SPENT, (generated, written, read), strict=True))


def is_audit(path: Path) -> bool:
    """Whether the first line of a file is a decision of a gateway."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    try:
        _, row = next(json_lines(path), (0, None))
    except InputError:
        return False
    return isinstance(row, dict) and set(row) >= WANTED


def load_audit_log(path: Path) -> Ratings:
    """The decisions of a log whose scores are complete, under the scorers that most of them share.

    A lazy search leaves scores out: requests with darc = {"full": true} keep them all.
    """
    rows = []
    for number, row in json_lines(path, "remove the line"):
        try:
            check_decision(row)
        except Fault as problem:
            raise TableError(str(path), str(problem), "remove the line", number) from None
        if row.get("scores") and not row.get("lazy"):
            rows.append(row)
    if not rows:
        raise InputError(
            f"{path} has no decision with complete scores",
            'ask the gateway with darc = {"full": true}',
        )
    made = [(tuple(row["scorers"]), tuple(row.get("raters", ()))) for row in rows]
    ((scorers, raters), _), *_ = Counter(made).most_common(1)
    kept = [row for row, own in zip(rows, made, strict=True) if own == (scorers, raters)]
    samples = stacked([np.array(row["scores"], dtype=np.float64) for row in kept])
    sizes = [len(row["scores"][0]) for row in kept]
    return Ratings(
        name=path.stem,
        kind="panel" if raters else "rewrite",
        prompt_ids=[f"{row['prompt_id']} {row['request_id']}" for row in kept],
        candidate_ids=[[str(k) for k in range(size)] for size in sizes],
        scorers=list(scorers),
        samples=samples,
        raters=np.where(np.isnan(samples), NOBODY, np.arange(samples.shape[3])),
        rater_names=[*raters]
        or ["original", *(f"rewrite {i}" for i in range(1, samples.shape[3]))],
        lengths=np.full((samples.shape[0], samples.shape[2]), np.nan),
        generator="gateway",
    )


def load_ratings(
    path: Path,
    texts: Path | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Ratings:
    """A run folder, a gateway's audit log, or ratings, whose candidates' texts are in `texts`.

    `columns` says what a file of ratings calls a column; `system` "none" forgets who wrote what.
    """
    if not path.is_dir() and not is_audit(path):
        return load_table(path, texts, columns=columns, system=system)
    source = load_run(path) if path.is_dir() else load_audit_log(path)
    return source if system != "none" else replace(source, systems=())
