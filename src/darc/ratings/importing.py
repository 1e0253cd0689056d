"""Ratings from whatever people have: tables with columns of any name, exports, datasets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darc.errors import InputError, UnknownName, extra_needed
from darc.field_names import RATING_COLUMNS
from darc.json_files import json_lines, read_json
from darc.ratings.columns import is_named
from darc.ratings.database import Database, quoted
from darc.ratings.foreign_formats import Record, read_foreign, recognise_format
from darc.ratings.judgements import Judgements
from darc.ratings.loading import DATASET_FILES, load_file, load_rows
from darc.ratings.plain_files import plain_file
from darc.ratings.raw_rows import RawRows

_NEEDED = ("prompt_id", "candidate_id")
# How many words of a scale an error lists.
_MAX_WORDS = 12
# What the name of a dataset on Hugging Face starts with.
_HUB = "hf:"
_PARQUET_SUFFIXES = (".parquet", ".pq")
_RECORD_SUFFIXES = (".json", ".jsonl", ".ndjson", *_PARQUET_SUFFIXES)

Row = Mapping[str, str]


def read_judgements(
    path: Path,
    columns: Mapping[str, str] | None = None,
    scale: Mapping[str, float] | None = None,
    split: str = "",
) -> Judgements:
    """Read the judgements in a file of any format known here, or in a dataset of Hugging Face.

    Args:
        path: A file, a folder with a dataset, or hf:NAME.
        columns: What a table calls the column of a role.
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
            loaded = load_file(db, plain_file(path, None, db.spare_path))
            return _read_table(str(path), loaded, columns or {}, scale or {})
        foreign_format = recognise_format(records[0])
        if foreign_format is not None:
            return read_foreign(foreign_format, records, str(path))
        loaded = load_rows(db, records)
        return _read_table(str(path), loaded, columns or {}, scale or {})


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
    name = quoted(plain_file(path, None, db.spare_path).path.resolve())
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


@dataclass(frozen=True)
class _TableColumns:
    """Which column of a table plays which role."""

    #: The table's column for each role that has one.
    roles: Mapping[str, str]
    #: The columns that hold ratings.
    ratings: Sequence[str]
    #: Whether each of these is of one rater, and is called by the rater's name.
    one_per_rater: bool


def _read_table(
    source: str, loaded: RawRows, columns: Mapping[str, str], scale: Mapping[str, float]
) -> Judgements:
    """Read a table with one rating per row, or with one column per rater."""
    names = loaded.names
    cells = zip(*(loaded.texts(name) for name in names), strict=True)
    rows = [dict(zip(names, row, strict=True)) for row in cells]
    table = _find_columns(source, names, rows, columns, scale)
    judgements = Judgements("a table")
    if table.one_per_rater:
        judgements = Judgements("a table with a column for each rater")
    unknown_words: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        values = {role: row[name].strip() for role, name in table.roles.items()}
        for name in table.ratings:
            rating = as_number(row[name], scale)
            if rating is None:
                word = row[name].strip()
                if word:
                    unknown_words[word] += 1
                else:
                    judgements.skipped["empty"] += 1
                continue
            rater = values.get("rater_id", "")
            if table.one_per_rater:
                rater = name.strip() or rater
            judgements.rate(
                values["prompt_id"],
                values["candidate_id"],
                rater or f"row {number}",
                rating,
                values.get("system", ""),
            )
    if unknown_words:
        raise _unknown_words(source, unknown_words)
    return judgements


def _unknown_words(source: str, counts: Counter[str]) -> InputError:
    words = [word for word, _ in counts.most_common(_MAX_WORDS)]
    example = ",".join(f"{word}={number}" for number, word in enumerate(words, 1))
    return InputError(
        f"{source}: ratings such as {words[0]!r} are words",
        f'say what they stand for: --scale "{example}", with the numbers as they should be',
    )


def _find_columns(
    source: str,
    header: Sequence[str],
    rows: Sequence[Row],
    columns: Mapping[str, str],
    scale: Mapping[str, float],
) -> _TableColumns:
    """Find the column of each role, by what the user says or by what people call it.

    Raises:
        InputError: A column cannot be told.
    """
    roles = {}
    for role in RATING_COLUMNS:
        name = _find_column(source, header, role, columns)
        if name:
            roles[role] = name
    for role in _NEEDED:
        if role not in roles:
            named = ", ".join(name for name in header if is_named(name))
            raise InputError(
                f"{source}: no column looks like {role}",
                f"name it: --column {role}=ONE, one of {named}",
            )
    if "rating" in roles:
        return _TableColumns(roles, [roles["rating"]], one_per_rater=False)
    others = [name for name in header if name not in roles.values()]
    rating_columns = [name for name in others if _holds_ratings(name, rows, scale)]
    if not rating_columns:
        raise InputError(f"{source}: no column looks like a rating", "name it: --column rating=ONE")
    candidates = {tuple(row[roles[role]] for role in _NEEDED) for row in rows}
    if len(candidates) == len(rows):
        return _TableColumns(roles, rating_columns, one_per_rater=True)
    # A candidate in several rows has a rater in each, and the one column of numbers is the rating.
    if len(rating_columns) > 1:
        raise InputError(
            f"{source}: a candidate has several rows, and each has several numbers",
            f"say which is the rating: --column rating={rating_columns[0]}",
        )
    if "rater_id" not in roles:
        rest = [name for name in others if name not in rating_columns]
        if len(rest) != 1:
            raise InputError(
                f"{source}: a candidate has several rows, and no column looks like a rater",
                "name it: --column rater_id=ONE",
            )
        roles["rater_id"] = rest[0]
    return _TableColumns(roles, rating_columns, one_per_rater=False)


def _holds_ratings(name: str, rows: Sequence[Row], scale: Mapping[str, float]) -> bool:
    """Whether all cells of a column that are not empty are ratings."""
    cells = [row[name] for row in rows if row[name].strip()]
    return bool(cells) and all(as_number(cell, scale) is not None for cell in cells)


def _find_column(
    source: str, header: Sequence[str], role: str, columns: Mapping[str, str]
) -> str | None:
    """The column of a role: the one that the user names, or the first that is called like it."""
    if role in columns:
        name = columns[role]
        if name not in header:
            named = ", ".join(other for other in header if is_named(other))
            raise InputError(f"{source}: there is no column {name!r}", f"it has {named}")
        return name
    # Of two columns that differ in case only, the first counts.
    by_word = {name.strip().casefold().replace(" ", "_"): name for name in reversed(header)}
    for word in RATING_COLUMNS[role]:
        if word in by_word and by_word[word] not in columns.values():
            return by_word[word]
    return None


def parse_scale(text: str) -> dict[str, float]:
    """What words stand for, from "bad=1,good=5".

    Raises:
        InputError: A part is not a word and a number.
    """
    scale = {}
    for part in text.split(","):
        word, _, number = part.partition("=")
        word = word.strip().casefold()
        try:
            value = float(number)
        except ValueError:
            value = None
        if not word or value is None:
            message = f"--scale {text!r}: {part.strip()!r} is not a word and a number"
            raise InputError(message, 'try "bad=1,good=5"')
        scale[word] = value
    return scale


def as_number(text: str, scale: Mapping[str, float]) -> float | None:
    """A rating: a number, also with a decimal comma, or a word of the scale; None for others."""
    word = text.strip()
    if word.casefold() in scale:
        return scale[word.casefold()]
    if word.count(",") == 1 and "." not in word:
        word = word.replace(",", ".")
    try:
        return float(word)
    except ValueError:
        return None
