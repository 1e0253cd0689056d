"""A run in the formats of other tools: alpaca_eval, MT-Bench, and tables of ratings."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from darc.errors import extra_needed
from darc.files import atomic_path, atomic_writer
from darc.runs import records
from darc.runs.folder import RunFolder

_COLUMNS = ("prompt_id", "candidate_id", "rater_id", "rating", "scorer_id")
# How many rows of a Parquet file are held in memory.
_ROWS_AT_ONCE = 100_000


def export_run(folder: RunFolder, form: str, path: Path, name: str = "") -> int:
    """Write a run to a file.

    Args:
        folder: The run.
        form: "alpaca", "mt-bench", "tidy" (CSV) or "parquet".
        path: The file.
        name: What the model is called; by default its generator and rule.

    Returns:
        How many entries were written.

    Raises:
        MissingExtra: If the form is "parquet" and pyarrow is not installed.
    """
    if not name:
        settings = folder.manifest()["settings"]
        name = f"{settings['generator']['name']}+{settings['decision']['rule']}"
    if form == "parquet":
        return _write_parquet(folder, path)
    if form == "tidy":
        return _write_csv(folder, path)
    if form == "mt-bench":
        return _write_json_lines(_mt_bench_entries(folder, name), path)
    return _write_json_list(_alpaca_entries(folder, name), path)


def _alpaca_entries(folder: RunFolder, name: str) -> Iterator[dict[str, Any]]:
    """One entry per prompt, as alpaca_eval reads the outputs of a model."""
    for shard in folder.shards():
        for prompt_id, row in shard.rows("decisions.jsonl").items():
            prompt = records.read_prompt(shard, prompt_id)
            yield {
                "instruction": prompt.question,
                "output": row["answer"],
                "generator": name,
                "dataset": prompt.category,
            }


def _mt_bench_entries(folder: RunFolder, name: str) -> Iterator[dict[str, Any]]:
    """One entry per question with all its turns, as MT-Bench reads the answers of a model."""
    for shard in folder.shards():
        rows = shard.rows("decisions.jsonl")
        for prompt_id in rows:
            is_first_turn = "#" not in prompt_id
            if not is_first_turn:
                continue
            answers = [rows[prompt_id]["answer"]]
            while (turn_id := f"{prompt_id}#{len(answers) + 1}") in rows:
                answers.append(rows[turn_id]["answer"])
            yield {
                "question_id": int(prompt_id) if prompt_id.isdecimal() else prompt_id,
                "answer_id": f"{prompt_id}-{rows[prompt_id]['index']}",
                "model_id": name,
                "choices": [{"index": 0, "turns": answers}],
                "tstamp": (folder.path / "manifest.json").stat().st_mtime,
            }


def _rating_rows(folder: RunFolder) -> Iterator[tuple[str, str, str, float, str]]:
    """One row per score, as `darc select` reads ratings; rewrite 0 is the original."""
    for shard in folder.shards():
        for prompt_id, row in shard.rows("scores.jsonl").items():
            scores = records.read_scores(shard, prompt_id)
            if scores.sample == records.RATER:
                raters = list(scores.samples)
            else:
                raters = [f"rewrite {place}" for place in range(scores.values.shape[2])]
            candidates = records.read_candidates(shard, prompt_id)
            for m, k, i in np.argwhere(~np.isnan(scores.values)).tolist():
                score = float(scores.values[m, k, i])
                yield prompt_id, candidates[k].id, raters[i], score, row["scorers"][m]


def _write_csv(folder: RunFolder, path: Path) -> int:
    count = 0
    with atomic_writer(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for row in _rating_rows(folder):
            writer.writerow(row)
            count += 1
    return count


def _write_json_lines(entries: Iterator[dict[str, Any]], path: Path) -> int:
    count = 0
    with atomic_writer(path) as file:
        for entry in entries:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            count += 1
    return count


def _write_json_list(entries: Iterator[dict[str, Any]], path: Path) -> int:
    """Write a JSON list without holding all of it in memory."""
    count = 0
    with atomic_writer(path) as file:
        for entry in entries:
            text = json.dumps(entry, indent=2, ensure_ascii=False)
            file.write("," if count else "[")
            file.write("\n" + indent(text, "  "))
            count += 1
        file.write("\n]\n" if count else "[]\n")
    return count


def _write_parquet(folder: RunFolder, path: Path) -> int:
    with extra_needed("writing Parquet", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as parquet
    fields = []
    for name in _COLUMNS:
        kind = pa.float64() if name == "rating" else pa.string()
        fields.append((name, kind))
    schema = pa.schema(fields)
    rows = _rating_rows(folder)
    count = 0
    with atomic_path(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        while part := list(islice(rows, _ROWS_AT_ONCE)):
            columns = dict(zip(_COLUMNS, zip(*part, strict=True), strict=True))
            writer.write_table(pa.table(columns, schema))
            count += len(part)
    return count
