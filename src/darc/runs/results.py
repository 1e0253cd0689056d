"""A run read back: the outcome of one prompt, and all of them in the formats of others."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from darc.decide.decision import Decision
from darc.decide.method import Method, flagged, with_raters
from darc.decide.search.lazy import drive
from darc.engine.copies import copy_flags
from darc.engine.flags import STOPPED_EARLY
from darc.engine.languages import NOT_ENGLISH
from darc.engine.outcome import Outcome
from darc.errors import InputError, extra_needed
from darc.files import atomic_path, atomic_writer
from darc.runs import records
from darc.runs.folder import RunFolder, again
from darc.runs.run import decide
from darc.types import Scores
from darc.typing import Array


def read_outcome(folder: RunFolder, prompt_id: str, method: Method) -> Outcome:
    """The `Outcome` of one prompt; a lazy run has it for its own rule and scale only."""
    shard = folder.find(prompt_id)
    if prompt_id not in shard.rows("decisions.jsonl"):
        what = f"{folder.path}: prompt {prompt_id!r} is not finished"
        raise InputError(what, f"go on with: {again(folder)}")
    candidates = records.read_candidates(shard, prompt_id)
    scores = records.read_scores(shard, prompt_id)
    spent: dict[str, float] = {}
    for note in shard.notes():
        if note["prompt_id"] == prompt_id:
            spent[note["stage"]] = spent.get(note["stage"], 0.0) + note["milliseconds"]
    best_of_k = None
    if scores.complete:
        decision = decide(shard, prompt_id, method, scores)
        best_of_k = decide(shard, prompt_id, method.best_of_k, scores).index
    else:
        variants = shard.rows("variants.jsonl")[prompt_id]
        decision = _searched_again(folder, variants, scores, method)
    saved = int(shard.rows("candidates.jsonl")[prompt_id].get("saved", 0))
    flags = list(decision.flags)
    if saved:
        flags.append(STOPPED_EARLY)
    flags += copy_flags(candidates)
    # It is about the texts, and holds whatever rule they are shown with.
    if NOT_ENGLISH in shard.rows("decisions.jsonl")[prompt_id]["flags"]:
        flags.append(NOT_ENGLISH)
    return Outcome(
        prompt=records.read_prompt(shard, prompt_id),
        candidates=candidates,
        rewrites=records.read_perturbed(shard, prompt_id, len(candidates)),
        scores=scores,
        decision=decision,
        order=[decision.index],
        flags=flags,
        milliseconds=spent,
        calls=_calls(scores),
        saved=saved,
        best_of_k=best_of_k,
    )


def _calls(scores: Scores) -> int:
    """How many texts were scored, or grades asked for."""
    if scores.grades is not None:
        return int((~np.isnan(scores.grades[0])).sum()) + len(scores.failed)
    there = ~np.isnan(scores.values[0])
    for pair in scores.failed:
        there[pair] = True
    return int(there.sum())


def _searched_again(
    folder: RunFolder, row: dict[str, Any], scores: Scores, method: Method
) -> Decision:
    """The lazy search repeated on what it was told; another search would want what is not there."""
    values, first, rated = scores.values, method.first_sample, scores.sample == records.RATER
    count = records.sample_counts(row, values.shape[1])
    rewritten = row.get("rewritten", range(len(count)))

    def known_scores(pairs: list[tuple[int, int]]) -> list[Array]:
        for k, i in ((k, place + first) for k, place in pairs):
            known = not np.isnan(values[0, k, i]) or (k, i) in scores.failed
            if not known and (rated or k not in rewritten or i < count[k]):
                what = f"{folder.path} has only the scores that its own rule needed"
                raise InputError(what, f"make the rest with: {again(folder, complete=True)}")
        return [values[:, k, place + first] for k, place in pairs]

    decision = drive(method.search(scores), known_scores, values.shape[1])
    return with_raters(flagged(decision, scores), scores)


COLUMNS = ("prompt_id", "candidate_id", "rater_id", "rating", "scorer_id")
# Rows of a Parquet file that are held in memory.
AT_ONCE = 100_000


def export(folder: RunFolder, form: str, path: Path, name: str = "") -> int:
    """Write a run to a file, by a name or that of its generator and rule; counts the entries."""
    if form == "parquet":
        return _write_parquet(folder, path)
    settings = folder.manifest()["settings"]
    name = name or f"{settings['generator']['name']}+{settings['decision']['rule']}"
    rows: Iterator[Any] = tidy(folder)
    if form != "tidy":
        rows = mt_bench(folder, name) if form == "mt-bench" else alpaca(folder, name)
    count = 0
    with atomic_writer(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        if form == "tidy":
            writer.writerow(COLUMNS)
        for count, row in enumerate(rows, 1):
            if form == "tidy":
                writer.writerow(row)
            elif form == "mt-bench":
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                text = json.dumps(row, indent=2, ensure_ascii=False)
                file.write(("," if count > 1 else "[") + "\n" + indent(text, "  "))
        if form == "alpaca":
            file.write("\n]\n" if count else "[]\n")
    return count


def alpaca(folder: RunFolder, name: str) -> Iterator[dict[str, Any]]:
    """One entry a prompt, as alpaca_eval reads model outputs."""
    for shard in folder.shards():
        for prompt_id, row in shard.rows("decisions.jsonl").items():
            prompt = records.read_prompt(shard, prompt_id)
            yield {
                "instruction": prompt.question,
                "output": row["answer"],
                "generator": name,
                "dataset": prompt.category,
            }


def mt_bench(folder: RunFolder, name: str) -> Iterator[dict[str, Any]]:
    """One entry a question with all its turns, as MT-Bench reads model answers."""
    for shard in folder.shards():
        rows = shard.rows("decisions.jsonl")
        for question_id in (each for each in rows if "#" not in each):
            turns, turn = [rows[question_id]["answer"]], 2
            while f"{question_id}#{turn}" in rows:
                turns.append(rows[f"{question_id}#{turn}"]["answer"])
                turn += 1
            yield {
                "question_id": int(question_id) if question_id.isdecimal() else question_id,
                "answer_id": f"{question_id}-{rows[question_id]['index']}",
                "model_id": name,
                "choices": [{"index": 0, "turns": turns}],
                "tstamp": (folder.path / "manifest.json").stat().st_mtime,
            }


def tidy(folder: RunFolder) -> Iterator[tuple[str, str, str, float, str]]:
    """One row per score, as `darc select` reads ratings; rewrite 0 is the original."""
    for shard in folder.shards():
        for prompt_id, row in shard.rows("scores.jsonl").items():
            scores = records.read_scores(shard, prompt_id)
            names = [f"rewrite {place}" for place in range(scores.values.shape[2])]
            if scores.sample == records.RATER:
                names = list(scores.samples)
            ids = [candidate.id for candidate in records.read_candidates(shard, prompt_id)]
            for m, k, i in np.argwhere(~np.isnan(scores.values)).tolist():
                score = float(scores.values[m, k, i])
                yield prompt_id, ids[k], names[i], score, row["scorers"][m]


def _write_parquet(folder: RunFolder, path: Path) -> int:
    with extra_needed("writing Parquet", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as parquet
    kinds = [pa.float64() if name == "rating" else pa.string() for name in COLUMNS]
    schema, rows, count = pa.schema(list(zip(COLUMNS, kinds, strict=True))), tidy(folder), 0
    with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        while part := list(islice(rows, AT_ONCE)):
            columns = dict(zip(COLUMNS, zip(*part, strict=True), strict=True))
            writer.write_table(pa.table(columns, schema))
            count += len(part)
    return count
