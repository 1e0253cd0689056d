"""Rows of a run folder's files: what they stand for, and what no run would write in them."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError, create_model

from darc.engine.tools import names_of_candidates
from darc.parts.rewriters import Perturbed
from darc.types import Candidate, Message, Prompt, Rejection, Scores, Variant
from darc.typing import Array

if TYPE_CHECKING:
    from darc.runs.shard import Shard

RATER = "rater"


def prompt_row(prompt: Prompt) -> dict[str, Any]:
    """A prompt as a row."""
    messages = [asdict(message) for message in prompt.messages]
    return {"prompt_id": prompt.id, "category": prompt.category, "messages": messages}


def candidates_row(
    prompt_id: str, candidates: Sequence[Candidate], failed: int = 0, saved: int = 0
) -> dict[str, Any]:
    """The candidates of a prompt as a row, with how many failed and how many were not worth it."""
    rows = [_candidate_fields(each) for each in candidates]
    told = {"failed": failed, "saved": saved}
    return {"prompt_id": prompt_id, "candidates": rows, **{k: n for k, n in told.items() if n}}


def _candidate_fields(candidate: Candidate) -> dict[str, Any]:
    """A candidate as a part of a row; names, and copies beyond one, only where there are any."""
    row = _plain(candidate)
    usual = {"name": "", "copies": 1, "other_names": ()}
    return {key: value for key, value in row.items() if key not in usual or value != usual[key]}


def rewrite_rows(
    prompt_id: str, made: dict[int, Perturbed], count: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The refused and the accepted rewrites as rows; `rewritten` says of which if not of all."""
    refused = [_plain(each) for k in sorted(made) for each in made[k].rejections]
    variants = [_plain(each) for k in sorted(made) for each in made[k].variants]
    accepted = {"prompt_id": prompt_id, "variants": variants}
    some = {} if len(made) == count else {"rewritten": sorted(made)}
    return {"prompt_id": prompt_id, "rejected": refused}, {**accepted, **some}


def scores_row(prompt_id: str, scores: Scores) -> dict[str, Any]:
    """Scores as a row, null where there is none; `lazy` where more could be had.

    Those of a panel name the `raters`; `grades` (criteria, candidates, raters, repeats) are what
    they said where that is more than one number each, and `missing` what could not be had.
    """
    row = {"prompt_id": prompt_id, "scorers": list(scores.scorers)}
    more = {
        "raters": list(scores.samples) if scores.sample == RATER else [],
        "criteria": list(scores.criteria),
        "grades": [] if scores.grades is None else numbers(scores.grades),
        "missing": [list(pair) for pair in scores.failed],
        "lazy": not scores.complete,
    }
    return {**row, "scores": numbers(scores.values), **{k: v for k, v in more.items() if v}}


def numbers(values: Array) -> list[Any]:
    """An array as lists, None where it is NaN."""
    made: list[Any] = np.where(np.isnan(values), np.array(None), values).tolist()
    return made


def read_prompt(shard: "Shard", prompt_id: str) -> Prompt:
    """A prompt of a run."""
    row = shard.rows("prompts.jsonl")[prompt_id]
    messages = tuple(Message(**message) for message in row["messages"])
    return Prompt(prompt_id, messages, row["category"])


def read_candidates(shard: "Shard", prompt_id: str) -> list[Candidate]:
    """The candidates of a prompt."""
    rows = shard.rows("candidates.jsonl")[prompt_id]["candidates"]
    made = [Candidate(prompt_id, **row) for row in rows]
    return [replace(each, other_names=tuple(each.other_names)) for each in made]


def read_perturbed(shard: "Shard", prompt_id: str, count: int) -> dict[int, Perturbed]:
    """The rewrites of those of a prompt's candidates that were rewritten."""
    row = shard.rows("variants.jsonl")[prompt_id]
    refused = shard.rows("rejected.jsonl")[prompt_id]["rejected"]
    variants = [Variant(prompt_id, **each) for each in row["variants"]]
    rejections = [Rejection(prompt_id, **each) for each in refused]
    return {
        k: Perturbed(
            tuple(v for v in variants if v.candidate == k),
            tuple(r for r in rejections if r.candidate == k),
        )
        for k in row.get("rewritten", range(count))
    }


def read_scores(shard: "Shard", prompt_id: str) -> Scores:
    """The scores of a prompt."""
    row = shard.rows("scores.jsonl")[prompt_id]
    values = np.array(row["scores"], dtype=np.float64)
    names = [c.get("name", "") for c in shard.rows("candidates.jsonl")[prompt_id]["candidates"]]
    grades = row.get("grades")
    return replace(
        scores_of(shard.settings, values, names),
        complete=not row.get("lazy"),
        grades=None if grades is None else np.array(grades, dtype=np.float64),
        failed=tuple((int(k), int(i)) for k, i in row.get("missing", ())),
    )


def scores_of(settings: Mapping[str, Any], values: Array, names: Sequence[str] = ()) -> Scores:
    """Values (M, K, n) of a run with the settings of its manifest."""
    scorers, panel = settings["scorers"], settings.get("panel")
    rewrites = ("original", *(f"rewrite {i}" for i in range(1, values.shape[2])))
    return Scores(
        values=values,
        scorers=tuple(scorer["name"] for scorer in scorers),
        bounds=tuple((scorer["bounds"][0], scorer["bounds"][1]) for scorer in scorers),
        location=tuple(scorer["location"] for scorer in scorers),
        scale=tuple(scorer["scale"] for scorer in scorers),
        samples=tuple(rater["name"] for rater in panel["rater"]) if panel else rewrites,
        candidates=names_of_candidates(names),
        sample=RATER if panel else "rewrite",
        criteria=tuple(panel["criteria"]) if panel else (),
    )


def _plain(item: Any) -> dict[str, Any]:
    """A record without its prompt's id."""
    return {key: value for key, value in vars(item).items() if key != "prompt_id"}


class Fault(ValueError):
    """What is wrong with a row."""


Json = Mapping[str, Any]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Level = Annotated[float, Field(ge=-np.inf)]  # which NaN is not
Statistic = Number | Literal["inf", "-inf"] | None


def _object(fields: Mapping[str, Any], closed: bool = False) -> type[BaseModel]:
    """An object with these fields; one whose name ends with a question mark may be absent."""
    kinds: dict[str, Any] = {
        name.removesuffix("?"): (kind, None if name.endswith("?") else ...)
        for name, kind in fields.items()
    }
    config = ConfigDict(strict=True, extra="forbid" if closed else "allow")
    return create_model("Object", __config__=config, **kinds)


def _list(fields: Mapping[str, Any], closed: bool = False, least: int = 0) -> Any:
    return Annotated[list[_object(fields, closed)], Field(min_length=least)]  # type: ignore[misc]


def _plain_list(record: type, least: int = 0) -> Any:
    """Records as `_plain` writes them; a field with a default may be absent."""
    kinds: Any = {int: Count, int | None: Whole | None, float | None: Number | None}
    kinds[tuple[str, ...]] = list[str]
    named = {
        each.name + "?" * (each.default is not MISSING): kinds.get(each.type, each.type)
        for each in fields(record)
        if each.name != "prompt_id"
    }
    return _list(named, closed=True, least=least)


# The stages in their order, and what is counted in each.
UNITS: Mapping[str, Sequence[str]] = {
    "generate": ("answers", "tokens"),
    "rewrite": ("rewrites",),
    "score": ("scores", "kept"),
    "side": (),
    "decide": (),
}
JUDGED = {"index": Count, "value": Statistic, "mean": Statistic, "sigma": Statistic}
GAPS = list[list[list[Number | None]]]
SCORES = {
    "prompt_id": str,
    "scorers": list[str],
    "scores": GAPS,
    "lazy?": bool,
    "raters?": list[str],
    "criteria?": list[str],
    "grades?": list[GAPS],
    "missing?": list[Annotated[list[Count], Field(min_length=2, max_length=2)]],
}
ROWS = {
    name: _object({"prompt_id": str, **fields})
    for name, fields in {
        "prompts.jsonl": {"category": str, "messages": _plain_list(Message, least=1)},
        "candidates.jsonl": {
            "candidates": _plain_list(Candidate),
            "failed?": Count,
            "saved?": Count,
        },
        "rejected.jsonl": {"rejected": _plain_list(Rejection)},
        "variants.jsonl": {"variants": _plain_list(Variant), "rewritten?": list[Count]},
        "scores.jsonl": SCORES,
        "side.jsonl": {},
        "decisions.jsonl": {
            "rule": str,
            "index": Count,
            "flags": list[str],
            "candidates": _list(JUDGED),
            "answer": str,
            "lazy?": bool,
        },
        "timings.jsonl": {
            "stage": str,
            "milliseconds": Number,
            **{f"{unit}?": Count for unit in chain(*UNITS.values())},
        },
    }.items()
}
SIDE = RootModel[dict[str, list[Number] | list[list[Number]]]]
AUDITED = _object({**SCORES, "request_id": str})
SCORER = {
    "name": str,
    "location": Number | None,
    "scale": Annotated[Number, Field(gt=0)] | None,
    "bounds": Annotated[list[Level], Field(min_length=2, max_length=2)],
}
PANEL = {"criteria": list[str], "repeats": Count, "missing": str}
ENDS = Annotated[list[Number], Field(min_length=2, max_length=2)]
LIMITS = ("threshold", "no_rating_below", "poor_below")
STANDARDS = {"scale?": ENDS, **{f"{name}?": Number for name in LIMITS}}
DECISION = {
    "rule": str,
    "beta": Level,
    "gamma": Level,
    "normalize": str,
    "calibration?": str,
    "caution?": Annotated[Number, Field(ge=0)],
    "standards?": _object(STANDARDS, closed=True),
}
SETTINGS = {
    "generator": _object({"name": str}),
    "sampling": dict[str, Any],
    "rewrites": _object({"n_aug": Count, "family": str}),
    "side": dict[str, Any],
    "decision": _object(DECISION),
    "scorers": _list(SCORER, least=1),
    "panel?": _object({**PANEL, "rater": _list({"name": str})}),
}
STATE = {"input": str, "seed": Whole, "finished": bool, "complete": bool}
MANIFEST = _object({**STATE, "settings": _object(SETTINGS, closed=True)})


def _check(kind: type[BaseModel], row: Any) -> None:
    """Refuse what has a field that is absent or of another kind, by where that is."""
    where, value = "", row
    if not isinstance(row, dict):
        raise Fault("it is no JSON object")
    try:
        kind.model_validate(row)
    except ValidationError as problem:
        fault = problem.errors(include_url=False)[0]
    else:
        return
    for part in fault["loc"]:
        if isinstance(part, int):
            where, value = f"{where}[{part}]", value[part]
        elif isinstance(value, dict):  # otherwise it names the kind that was tried
            where, value = f"{where}.{part}", value.get(part)
    told = {"missing": "is missing", "extra_forbidden": "is unknown"}.get(fault["type"])
    if fault["type"] == "list_type" and where.endswith("]"):
        where, told = where.partition("[")[0], "is no table of numbers"
    empty = fault["type"] == "too_short" and not value
    other = "is empty" if empty else f"cannot be {reprlib.repr(value)}"
    raise Fault(f"{where[1:80]} {told or other}")


def check_manifest(data: Json) -> None:
    """Refuse a manifest with a part that is absent or of another kind."""
    _check(MANIFEST, data)
    for place, scorer in enumerate(data["settings"]["scorers"]):
        if scorer["bounds"][0] > scorer["bounds"][1]:
            raise Fault(f"settings.scorers[{place}].bounds cannot be {scorer['bounds']}")


def check_row(name: str, row: Any) -> None:
    """Refuse a row of a file with a field that is absent or of another kind."""
    _check(ROWS[name], row)
    if name == "side.jsonl":
        _check(SIDE, {field: values for field, values in row.items() if field != "prompt_id"})
    if name == "candidates.jsonl":
        indices = [each["index"] for each in row["candidates"]]
        if not indices or indices != list(range(len(indices))):
            raise Fault("the candidates are not numbered 0, 1, 2, ...")
    if name == "scores.jsonl":
        _check_scores(row)
    if name == "decisions.jsonl" and row["index"] not in [c["index"] for c in row["candidates"]]:
        raise Fault(f"index is {row['index']}, and no candidate has it")


def check_decision(row: Any) -> None:
    """Refuse a row of a gateway's audit log whose scores are not a table."""
    if not isinstance(row, dict) or row.get("scores"):
        _check(AUDITED, row)
        _check_scores(row)


def _check_scores(row: Json) -> None:
    shape = _array(row["scores"], "scores").shape
    if shape[0] != len(row["scorers"]):
        raise Fault(f"scores is of {shape[0]} scorers, and scorers names {len(row['scorers'])}")
    if len(row.get("raters", range(shape[2]))) != shape[2]:
        raise Fault(f"scores is of {shape[2]} raters, and raters names {len(row['raters'])}")
    if "grades" in row:
        grades = _array(row["grades"], "grades").shape
        if grades[1:3] != shape[1:] or grades[0] != max(1, len(row.get("criteria", ()))):
            raise Fault("grades is not criteria x candidates x raters x repeats")
    for k, i in row.get("missing", ()):
        if k >= shape[1] or i >= shape[2]:
            raise Fault("missing is no list of candidates and raters")


def check_links(name: str, row: Json, others: Mapping[str, Json], settings: Json) -> None:
    """Refuse a row that disagrees with the same prompt's rows in the files before it."""
    if "candidates.jsonl" not in others:
        return
    count = len(others["candidates.jsonl"]["candidates"])
    depth = int(settings["rewrites"]["n_aug"]) + 1
    if name in ("rejected.jsonl", "variants.jsonl"):
        made = row[name.removesuffix(".jsonl")]
        named = [each["candidate"] for each in made] + row.get("rewritten", [])
        if any(each >= count for each in named):
            raise Fault(f"it names candidate {max(named)}, and candidates.jsonl has {count}")
    if name == "variants.jsonl" and max(sample_counts(row, count)) > depth:
        raise Fault(f"a candidate has more rewrites than n_aug in manifest.json, {depth - 1}")
    if name == "scores.jsonl" and "variants.jsonl" in others:
        _check_shape(row, sample_counts(others["variants.jsonl"], count), settings)
    if name == "side.jsonl":
        for field in sorted(row.keys() - {"prompt_id"}):
            shape = _array(row[field], field).shape
            if shape[0] != count or (field == "similarity" and shape != (count, count)):
                raise Fault(f"{field} is not of {count} candidates, as in candidates.jsonl")
    if name == "decisions.jsonl" and any(each["index"] >= count for each in row["candidates"]):
        raise Fault(f"it has more candidates than candidates.jsonl, {count}")


def _check_shape(row: Json, samples: list[int], settings: Json) -> None:
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
        if row.get("raters") != raters:
            raise Fault(f"its raters are {row.get('raters')}, and those of manifest.json {raters}")
        for k, i in row.get("missing", ()):
            there[0, k, i] = True
        if not row.get("lazy") and not there.all():
            raise Fault("a grade is neither there nor missing")
        return
    could = np.arange(depth) < np.array(samples)[:, None]
    if (there & ~could).any() or (there != there[0]).any() or not there.any():
        raise Fault("the samples that have scores are not those of variants.jsonl")
    if not settings["rewrites"].get("include_original", True) and max(samples) > 1:
        could[:, 0] = False
    if not row.get("lazy") and not there[:, could].all():
        raise Fault("a rewrite of variants.jsonl has no score")


def sample_counts(row: Json, count: int) -> list[int]:
    """How many samples each candidate has: itself and its rewrites."""
    samples = [1] * count
    for variant in row["variants"]:
        samples[variant["candidate"]] += 1
    return samples


def _array(value: Any, field: str) -> Array:
    """Lists of lists as an array, NaN for null."""
    try:
        made = np.array(value, dtype=np.float64)
    except ValueError:
        raise Fault(f"{field} has rows of different lengths") from None
    if not made.size:
        raise Fault(f"{field} is no table of numbers")
    return made
