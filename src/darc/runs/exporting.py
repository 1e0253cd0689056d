"""Runs in the formats of others: alpaca_eval outputs, MT-Bench answers, tidy ratings."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from darc.errors import MissingExtra
from darc.files import atomic_path, atomic_writer
from darc.runs import records
from darc.runs.folder import RunFolder

FORMATS = ("alpaca", "mt-bench", "tidy", "parquet")
COLUMNS = ("prompt_id", "candidate_id", "rater_id", "rating", "scorer_id")
# Rows of a Parquet file that are held in memory.
AT_ONCE = 100_000


def export(folder: RunFolder, form: str, path: Path, name: str = "") -> int:
    """Write a run to a file; the result is the number of entries."""
    if form == "parquet":
        return _write_parquet(folder, path)
    with atomic_writer(path) as file:
        count = 0
        if form == "alpaca":
            for entry in alpaca(folder, name):
                text = json.dumps(entry, indent=2, ensure_ascii=False)
                file.write(("," if count else "[") + "\n" + indent(text, "  "))
                count += 1
            file.write("\n]\n" if count else "[]\n")
            return count
        if form == "mt-bench":
            for entry in mt_bench(folder, name):
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                count += 1
            return count
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in tidy(folder):
            writer.writerow(row)
            count += 1
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
