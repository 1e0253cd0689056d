"""Rows of a run folder, refused where they are not what a run writes."""

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

MOST = 2**63 - 1

Row = Mapping[str, Any]


class Fault(ValueError):
    """What is wrong with a row."""


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST


def _count(value: Any) -> bool:
    return _whole(value) and value >= 0


def _extended(value: Any) -> bool:
    return _whole(value) or (isinstance(value, float) and not math.isnan(value))


def _number(value: Any) -> bool:
    return _extended(value) and math.isfinite(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return _list(value) and all(map(_text, value))


def _counts(value: Any) -> bool:
    return _list(value) and all(map(_count, value))


def _or_null(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or kind(value)


def _statistic(value: Any) -> bool:
    return value is None or value in ("inf", "-inf") or _number(value)


def _bounds(value: Any) -> bool:
    return _list(value) and len(value) == 2 and all(map(_extended, value)) and value[0] <= value[1]


# The fields of each kind of object; one that may be absent ends with a question mark.
Fields = Mapping[str, Callable[[Any], bool]]
MESSAGE: Fields = {"role": _text, "content": _text}
CANDIDATE: Fields = {
    "index": _count,
    "text": _text,
    "tokens?": _count,
    "truncated?": _flag,
    "log_likelihood?": _or_null(_number),
    "seed?": _or_null(_whole),
    "name?": _text,
}
REWRITE: Fields = {"candidate": _count, "text": _text, "family": _text, "rewriter": _text}
VARIANT: Fields = {**REWRITE, "index": _count}
REJECTION: Fields = {**REWRITE, "attempt": _count, "reason": _text}
JUDGED: Fields = {"index": _count, "value": _statistic, "mean": _statistic, "sigma": _statistic}
ROWS: Mapping[str, Fields] = {
    "prompts.jsonl": {"category": _text, "messages": _list},
    "candidates.jsonl": {"candidates": _list, "failed?": _count, "saved?": _count},
    "rejected.jsonl": {"rejected": _list},
    "variants.jsonl": {"variants": _list, "rewritten?": _counts},
    "scores.jsonl": {
        "scorers": _texts,
        "scores": _list,
        "lazy?": _flag,
        "raters?": _texts,
        "criteria?": _texts,
        "grades?": _list,
        "missing?": _list,
    },
    "side.jsonl": {},
    "decisions.jsonl": {
        "rule": _text,
        "index": _count,
        "flags": _texts,
        "candidates": _list,
        "answer": _text,
        "lazy?": _flag,
    },
    "timings.jsonl": {
        "stage": _text,
        "milliseconds": _number,
        **{f"{unit}?": _count for unit in ("answers", "tokens", "rewrites", "scores", "kept")},
    },
}
# Where a row has a list of objects: its field, theirs, and whether there may be no others.
PARTS: Mapping[str, tuple[str, Fields, bool]] = {
    "prompts.jsonl": ("messages", MESSAGE, True),
    "candidates.jsonl": ("candidates", CANDIDATE, True),
    "rejected.jsonl": ("rejected", REJECTION, True),
    "variants.jsonl": ("variants", VARIANT, True),
    "decisions.jsonl": ("candidates", JUDGED, False),
}
MANIFEST: Fields = {
    "input": _text,
    "seed": _whole,
    "settings": _object,
    "finished": _flag,
    "complete": _flag,
}
SETTINGS: Mapping[str, Fields] = {
    "generator": {"name": _text},
    "sampling": {},
    "rewrites": {"n_aug": _count, "family": _text},
    "side": {},
    "decision": {
        "rule": _text,
        "beta": _extended,
        "gamma": _extended,
        "normalize": _text,
        "calibration?": _text,
    },
}
PANEL: Fields = {"rater": _list, "criteria": _texts, "repeats": _count, "missing": _text}
SCORER: Fields = {
    "name": _text,
    "location": _or_null(_number),
    "scale": _or_null(lambda value: _number(value) and value > 0),
    "bounds": _bounds,
}


def check_manifest(data: Row) -> None:
    """Refuse a manifest with a part that is absent or of another kind."""
    _fields(data, MANIFEST)
    settings = data["settings"]
    parts = {**dict.fromkeys(SETTINGS, _object), "scorers": _list, "panel?": _object}
    _fields(settings, parts, "settings.", True)
    for name, fields in SETTINGS.items():
        _fields(settings[name], fields, f"settings.{name}.")
    _objects(settings["scorers"], SCORER, "settings.scorers")
    if not settings["scorers"]:
        raise Fault("settings.scorers is empty")
    if "panel" in settings:
        _fields(settings["panel"], PANEL, "settings.panel.")
        _objects(settings["panel"]["rater"], {"name": _text}, "settings.panel.rater")


def check_row(name: str, row: Any) -> None:
    """Refuse a row of a file with a field that is absent or of another kind."""
    if not isinstance(row, dict):
        raise Fault("it is no JSON object")
    _fields(row, {"prompt_id": _text, **ROWS[name]})
    if name in PARTS:
        field, fields, closed = PARTS[name]
        _objects(row[field], fields, field, closed)
    if name == "prompts.jsonl" and not row["messages"]:
        raise Fault("messages is empty")
    if name == "candidates.jsonl":
        indices = [each["index"] for each in row["candidates"]]
        if not indices or indices != list(range(len(indices))):
            raise Fault("the candidates are not numbered 0, 1, 2, ...")
    if name == "scores.jsonl":
        check_scores(row)
    if name == "decisions.jsonl" and row["index"] not in [c["index"] for c in row["candidates"]]:
        raise Fault(f"index is {row['index']}, and no candidate has it")
    for field in row if name == "side.jsonl" else ():
        if field != "prompt_id":
            _array(row[field], field, (2,) if field == "similarity" else (1, 2))


def check_decision(row: Any) -> None:
    """Refuse a row of a gateway's audit log whose scores are not a table."""
    if not isinstance(row, dict):
        raise Fault("it is no JSON object")
    if row.get("scores"):
        _fields(row, {"prompt_id": _text, "request_id": _text, **ROWS["scores.jsonl"]})
        check_scores(row)


def check_scores(row: Row) -> None:
    """Refuse scores that are not scorers x candidates x samples, of numbers or null."""
    shape = _array(row["scores"], "scores", (3,), gaps=True).shape
    if shape[0] != len(row["scorers"]):
        raise Fault(f"scores is of {shape[0]} scorers, and scorers names {len(row['scorers'])}")
    if len(row.get("raters", range(shape[2]))) != shape[2]:
        raise Fault(f"scores is of {shape[2]} raters, and raters names {len(row['raters'])}")
    if "grades" in row:
        grades = _array(row["grades"], "grades", (4,), gaps=True).shape
        if grades[1:3] != shape[1:] or grades[0] != max(1, len(row.get("criteria", ()))):
            raise Fault("grades is not criteria x candidates x raters x repeats")
    for pair in row.get("missing", ()):
        if not _counts(pair) or len(pair) != 2 or pair[0] >= shape[1] or pair[1] >= shape[2]:
            raise Fault("missing is no list of candidates and raters")


def check_links(name: str, row: Row, others: Mapping[str, Row], settings: Row) -> None:
    """Refuse a row that disagrees with the same prompt's rows in the files before it."""
    if "candidates.jsonl" not in others:
        return
    count = len(others["candidates.jsonl"]["candidates"])
    depth = int(settings["rewrites"]["n_aug"]) + 1
    if name in ("rejected.jsonl", "variants.jsonl"):
        named = [each["candidate"] for each in row[PARTS[name][0]]] + row.get("rewritten", [])
        if any(each >= count for each in named):
            raise Fault(f"it names candidate {max(named)}, and candidates.jsonl has {count}")
    if name == "variants.jsonl" and max(_samples(row, count)) > depth:
        raise Fault(f"a candidate has more rewrites than n_aug in manifest.json, {depth - 1}")
    if name == "scores.jsonl" and "variants.jsonl" in others:
        _check_shape(row, _samples(others["variants.jsonl"], count), settings)
    if name == "side.jsonl":
        for field, values in row.items():
            sizes = [values, *values] if field == "similarity" else [values]
            if field != "prompt_id" and any(len(each) != count for each in sizes):
                raise Fault(f"{field} is not of {count} candidates, as in candidates.jsonl")
    if name == "decisions.jsonl" and any(each["index"] >= count for each in row["candidates"]):
        raise Fault(f"it has more candidates than candidates.jsonl, {count}")


def _check_shape(row: Row, samples: list[int], settings: Row) -> None:
    names = [scorer["name"] for scorer in settings["scorers"]]
    raters = [rater["name"] for rater in settings.get("panel", {}).get("rater", ())]
    depth = len(raters) or int(settings["rewrites"]["n_aug"]) + 1
    if row["scorers"] != names:
        raise Fault(f"its scorers are {row['scorers']}, and those of manifest.json {names}")
    scores = np.array(row["scores"], dtype=np.float64)
    wanted = (len(names), len(samples), depth)
    if scores.shape != wanted:
        raise Fault(f"scores is {scores.shape}, not {wanted} as the other files have it")
    there = ~np.isnan(scores)
    if raters:
        _check_raters(row, raters, there[0])
        return
    could = np.arange(depth) < np.array(samples)[:, None]
    if (there & ~could).any() or (there != there[0]).any() or not there.any():
        raise Fault("the samples that have scores are not those of variants.jsonl")
    if not settings["rewrites"].get("include_original", True) and max(samples) > 1:
        could[:, 0] = False
    if not row.get("lazy") and not there[:, could].all():
        raise Fault("a rewrite of variants.jsonl has no score")


def _check_raters(row: Row, raters: list[str], there: Any) -> None:
    if row.get("raters") != raters:
        raise Fault(f"its raters are {row.get('raters')}, and those of manifest.json {raters}")
    for k, i in row.get("missing", ()):
        there[k, i] = True
    if not row.get("lazy") and not there.all():
        raise Fault("a grade is neither there nor missing")


def _samples(row: Row, count: int) -> list[int]:
    """How many samples each candidate has: itself and its rewrites."""
    samples = [1] * count
    for variant in row["variants"]:
        samples[variant["candidate"]] += 1
    return samples


def _array(value: Any, field: str, depths: tuple[int, ...], gaps: bool = False) -> Any:
    """A list of lists as an array of finite numbers, NaN for null where there may be gaps."""
    level, depth = [value], 0
    while level and all(map(_list, level)) and depth < 4:
        level, depth = [each for inner in level for each in inner], depth + 1
    if depth not in depths or not level:
        raise Fault(f"{field} is no table of numbers")
    if not all(_number(each) or (gaps and each is None) for each in level):
        raise Fault(f"{field} has something that is no number")
    try:
        return np.array(value, dtype=np.float64)
    except ValueError:
        raise Fault(f"{field} has rows of different lengths") from None


def _objects(rows: list[Any], fields: Fields, where: str, closed: bool = False) -> None:
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Fault(f"{where}[{place}] is no object")
        _fields(row, fields, f"{where}[{place}].", closed)


def _fields(row: Row, fields: Fields, where: str = "", closed: bool = False) -> None:
    for key, fits in fields.items():
        name = key.removesuffix("?")
        if name not in row:
            if not key.endswith("?"):
                raise Fault(f"{where}{name} is missing")
        elif not fits(row[name]):
            raise Fault(f"{where}{name} cannot be {reprlib.repr(row[name])}")
    known = {key.removesuffix("?") for key in fields}
    for name in row if closed else ():
        if name not in known:
            raise Fault(f"{where}{name[:40]} is unknown")
