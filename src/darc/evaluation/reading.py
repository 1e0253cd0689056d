"""Sources as users name them: files of ratings with the texts beside, run folders, audit logs."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.core.arrays import stacked
from darc.errors import InputError, TableError
from darc.evaluation.source import NOBODY, Source
from darc.files import json_lines
from darc.runs import records
from darc.runs.checking import Fault, check_decision
from darc.runs.folder import RunFolder, check_complete, deciding_of
from darc.runs.records import StageCost
from darc.runs.shard import Shard
from darc.tables import Batch, read_ratings
from darc.types import Candidate, Prompt
from darc.typing import Array, Integers

if TYPE_CHECKING:
    from darc.perturb import Perturbed

SUFFIXES = (".gz", ".zst", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx")
GIVEN, RULES = "given", "rules"
SPENT = ("generated", "rewritten", "scored")
WANTED = {"prompt_id", "candidates", "answer", "request_id"}

Texts = Mapping[tuple[str, str], tuple[str, str]]


def read_source(
    path: str | os.PathLike[str],
    texts: str | os.PathLike[str] | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Source:
    """The `Source` of a file of ratings in any layout that `darc select` reads.

    `columns` says what the file calls a column. Systems are what the column `system` says, or else
    the candidates' ids; `system` "none" leaves them out.

    Texts come from `texts`, or from NAME.texts.jsonl(.gz) beside the file: JSON lines with
    prompt_id, candidate_id, prompt and response. Lengths are then numbers of words. Everything is
    held in memory.
    """
    ratings = Path(path)
    with read_ratings(ratings, columns=columns) as table:
        batches = list(table.batches())
        found = texts_beside(ratings) if texts is None else Path(texts)
        known = {} if found is None else read_texts(found)
        made = _source(name or stem(ratings), batches, known)
        named = batches if system != "none" else ()
        systems = [row for batch in named for row in table.systems(batch)]
        return replace(made, systems=systems, groups=table.groups())


def _source(name: str, batches: list[Batch], texts: Texts) -> Source:
    prompt_ids = [prompt for batch in batches for prompt in batch.prompt_ids]
    candidate_ids = [row for batch in batches for row in batch.candidate_ids]
    shapes = np.array([batch.scores.shape[1:] for batch in batches])
    scorers, candidates, size = shapes.max(axis=0).tolist()
    samples = np.full((len(prompt_ids), scorers, candidates, size), np.nan)
    givers = np.full(samples.shape, NOBODY, dtype=np.int64)
    start = 0
    for batch in batches:
        count, _, most, depth = batch.scores.shape
        samples[start : start + count, :, :most, :depth] = batch.scores
        givers[start : start + count, :, :most, :depth] = batch.raters
        start += count
    givers, names = _renumbered(givers, batches[0].rater_names)
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
        scorers=batches[0].scorer_ids,
        samples=samples,
        givers=givers,
        giver_names=names,
        tokens=count_words(responses, candidates),
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
    """The candidates, scores and side inputs of a finished run; a lazy one must be completed."""
    folder = RunFolder(path)
    check_complete(folder)
    deciding_of(folder)
    settings = folder.manifest()["settings"]
    ids: list[str] = []
    prompts: list[Prompt] = []
    candidates: list[list[Candidate]] = []
    values: list[Array] = []
    side: list[dict[str, Any]] = []
    spent: list[dict[str, Array]] = []
    cost, rewrites = StageCost(), Counter[str]()
    for shard in folder.shards():
        for prompt_id in shard.rows("decisions.jsonl"):
            ids.append(prompt_id)
            prompts.append(records.read_prompt(shard, prompt_id))
            candidates.append(records.read_candidates(shard, prompt_id))
            values.append(records.read_scores(shard, prompt_id).values)
            side.append(shard.rows("side.jsonl").get(prompt_id, {}))
            spent.append(_spent(shard, prompt_id, candidates[-1], values[-1].shape[2]))
        cost.add(shard)
        if "variants.jsonl" in shard.kept:
            for fate, key in (("accepted", "variants"), ("refused", "rejected")):
                rows = shard.rows(f"{key}.jsonl").values()
                rewrites[f"rewrites {fate}"] += sum(len(row[key]) for row in rows)
    samples = stacked(values)
    described = records.scores_of(settings, samples[0])
    named = [[candidate.name for candidate in own] for own in candidates]
    return Source(
        name=name or path.resolve().name,
        kind="panel" if described.sample == records.RATER else "rewrite",
        prompt_ids=ids,
        candidate_ids=[[c.id for c in own] for own in candidates],
        scorers=list(described.scorers),
        samples=samples,
        givers=np.where(np.isnan(samples), NOBODY, np.arange(samples.shape[3])),
        giver_names=list(described.samples),
        tokens=stacked([np.array([float(c.tokens) for c in own]) for own in candidates]),
        side=_side(side),
        systems=named if any(map(any, named)) else (),
        constants=described.constants,
        bounds=described.bounds,
        questions=[prompt.question for prompt in prompts],
        texts=[[candidate.text for candidate in own] for own in candidates],
        costs={
            **{f"{s} {u}": x for s, counts in cost.by_stage.items() for u, x in counts.items()},
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


def _side(rows: list[dict[str, Any]]) -> dict[str, Array]:
    """The side inputs that every prompt has, with a leading prompt axis."""
    names = set.intersection(*(set(row) for row in rows)) - {"prompt_id"}
    return {
        name: stacked([np.asarray(row[name], dtype=np.float64) for row in rows])
        for name in sorted(names)
    }


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
