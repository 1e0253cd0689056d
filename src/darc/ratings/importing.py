"""Ratings from whatever people have: spreadsheets with columns of any name, exports, datasets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from darc.errors import InputError, UnknownName, extra_needed
from darc.files import json_lines, read_json
from darc.ratings.columns import is_named
from darc.ratings.database import Database, quoted
from darc.ratings.foreign_formats import Judgements, Record, as_number, read_foreign, recognise
from darc.ratings.loading import DATASET_FILES, load_file, load_rows
from darc.ratings.plain_files import plain_file

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
HUB = "hf:"


def read_judgements(
    path: Path,
    columns: Mapping[str, str] | None = None,
    scale: Mapping[str, float] | None = None,
    split: str = "",
) -> Judgements:
    """The judgements in a file of any format known here, or in a dataset of Hugging Face.

    `columns` and `scale` are for tables. A dataset is a folder, or hf:NAME; of its splits all are
    read unless one is named.
    """
    suffix = "".join(path.suffixes[-2:]).lower().removesuffix(".gz")
    with Database() as db:
        dataset = path.is_dir() or str(path).startswith(HUB)
        if not dataset and not suffix.endswith((".json", ".jsonl", ".ndjson", ".parquet", ".pq")):
            loaded = load_file(db, plain_file(path, None, db.spare_path))
        else:
            records = _dataset(path, split) if dataset else _records(path, suffix, db)
            if found := recognise(records[0]):
                return read_foreign(found, records, str(path))
            loaded = load_rows(db, records)
        cells = zip(*map(loaded.texts, loaded.names), strict=True)
        rows = [dict(zip(loaded.names, each, strict=True)) for each in cells]
    return _table(str(path), loaded.names, rows, columns or {}, scale or {})


def _records(path: Path, suffix: str, db: Database) -> Sequence[Record]:
    if suffix.endswith((".parquet", ".pq")):
        name = quoted(plain_file(path, None, db.spare_path).path.resolve())
        try:
            found = db.run(f"FROM read_parquet({name}, hive_partitioning = false)")
        except db.failure:
            hint = "is it a file of another format?"
            raise InputError(f"{path}: not a Parquet file that can be read", hint) from None
        names = [each for each, *_ in found.description]
        records = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    elif suffix.endswith(".json"):
        whole = read_json(path)
        records = whole if isinstance(whole, list) else [whole]
    else:
        records = [record for _, record in json_lines(path)]
    if not records or not all(isinstance(each, dict) for each in records):
        raise InputError(f"{path}: there are no records", "give one JSON object a line, or a list")
    return records


def _dataset(path: Path, split: str) -> list[Record]:
    """The records of a folder that was saved or downloaded, or of a dataset by its name."""
    with extra_needed("reading a dataset of Hugging Face", "datasets"):
        import datasets
        import huggingface_hub
    datasets.disable_progress_bars()
    for library in (datasets, huggingface_hub):
        library.logging.set_verbosity_error()
    try:
        if any((path / name).is_file() for name in DATASET_FILES):
            found = datasets.load_from_disk(str(path))
        else:
            found = datasets.load_dataset(str(path).removeprefix(HUB), streaming=True)
    except Exception as problem:  # of any kind: the network's, the file system's, its own
        reason = str(problem).strip().split("\n")[0]
        hint = f"name a folder that save_to_disk made or that was downloaded, or {HUB}OWNER/NAME"
        raise InputError(f"{path}: no dataset that can be read ({reason})", hint) from None
    parts = found if isinstance(found, dict) else {"": found}
    if split and split not in parts:
        raise UnknownName("split", split, parts)
    return [record for name, part in parts.items() if split in ("", name) for record in part]


def _table(
    source: str,
    header: Sequence[str],
    rows: Sequence[Mapping[str, str]],
    columns: Mapping[str, str],
    scale: Mapping[str, float],
) -> Judgements:
    """A table with a rating a row, or a column a rater."""
    known = {part: name for part in WORDS if (name := _column(source, header, part, columns))}
    for part in NEEDED:
        if part not in known:
            raise InputError(
                f"{source}: no column looks like {part}",
                f"name it: --column {part}=ONE, one of {', '.join(filter(is_named, header))}",
            )
    wide, others = "rating" not in known, [n for n in header if n not in known.values()]
    raters = [name for name in others if _holds_ratings(name, rows, scale)]
    raters = raters if wide else [known["rating"]]
    if not raters:
        raise InputError(f"{source}: no column looks like a rating", "name it: --column rating=ONE")
    if wide and len({tuple(row[known[part]] for part in NEEDED) for row in rows}) < len(rows):
        # A candidate in several rows has a rater in each, and the one column is the rating.
        if len(raters) > 1:
            raise InputError(
                f"{source}: a candidate has several rows, and each has several numbers",
                f"say which is the rating: --column rating={raters[0]}",
            )
        wide, rest = False, [name for name in others if name not in raters]
        if "rater_id" not in known and len(rest) != 1:
            raise InputError(
                f"{source}: a candidate has several rows, and no column looks like a rater",
                "name it: --column rater_id=ONE",
            )
        known.setdefault("rater_id", *rest[:1])
    made = Judgements("a table with a column for each rater" if wide else "a table")
    unknown: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        own = {part: row[name].strip() for part, name in known.items()}
        prompt, candidate = (own[part] for part in NEEDED)
        for name in raters:
            cell, value = row[name].strip(), as_number(row[name], scale)
            if value is not None:
                rater = (name.strip() if wide else "") or own.get("rater_id") or f"row {number}"
                made.rate(prompt, candidate, rater, value, own.get("system", ""))
            elif cell:
                unknown[cell] += 1
            else:
                made.skipped["empty"] += 1
    if unknown:
        words = [word for word, _ in unknown.most_common(MOST_WORDS)]
        offer = ",".join(f"{word}={place}" for place, word in enumerate(words, 1))
        raise InputError(
            f"{source}: ratings such as {words[0]!r} are words",
            f'say what they stand for: --scale "{offer}", with the numbers as they should be',
        )
    return made


def _holds_ratings(
    name: str, rows: Sequence[Mapping[str, str]], scale: Mapping[str, float]
) -> bool:
    cells = [row[name] for row in rows if row[name].strip()]
    return bool(cells) and all(as_number(cell, scale) is not None for cell in cells)


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
