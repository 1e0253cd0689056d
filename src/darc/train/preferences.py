"""Preference pairs in the formats of TRL."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from darc.entries import read_entries
from darc.errors import InputError, TableError
from darc.models.transformers.batching import MESSAGE_SEPARATOR

Row = dict[str, Any]

_TEXT_COLUMNS = ("prompt", "chosen", "rejected")
_COLUMNS = (*_TEXT_COLUMNS, "probability")
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(:[\w\[\]%-]+)?\Z", re.ASCII)


def read_preferences(text: str) -> list[Row]:
    """Read preference pairs.

    Args:
        text: A .jsonl or .parquet file, or OWNER/NAME[:SPLIT] on the hub (split: train).

    Returns:
        Rows with chosen and rejected, as texts or as lists of messages, with the prompt apart or as
        their common beginning. `probability`, if there, is that of the label being right.

    Raises:
        InputError: There are no pairs, or one of them cannot be used.
        TableError: The file cannot be read.
    """
    path = Path(text)
    if path.suffix in (".parquet", ".pq"):
        rows = _read_parquet(path)
    elif path.is_file() or path.suffix in (".jsonl", ".json", ".ndjson"):
        rows = [entry for _, entry in read_entries(path)]
    elif _HUB_NAME.match(text):
        rows = _read_hub(text)
    else:
        raise InputError(f"there is no file {text}", "give a file, or OWNER/NAME of a data set")
    if not rows:
        raise InputError(f"{text} has no pairs", "give at least one")
    return [_check_row(f"{text}, pair {number}", row) for number, row in enumerate(rows, 1)]


def split(rows: Sequence[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Divide rows such that those of equal prompts stay together.

    Args:
        rows: The rows.
        share: About the share of the prompts that is held out.
        seed: The seed of the division.

    Returns:
        The rows to train on, and the held-out ones.

    Raises:
        InputError: The share is out of range, or one side would be empty.
    """
    if not 0 <= share < 1:
        raise InputError(f"the held-out share is {share:g}", "give 0 or more, below 1")
    trained: list[Row] = []
    held_out: list[Row] = []
    for row in rows:
        if _draw(row, seed) < share:
            held_out.append(row)
        else:
            trained.append(row)
    if not trained or (share > 0 and not held_out):
        raise InputError(
            f"{len(rows)} pairs cannot be divided: one side would be empty",
            "give more prompts, or --held-out 0",
        )
    return trained, held_out


def _draw(row: Row, seed: int) -> float:
    """A number in [0, 1) that depends on the prompt and the seed alone."""
    prompt = row.get("prompt")
    if not prompt:
        prompt = row["chosen"][:-1] if isinstance(row["chosen"], list) else ""
    key = json.dumps([seed, prompt], ensure_ascii=False)
    digest = hashlib.sha256(key.encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64


def as_texts(row: Row) -> Row:
    """Turn a row of messages into plain texts, for a model without a chat template.

    Args:
        row: A row of texts or of messages.

    Returns:
        The row with messages joined by empty lines, as generators join them for such a model.
    """
    if isinstance(row["chosen"], str):
        return row
    texts = dict(row)
    for name in _TEXT_COLUMNS:
        if name in row:
            parts = [message["content"] + MESSAGE_SEPARATOR for message in row[name]]
            texts[name] = "".join(parts)
    for name in ("chosen", "rejected"):
        texts[name] = texts[name].removesuffix(MESSAGE_SEPARATOR)
    return texts


def _read_parquet(path: Path) -> list[Any]:
    # pyarrow comes with what trains.
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return list(parquet.read_table(path).to_pylist())
    except (pa.ArrowException, OSError) as problem:
        reason = str(problem).splitlines()[0]
        raise TableError(str(path), f"it cannot be read ({reason})") from None


def _read_hub(text: str) -> list[Any]:
    from datasets import load_dataset

    name, _, part = text.partition(":")
    try:
        return list(load_dataset(name, split=part or "train"))
    except Exception as problem:  # the hub, the network and the files have errors of their own
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        raise InputError(
            f"the data set {text} cannot be loaded: {lines[0]}",
            "check the name, the split and the network",
        ) from None


def _check_row(where: str, row: Any) -> Row:
    """The columns of a row that are used; raises why it cannot be used, if so."""
    if not isinstance(row, dict) or "chosen" not in row or "rejected" not in row:
        raise InputError(
            f"{where}: no chosen and rejected answer", "write prompt, chosen, rejected"
        )
    checked = {name: row[name] for name in _COLUMNS if row.get(name) is not None}
    columns = [name for name in _TEXT_COLUMNS if name in checked]
    text_columns = [name for name in columns if isinstance(checked[name], str)]
    if text_columns and text_columns != columns:
        raise InputError(f"{where}: texts and messages are mixed", "use one of them")
    if not text_columns:
        for name in columns:
            checked[name] = [_check_message(where, message) for message in checked[name]]
    if not checked.get("chosen") or not checked.get("rejected"):
        raise InputError(f"{where}: an answer is empty", "leave the pair out")
    probability = checked.get("probability", 1.0)
    if not isinstance(probability, int | float) or not 0 <= probability <= 1:
        raise InputError(f"{where}: the probability is {probability!r}", "give 0 to 1")
    return checked


def _check_message(where: str, message: Any) -> dict[str, str]:
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise InputError(f"{where}: a message has no content", "write {role, content}")
    return {"role": str(message.get("role", "user")), "content": message["content"]}
