"""Ratings from whatever people have: spreadsheets with columns of any name, exports, datasets."""

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError, MissingExtra
from darc.files import json_lines, parse_json
from darc.tables.foreign import (
    Judgements,
    Record,
    as_number,
    read_foreign,
    recognise,
)
from darc.tables.load import sheet_rows
from darc.tables.schema import is_named

# What people call the columns, the first that is there.
WORDS = {
    "prompt_id": ("prompt_id", "prompt", "question_id", "question", "item", "task", "id"),
    "candidate_id": (
        "candidate_id", "candidate", "system", "model", "answer_id", "response_id", "answer",
        "response", "output",
    ),
    "rater_id": ("rater_id", "rater", "annotator", "user", "worker", "judge", "person", "email"),
    "rating": ("rating", "score", "grade", "stars", "value", "label", "mark"),
    "system": ("system", "model"),
}  # fmt: skip
NEEDED = ("prompt_id", "candidate_id")
MOST_WORDS = 12
EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")


def read_judgements(
    path: Path, columns: Mapping[str, str] | None = None, scale: Mapping[str, float] | None = None
) -> Judgements:
    """The judgements in a file of any format known here; `columns` and `scale` are for tables."""
    if not path.is_file():
        raise InputError(f"there is no file {path}", "name a file")
    suffix = "".join(path.suffixes[-2:]).lower().removesuffix(".gz")
    if suffix.endswith(EXCEL):
        header, rows = _sheet(path)
    elif suffix.endswith((".json", ".jsonl", ".ndjson", ".parquet", ".pq")):
        records = _records(path, suffix)
        found = recognise(records[0])
        if found:
            return read_foreign(found, records, str(path))
        header, rows = _flat(records)
    else:
        header, rows = _delimited(path)
    return _table(str(path), header, rows, columns or {}, scale or {})


def _records(path: Path, suffix: str) -> list[Record]:
    if suffix.endswith((".parquet", ".pq")):
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            raise MissingExtra("reading Parquet", "parquet") from None
        records = parquet.read_table(path).to_pylist()
    elif suffix.endswith(".json"):
        whole = parse_json(_bytes(path), str(path))
        records = whole if isinstance(whole, list) else [whole]
    else:
        records = [record for _, record in json_lines(path)]
    if not records or not all(isinstance(each, dict) for each in records):
        raise InputError(f"{path}: there are no JSON objects", "give one a line, or an array")
    return records


def _flat(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    names = list(dict.fromkeys(name for record in records for name in record))
    return names, [[_cell(record.get(name)) for name in names] for record in records]


def _sheet(path: Path) -> tuple[list[str], list[list[str]]]:
    (_, header), *rows = sheet_rows(_bytes(path), str(path))
    return header, [row for _, row in rows]


def _delimited(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: it is not UTF-8", "save it as UTF-8") from None
    first = text.split("\n", 1)[0]
    rows = list(csv.reader(io.StringIO(text), delimiter=max(",;\t|", key=first.count)))
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InputError(f"{path}: there are no rows", "give a header and a row a rating")
    return rows[0], rows[1:]


def _table(
    source: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    columns: Mapping[str, str],
    scale: Mapping[str, float],
) -> Judgements:
    """A table with a rating a row, or a column a rater."""
    parts = {part: _column(source, header, part, columns) for part in WORDS}
    for part in NEEDED:
        if parts[part] is None:
            raise InputError(
                f"{source}: no column looks like {part}",
                f"name it: --column {part}=ONE, one of {', '.join(filter(is_named, header))}",
            )
    places = {part: header.index(name) for part, name in parts.items() if name is not None}
    taken = set(places.values())
    if "rating" in places:
        single, raters = places["rating"], {places["rating"]: ""}
        taken.add(single)
    else:
        raters = _rater_columns(header, rows, taken, scale)
    if not raters:
        raise InputError(f"{source}: no column looks like a rating", "name it: --column rating=ONE")
    pairs = [tuple(row[places[part]] for part in NEEDED) for row in rows if len(row) > max(taken)]
    if "rating" not in places and len(set(pairs)) < len(pairs):
        # A candidate in several rows has a rater in each, and the one column is the rating.
        if len(raters) > 1:
            raise InputError(
                f"{source}: a candidate has several rows, and each has several numbers",
                f"say which is the rating: --column rating={header[min(raters)]}",
            )
        (places["rating"],) = raters
        raters = {places["rating"]: ""}
        others = [place for place in range(len(header)) if place not in {*taken, *raters}]
        if "rater_id" not in places:
            if len(others) != 1:
                raise InputError(
                    f"{source}: a candidate has several rows, and no column looks like a rater",
                    "name it: --column rater_id=ONE",
                )
            places["rater_id"] = others[0]
    made = Judgements("a table" if "rating" in places else "a table with a column for each rater")
    unknown: dict[str, int] = {}
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row] + [""] * (len(header) - len(row))
        who = cells[places["rater_id"]] if "rater_id" in places else ""
        system = cells[places["system"]] if "system" in places else ""
        for place, name in raters.items():
            value = as_number(cells[place], scale) if cells[place] else None
            if cells[place] and value is None:
                unknown[cells[place]] = unknown.get(cells[place], 0) + 1
            elif value is not None:
                rater = name or who or f"row {number}"
                prompt, candidate = (cells[places[part]] for part in NEEDED)
                made.rate(prompt, candidate, rater, value, system)
            else:
                made.skip("empty")
    if unknown:
        _refuse_words(source, unknown)
    return made


def _refuse_words(source: str, unknown: Mapping[str, int]) -> None:
    words = sorted(unknown, key=lambda word: -unknown[word])[:MOST_WORDS]
    offer = ",".join(f"{word}={place}" for place, word in enumerate(words, 1))
    raise InputError(
        f"{source}: ratings such as {words[0]!r} are words",
        f'say what they stand for: --scale "{offer}", with the numbers as they should be',
    )


def _rater_columns(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    taken: set[int],
    scale: Mapping[str, float],
) -> dict[int, str]:
    """Columns that hold nothing but ratings, by place."""
    found = {}
    for place, name in enumerate(header):
        cells = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
        if place not in taken and cells and all(as_number(c, scale) is not None for c in cells):
            found[place] = name.strip()
    return found


def _column(
    source: str, header: Sequence[str], part: str, columns: Mapping[str, str]
) -> str | None:
    if part in columns:
        if columns[part] not in header:
            known = ", ".join(filter(is_named, header))
            raise InputError(f"{source}: there is no column {columns[part]!r}", f"it has {known}")
        return columns[part]
    by_word = {name.strip().casefold().replace(" ", "_"): name for name in reversed(header)}
    taken = set(columns.values())
    found = [by_word[word] for word in WORDS[part] if word in by_word]
    return next((name for name in found if name not in taken), None)


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError) as problem:
        raise InputError(f"{path} cannot be read ({problem})", "save it again") from None


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
