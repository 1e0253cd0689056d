"""Sources as users name them: files of ratings with the texts beside, run folders, audit logs."""

import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.core.arrays import stacked
from darc.errors import InputError, TableError
from darc.evaluation.source import NOBODY, Lookup, Source
from darc.files import json_lines
from darc.runs import records
from darc.runs.folder import RunFolder, check_complete, deciding_of
from darc.runs.records import Fault, check_decision
from darc.runs.run import cost_by_stage
from darc.runs.shard import Shard
from darc.tables import Batch, read_ratings
from darc.types import Candidate
from darc.typing import Array, Integers

if TYPE_CHECKING:
    from darc.perturb import Perturbed

SUFFIXES = (".gz", ".zst", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx")
GIVEN, RULES = "given", "rules"
SPENT = ("generated", "rewritten", "scored")
WANTED = {"prompt_id", "candidates", "answer", "request_id"}

Texts = Mapping[tuple[str, str], tuple[str, str]]


def read_source(
    path: Any,
    texts: str | os.PathLike[str] | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Source:
    """The `Source` of a file of ratings in any layout that `darc select` reads, or of a data frame.

    `columns` says what the file calls a column. Systems are what the column `system` says, or else
    the candidates' ids; `system` "none" leaves them out.

    Texts come from `texts`, or from NAME.texts.jsonl(.gz) beside the file: JSON lines with
    prompt_id, candidate_id, prompt and response. Lengths are then numbers of words. Everything is
    held in memory.
    """
    with read_ratings(path, columns=columns) as table:
        batch = table.batch(0, table.prompts)
        if isinstance(path, str | os.PathLike):
            name, texts = name or stem(Path(path)), texts or texts_beside(Path(path))
        known = {} if texts is None else read_texts(Path(texts))
        made = _source(name or "ratings", batch, known)
        systems = table.systems(batch) if system != "none" else []
        return replace(made, systems=systems, groups=table.groups())


def _source(name: str, batch: Batch, texts: Texts) -> Source:
    prompt_ids, candidate_ids = batch.prompt_ids, batch.candidate_ids
    givers, names = _renumbered(batch.raters, batch.rater_names)
    responses = [
        [texts.get((prompt, candidate), ("", ""))[1] for candidate in row]
        for prompt, row in zip(prompt_ids, candidate_ids, strict=True)
    ]
    questions = [
        next((q for c in row if (q := texts.get((prompt, c), ("", ""))[0])), "")
        for prompt, row in zip(prompt_ids, candidate_ids, strict=True)
    ]
    return Source(
        name=name,
        kind="rater",
        prompt_ids=prompt_ids,
        candidate_ids=candidate_ids,
        scorers=batch.scorer_ids,
        samples=batch.scores,
        givers=givers,
        giver_names=names,
        tokens=count_words(responses, batch.scores.shape[2]),
        questions=questions,
        texts=responses if texts else (),
        length_unit="words",
    )


def _renumbered(givers: Integers, names: list[str]) -> tuple[Integers, list[str]]:
    """Givers numbered by first appearance in the prompts, and their names in that order."""
    used, first = np.unique(givers[givers != NOBODY], return_index=True)
    order = used[np.argsort(first)]
    place = np.full(len(names) + 1, NOBODY)
    place[order] = np.arange(len(order))
    return place[givers], [names[rater] for rater in order.tolist()]


def count_words(texts: list[list[str]], candidates: int) -> Array:
    """Words of each text, (P, K), NaN where there is no text."""
    result = np.full((len(texts), candidates), np.nan)
    for row, each in zip(result, texts, strict=True):
        row[: len(each)] = [len(text.split()) if text else np.nan for text in each]
    return result


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


def read_run(path: Path, name: str | None = None) -> Source:
    """The scores and side inputs of a finished run; a lazy one must be completed.

    It is read shard by shard. What is kept are its numbers, which every rule looks at in every
    split: the scores, a length and the side inputs of each candidate. The texts are read again, a
    shard at a time, where they are looked at.
    """
    folder = RunFolder(path)
    check_complete(folder)
    deciding_of(folder)
    settings = folder.manifest()["settings"]
    ids: list[str] = []
    places: list[int] = []
    candidate_ids: list[list[str]] = []
    named: list[list[str]] = []
    tokens: list[Array] = []
    values: list[Array] = []
    side: list[dict[str, Array]] = []
    spent: list[dict[str, Array]] = []
    rewrites = Counter[str]()
    for shard in folder.shards():
        for prompt_id in shard.rows("decisions.jsonl"):
            own = records.read_candidates(shard, prompt_id)
            ids.append(prompt_id)
            places.append(int(shard.name or 0))
            candidate_ids.append([sys.intern(each.id) for each in own])
            named.append([sys.intern(each.name) for each in own])
            tokens.append(np.array([float(each.tokens) for each in own]))
            values.append(records.read_scores(shard, prompt_id).values)
            side.append(_arrays(shard.rows("side.jsonl").get(prompt_id, {})))
            spent.append(_spent(shard, prompt_id, own, values[-1].shape[2]))
        if "variants.jsonl" in shard.kept:
            for fate, key in (("accepted", "variants"), ("refused", "rejected")):
                rows = shard.rows(f"{key}.jsonl").values()
                rewrites[f"rewrites {fate}"] += sum(len(row[key]) for row in rows)
    samples = stacked(values)
    described = records.scores_of(settings, samples[0])
    cost = cost_by_stage(folder.shards())
    shard_of = lru_cache(maxsize=1)(folder.shard)
    return Source(
        name=name or path.resolve().name,
        kind="panel" if described.sample == records.RATER else "rewrite",
        prompt_ids=ids,
        candidate_ids=candidate_ids,
        scorers=list(described.scorers),
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, np.arange(samples.shape[3])),
        giver_names=list(described.samples),
        tokens=stacked(tokens),
        side={
            name: stacked([each[name] for each in side])
            for name in side[0]
            if all(name in each for each in side)
        },
        systems=named if any(map(any, named)) else (),
        constants=described.constants,
        bounds=described.bounds,
        questions=Lookup(
            len(ids), lambda p: records.read_prompt(shard_of(places[p]), ids[p]).question
        ),
        texts=Lookup(
            len(ids),
            lambda p: [c.text for c in records.read_candidates(shard_of(places[p]), ids[p])],
        ),
        costs={
            **{f"{s} {u}": x for s, counts in cost.items() for u, x in counts.items()},
            **rewrites,
        },
        spent={name: stacked([each[name] for each in spent]) for name in SPENT},
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
    return {
        "generated": np.zeros(len(own)) if given else tokens,
        "rewritten": written,
        "scored": read,
    }


def _arrays(row: dict[str, Any]) -> dict[str, Array]:
    return {n: np.array(row[n], dtype=np.float64) for n in sorted(row) if n != "prompt_id"}


def is_audit(path: Path) -> bool:
    """Whether the first line of a file is a decision of a gateway."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    try:
        _, row = next(json_lines(path), (0, None))
    except InputError:
        return False
    return isinstance(row, dict) and set(row) >= WANTED


def read_audit_log(path: Path, name: str | None = None) -> Source:
    """The decisions of a log whose scores are complete, under the scorers that most of them share.

    A lazy search leaves scores out: requests with darc = {"full": true} keep them all.
    """
    rows = [row for row in _rows(path) if row.get("scores") and not row.get("lazy")]
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
    return Source(
        name=name or path.stem,
        kind="panel" if raters else "rewrite",
        prompt_ids=[f"{row['prompt_id']} {row['request_id']}" for row in kept],
        candidate_ids=[[str(k) for k in range(size)] for size in sizes],
        scorers=list(scorers),
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, np.arange(samples.shape[3])),
        giver_names=[*raters]
        or ["original", *(f"rewrite {i}" for i in range(1, samples.shape[3]))],
        tokens=np.full((samples.shape[0], samples.shape[2]), np.nan),
        generator="gateway",
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, row in json_lines(path, "remove the line"):
        try:
            check_decision(row)
        except Fault as problem:
            raise TableError(str(path), str(problem), "remove the line", number) from None
        rows.append(row)
    return rows


def read_any(
    path: Path,
    texts: Path | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Source:
    """A run folder, a gateway's audit log, or ratings, whose candidates' texts are in `texts`.

    `columns` says what a file of ratings calls a column; `system` "none" forgets who wrote what.
    """
    if not path.is_dir() and not is_audit(path):
        return read_source(path, texts, columns=columns, system=system)
    source = read_run(path) if path.is_dir() else read_audit_log(path)
    return source if system != "none" else replace(source, systems=())
