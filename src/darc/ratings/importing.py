"""Ratings from whatever people have: tables with columns of any name, exports, datasets."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError, UnknownName, extra_needed
from darc.json_files import json_lines, read_json
from darc.ratings.database import Database, quoted_path
from darc.ratings.foreign_formats import Record, read_foreign, recognise_format
from darc.ratings.judgements import Judgements
from darc.ratings.loading import DATASET_FILES
from darc.ratings.plain_files import plain_file
from darc.ratings.rating_cells import find_scale
from darc.ratings.sheet import Sheet, read_sheet, sheet_of_records
from darc.ratings.sheet_columns import RatingColumn, SheetColumns, find_columns

# Candidates with a longer id are numbered, if the id is their text.
_MAX_ID = 60
# What the name of a dataset on Hugging Face starts with.
_HUB = "hf:"
_PARQUET_SUFFIXES = (".parquet", ".pq")
_RECORD_SUFFIXES = (".json", ".jsonl", ".ndjson", *_PARQUET_SUFFIXES)


def read_judgements(
    path: Path,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    scale: Mapping[str, float] | None = None,
    split: str = "",
) -> Judgements:
    """Read the judgements in a file of any format known here, or in a dataset of Hugging Face.

    Args:
        path: A file, a folder with a dataset, or hf:NAME.
        columns: What a table calls the column of a role; several may hold ratings, one per rater.
        scale: What the words of a table's ratings stand for.
        split: The split of a dataset to read, all without one.

    Raises:
        InputError: It cannot be read, or a column cannot be told.
    """
    suffix = "".join(path.suffixes[-2:]).lower().removesuffix(".gz")
    records: Sequence[Record]
    with Database() as db:
        if path.is_dir() or str(path).startswith(_HUB):
            records = _read_dataset(path, split)
        elif suffix.endswith(_RECORD_SUFFIXES):
            records = _read_records(path, suffix, db)
        else:
            sheet = read_sheet(plain_file(path, None, db.spare_path))
            return _read_sheet(sheet, _lists(columns), scale or {})
        foreign_format = recognise_format(records[0])
        if foreign_format is not None:
            return read_foreign(foreign_format, records, str(path))
        return _read_sheet(sheet_of_records(str(path), records), _lists(columns), scale or {})


def _lists(columns: Mapping[str, str | Sequence[str]] | None) -> dict[str, Sequence[str]]:
    """The columns of each role as a list."""
    lists: dict[str, Sequence[str]] = {}
    for role, names in (columns or {}).items():
        lists[role] = [names] if isinstance(names, str) else names
    return lists


def _read_records(path: Path, suffix: str, db: Database) -> Sequence[Record]:
    """The records of a file of JSON, JSON lines or Parquet."""
    records: list[Any]
    if suffix.endswith(_PARQUET_SUFFIXES):
        records = _read_parquet(path, db)
    elif suffix.endswith(".json"):
        content = read_json(path)
        records = content if isinstance(content, list) else [content]
    else:
        records = [record for _, record in json_lines(path)]
    if not records or not all(isinstance(record, dict) for record in records):
        message = f"{path}: there are no records"
        raise InputError(message, "give one JSON object per line, or a list")
    return records


def _read_parquet(path: Path, db: Database) -> list[Any]:
    name = quoted_path(plain_file(path, None, db.spare_path).path)
    try:
        cursor = db.run(f"FROM read_parquet({name}, hive_partitioning = false)")
    except db.failure:
        hint = "is it a file of another format?"
        raise InputError(f"{path}: not a Parquet file that can be read", hint) from None
    names = [column for column, *_ in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _read_dataset(path: Path, split: str) -> list[Record]:
    """The records of a folder that was saved or downloaded, or of a dataset by its name."""
    with extra_needed("reading a dataset of Hugging Face", "datasets"):
        import datasets
        import huggingface_hub
    datasets.disable_progress_bars()
    for library in (datasets, huggingface_hub):
        library.logging.set_verbosity_error()
    try:
        if any((path / name).is_file() for name in DATASET_FILES):
            dataset = datasets.load_from_disk(str(path))
        else:
            dataset = datasets.load_dataset(str(path).removeprefix(_HUB), streaming=True)
    except Exception as problem:  # of any kind: the network's, the file system's, its own
        reason = str(problem).strip().split("\n")[0]
        hint = f"name a folder that save_to_disk made or that was downloaded, or {_HUB}OWNER/NAME"
        raise InputError(f"{path}: not a dataset that can be read ({reason})", hint) from None
    parts = dataset if isinstance(dataset, dict) else {"": dataset}
    if split and split not in parts:
        raise UnknownName("split", split, parts)
    return [record for name, part in parts.items() if split in ("", name) for record in part]


def _read_sheet(
    sheet: Sheet, columns: Mapping[str, Sequence[str]], scale: Mapping[str, float]
) -> Judgements:
    """Read a sheet with one rating per row, one column per rater, or one row per person."""
    table = find_columns(sheet, columns, scale)
    rating_cells = (row[column.name] for column in table.ratings for row in sheet.rows)
    numbers = find_scale(sheet.source, rating_cells, scale)
    judgements = Judgements(
        table.layout,
        notes=[*sheet.notes, *_notes(table)],
        columns=_column_words(table),
        scale=dict(numbers.numbers),
    )
    last_prompt = ""
    for number, row in enumerate(sheet.rows, 1):
        values = {role: row[name] for role, name in table.roles.items()}
        # In a spreadsheet, the cell of a prompt may be merged over the rows of its answers.
        last_prompt = values.get("prompt_id") or last_prompt
        values["prompt_id"] = last_prompt
        details = {name: row[name] for name in table.extras}
        for column in table.ratings:
            prompt = column.prompt or values["prompt_id"]
            candidate = column.candidate or values["candidate_id"]
            rating = numbers.rating(row[column.name])
            if rating is None:
                judgements.skipped["empty"] += 1
            elif not prompt or not candidate:
                judgements.skipped["no candidate"] += 1
            else:
                _rate(judgements, column, values, number, rating)
                judgements.add_details(prompt, candidate, details)
    _shorten_ids(judgements)
    return judgements


def _rate(
    judgements: Judgements,
    column: RatingColumn,
    values: Mapping[str, str],
    number: int,
    rating: float,
) -> None:
    """Add the rating in one cell, with its rater's group and the texts that were rated."""
    prompt = column.prompt or values["prompt_id"]
    candidate = column.candidate or values["candidate_id"]
    rater = ", ".join(name for name in (values.get("rater_id"), column.rater) if name)
    rater = rater or f"row {number}"
    judgements.rate(prompt, candidate, rater, rating, values.get("system", ""))
    judgements.add_group(rater, values.get("rater_group", ""))
    if not column.candidate:
        judgements.add_text(prompt, candidate, values.get("prompt"), values.get("response"))


def _notes(table: SheetColumns) -> list[str]:
    """What a user should check of the columns that were found."""
    notes = []
    if table.left_out:
        notes.append(f"not taken for ratings: {', '.join(table.left_out)} (see --column rating=)")
    for role, name in table.guessed.items():
        notes.append(f"took {name!r} for {role} (see --column {role}=)")
    return notes


def _column_words(table: SheetColumns) -> dict[str, str]:
    """The columns that were used, by role."""
    return {**table.roles, "rating": ", ".join(column.name for column in table.ratings)}


def _shorten_ids(judgements: Judgements) -> None:
    """Number candidates that are known by a long text, which stays among the texts."""
    names: dict[tuple[str, str], str] = {}
    answers: Counter[str] = Counter()
    for rating in judgements.ratings:
        key = (rating.prompt, rating.candidate)
        if key in names:
            continue
        answers[rating.prompt] += 1
        names[key] = rating.candidate
        if len(rating.candidate) > _MAX_ID and judgements.texts.get(key, ("", ""))[1]:
            names[key] = f"answer {answers[rating.prompt]}"
    if all(name == candidate for (_, candidate), name in names.items()):
        return
    judgements.ratings = [
        rating._replace(candidate=names[rating.prompt, rating.candidate])
        for rating in judgements.ratings
    ]
    for (prompt, candidate), name in names.items():
        if name == candidate:
            continue
        judgements.texts[prompt, name] = judgements.texts.pop((prompt, candidate))
        judgements.details[prompt, name] = judgements.details.pop((prompt, candidate), {})


def parse_scale(text: str) -> dict[str, float]:
    """What words stand for, from "bad=1,good=5".

    Raises:
        InputError: A part is not a word and a number.
    """
    scale: dict[str, float] = {}
    word_start = ""
    *first_parts, last_part = text.split(",")
    for part in first_parts:
        if "=" not in part:
            # The comma belongs to the word.
            word_start += f"{part},"
            continue
        scale.update([_word_and_number(text, word_start + part)])
        word_start = ""
    scale.update([_word_and_number(text, word_start + last_part)])
    return scale


def _word_and_number(text: str, part: str) -> tuple[str, float]:
    word, _, number = part.rpartition("=")
    word = word.strip().casefold()
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not word or not math.isfinite(value):
        message = f"--scale {text!r}: {part.strip()!r} is not a word and a number"
        raise InputError(message, 'try "bad=1,good=5"')
    return word, value
