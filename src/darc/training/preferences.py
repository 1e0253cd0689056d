"""Preference data in TRL's formats: JSON lines, Parquet, or a data set of the hub."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError, MissingExtra, TableError
from darc.models.transformers.batching import BETWEEN

Row = dict[str, Any]

COLUMNS = ("prompt", "chosen", "rejected", "probability")
_NAME = re.compile(r"[\w.-]+/[\w.-]+(:[\w\[\]%-]+)?\Z", re.ASCII)


def read_preferences(text: str) -> list[Row]:
    """The rows of a .jsonl or .parquet file, or of OWNER/NAME[:SPLIT] on the hub (split: train).

    A row has chosen and rejected, as texts or as lists of messages, with the prompt apart or as
    their common beginning; `probability`, if there, is that of the label being right.
    """
    path = Path(text)
    if path.suffix in (".parquet", ".pq"):
        rows = _parquet(path)
    elif path.is_file() or path.suffix in (".jsonl", ".json", ".ndjson"):
        rows = _lines(path)
    elif _NAME.match(text):
        rows = _hub(text)
    else:
        raise InputError(f"there is no file {text}", "give a file, or OWNER/NAME of a data set")
    if not rows:
        raise InputError(f"{text} has no pairs", "give at least one")
    return [_checked(text, place, row) for place, row in enumerate(rows, 1)]


def split(rows: Sequence[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Rows to train on and held-out ones, about `share` of the prompts; equal prompts together."""
    if not 0 <= share < 1:
        raise InputError(f"the held-out share is {share:g}", "give 0 or more, below 1")
    sides: tuple[list[Row], list[Row]] = ([], [])
    for row in rows:
        asked = json.dumps([seed, row.get("prompt") or _opening(row)], ensure_ascii=False)
        draw = int.from_bytes(hashlib.sha256(asked.encode()).digest()[:8], "big") / 2.0**64
        sides[draw < share].append(row)
    if not sides[0] or (share > 0 and not sides[1]):
        raise InputError(
            f"{len(rows)} pairs cannot be divided: one side would be empty",
            "give more prompts, or --held-out 0",
        )
    return sides


def as_texts(row: Row) -> Row:
    """A row of messages as plain texts, for a model without a chat template.

    Messages are joined by empty lines, as generators join them for such a model.
    """
    if isinstance(row["chosen"], str):
        return row
    said: Row = {
        name: "".join(m["content"] + BETWEEN for m in row[name])
        for name in ("prompt", "chosen", "rejected")
        if name in row
    }
    ends = {name: said[name][: -len(BETWEEN)] for name in ("chosen", "rejected")}
    return {**row, **said, **ends}


def _opening(row: Row) -> Any:
    return row["chosen"][:-1] if isinstance(row["chosen"], list) else ""


def _lines(path: Path) -> list[Any]:
    from darc.files import read_entries

    return [entry for _, entry in read_entries(path)]


def _parquet(path: Path) -> list[Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None
    try:
        return list(parquet.read_table(path).to_pylist())
    except (pa.ArrowException, OSError) as problem:
        raise TableError(str(path), f"it cannot be read ({str(problem).splitlines()[0]})") from None


def _hub(text: str) -> list[Any]:
    try:
        from datasets import load_dataset
    except ImportError:
        raise MissingExtra(f"the data set {text}", "train") from None
    name, _, part = text.partition(":")
    try:
        return list(load_dataset(name, split=part or "train"))
    except Exception as problem:  # the hub, the network and the files have errors of their own
        said = str(problem).strip().splitlines()
        raise InputError(
            f"the data set {text} cannot be loaded: {said[0] if said else type(problem).__name__}",
            "check the name, the split and the network",
        ) from None


def _checked(source: str, place: int, row: Any) -> Row:
    where = f"{source}, pair {place}"
    if not isinstance(row, dict) or "chosen" not in row or "rejected" not in row:
        raise InputError(
            f"{where}: no chosen and rejected answer", "write prompt, chosen, rejected"
        )
    kept = {name: row[name] for name in COLUMNS if row.get(name) is not None}
    texts = [name for name in COLUMNS[:3] if isinstance(kept.get(name), str)]
    if len(texts) not in (0, len([name for name in COLUMNS[:3] if name in kept])):
        raise InputError(f"{where}: texts and messages are mixed", "use one of them")
    if not texts:
        for name in COLUMNS[:3]:
            if name in kept:
                kept[name] = [_message(where, part) for part in kept[name]]
    if not kept["chosen"] or not kept["rejected"]:
        raise InputError(f"{where}: an answer is empty", "leave the pair out")
    share = kept.get("probability", 1.0)
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"{where}: the probability is {share!r}", "give 0 to 1")
    return kept


def _message(where: str, part: Any) -> dict[str, str]:
    if not isinstance(part, dict) or not isinstance(part.get("content"), str):
        raise InputError(f"{where}: a message has no content", "write {role, content}")
    return {"role": str(part.get("role", "user")), "content": part["content"]}
