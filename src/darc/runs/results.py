"""A run read back: the outcome of one prompt, and all of them in the formats of others."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from darc.engine.deciding import Deciding, flagged
from darc.engine.outcome import Outcome
from darc.engine.stopping import STOPPED
from darc.errors import InputError, MissingExtra
from darc.files import atomic_path, atomic_writer
from darc.runs import records
from darc.runs.folder import RunFolder, again, completing
from darc.runs.run import decide
from darc.runs.shard import Shard
from darc.selection.decision import Decision
from darc.selection.lazy import drive
from darc.types import Scores


def read_outcome(folder: RunFolder, prompt_id: str, deciding: Deciding) -> Outcome:
    """The `Outcome` of one prompt; a lazy run has it for its own rule and scale only."""
    shard = folder.find(prompt_id)
    if prompt_id not in shard.rows("decisions.jsonl"):
        raise InputError(
            f"{folder.path}: prompt {prompt_id!r} is not finished", f"go on with: {again(folder)}"
        )
    candidates = records.read_candidates(shard, prompt_id)
    scores = records.read_scores(shard, prompt_id)
    spent: dict[str, float] = {}
    for note in shard.notes():
        if note["prompt_id"] == prompt_id:
            spent[note["stage"]] = spent.get(note["stage"], 0.0) + note["milliseconds"]
    best_of_k = None
    if scores.complete:
        decision = decide(shard, prompt_id, deciding, scores)
        best_of_k = decide(shard, prompt_id, deciding.best_of_k, scores).index
    else:
        decision = _searched_again(folder, shard, prompt_id, deciding)
    saved = int(shard.rows("candidates.jsonl")[prompt_id].get("saved", 0))
    return Outcome(
        records.read_prompt(shard, prompt_id),
        candidates,
        records.read_perturbed(shard, prompt_id, len(candidates)),
        scores,
        decision,
        [decision.index],
        [*decision.flags, *([STOPPED] if saved else [])],
        spent,
        _calls(scores),
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
    folder: RunFolder, shard: Shard, prompt_id: str, deciding: Deciding
) -> Decision:
    """The lazy search repeated on what it was told; another search would want what is not there."""
    scores = records.read_scores(shard, prompt_id)
    rows = shard.rows("variants.jsonl")[prompt_id]
    values = scores.values
    count = dict.fromkeys(range(values.shape[1]), 1)
    for variant in rows["variants"]:
        count[variant["candidate"]] += 1

    def told(pairs: list[tuple[int, int]]) -> list[list[float]]:
        answers = []
        for k, place in pairs:
            i = place + deciding.first
            known = bool(~np.isnan(values[0, k, i])) or (k, i) in scores.failed
            rated = scores.sample == records.RATER
            absent = not rated and k in rows.get("rewritten", count) and i >= count[k]
            if not known and not absent:
                raise InputError(
                    f"{folder.path} has only the scores that its own rule needed",
                    f"make the rest with: {completing(folder)}",
                )
            answers.append([float(x) for x in values[:, k, i]])
        return answers

    return flagged(drive(deciding.search(scores), told, values.shape[1]), scores)


COLUMNS = ("prompt_id", "candidate_id", "rater_id", "rating", "scorer_id")
# Rows of a Parquet file that are held in memory.
AT_ONCE = 100_000


def export(folder: RunFolder, form: str, path: Path, name: str = "") -> int:
    """Write a run to a file; the result is the number of entries."""
    if form == "parquet":
        return _write_parquet(folder, path)
    count = 0
    with atomic_writer(path) as file:
        if form == "tidy":
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in tidy(folder):
                writer.writerow(row)
                count += 1
        elif form == "mt-bench":
            for entry in mt_bench(folder, name):
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                count += 1
        else:
            for entry in alpaca(folder, name):
                text = json.dumps(entry, indent=2, ensure_ascii=False)
                file.write(("," if count else "[") + "\n" + indent(text, "  "))
                count += 1
            file.write("\n]\n" if count else "[]\n")
    return count


def alpaca(folder: RunFolder, name: str = "") -> Iterator[dict[str, Any]]:
    """One entry a prompt, as alpaca_eval reads model outputs."""
    for shard in folder.shards():
        for prompt_id, row in shard.rows("decisions.jsonl").items():
            prompt = records.read_prompt(shard, prompt_id)
            yield {
                "instruction": prompt.question,
                "output": row["answer"],
                "generator": name or label(folder),
                "dataset": prompt.category,
            }


def mt_bench(folder: RunFolder, name: str = "") -> Iterator[dict[str, Any]]:
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
                "model_id": name or label(folder),
                "choices": [{"index": 0, "turns": turns}],
                "tstamp": (folder.path / "manifest.json").stat().st_mtime,
            }


def tidy(folder: RunFolder) -> Iterator[tuple[str, str, str, float, str]]:
    """One row a score, as `darc select` reads ratings; rewrite 0 is the original."""
    for shard in folder.shards():
        for prompt_id, row in shard.rows("scores.jsonl").items():
            scores = records.read_scores(shard, prompt_id).values
            ids = [candidate.id for candidate in records.read_candidates(shard, prompt_id)]
            for m, k, i in np.argwhere(~np.isnan(scores)).tolist():
                yield prompt_id, ids[k], f"rewrite {i}", float(scores[m, k, i]), row["scorers"][m]


def label(folder: RunFolder) -> str:
    """What the run's policy is called: generator and rule."""
    settings = folder.manifest()["settings"]
    return f"{settings['generator']['name']}+{settings['decision']['rule']}"


def _write_parquet(folder: RunFolder, path: Path) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    kinds = [pa.float64() if name == "rating" else pa.string() for name in COLUMNS]
    schema, rows, count = pa.schema(list(zip(COLUMNS, kinds, strict=True))), tidy(folder), 0
    with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        while part := list(islice(rows, AT_ONCE)):
            columns = dict(zip(COLUMNS, zip(*part, strict=True), strict=True))
            writer.write_table(pa.table(columns, schema))
            count += len(part)
    return count
