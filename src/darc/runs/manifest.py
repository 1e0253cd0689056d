"""What identifies a run."""

import hashlib
import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import darc
from darc.engine.calibrations import Calibrations
from darc.engine.deciding import Deciding
from darc.engine.engine import Engine
from darc.engine.parts import PANEL
from darc.engine.rule_spec import RuleSpec, parse_rules
from darc.errors import InputError, TableError
from darc.runs.folder import RESTORE, RunFolder
from darc.runs.records import scores_of

CALIBRATION = "calibration.json"


def manifest(digest: str, engine: Engine) -> dict[str, Any]:
    """The settings of a run by stage, its questions' hash, and the versions."""
    generator, deciding, parts = engine.generator, engine.deciding, engine.parts
    learnt = deciding.spec.calibrations
    assert generator is not None
    panel = engine.tools.panel
    sampling = {k: v for k, v in asdict(engine.sampling).items() if k != "first"}
    if engine.stopping is not None:
        if not generator.continues:
            raise InputError(
                f"{generator.name} writes all answers at once, and cannot stop early",
                "leave out --stop",
            )
        sampling["stop"] = asdict(engine.stopping)
    return {
        "input": digest,
        "seed": engine.sampling.seed,
        "versions": {
            "darc": darc.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "settings": {
            "generator": {
                "name": generator.name,
                "version": generator.version,
                "licence": generator.licence,
            },
            "sampling": sampling,
            "rewrites": {
                "rewriter": parts.rewriter,
                "version": engine.tools.rewriter.version,
                "n_aug": parts.n_aug,
                "include_original": parts.include_original,
                "max_attempts": parts.max_attempts,
                "family": parts.family,
                "guard": engine.tools.similarity is not None,
                "entities": parts.entities,
            },
            "scorers": _scorers(engine) if panel is None else [_graded(engine)],
            **({} if panel is None else {"panel": panel.to_dict()}),
            "side": dict(parts.side),
            "decision": {
                "rule": deciding.spec.label,
                "beta": deciding.spec.beta,
                "gamma": deciding.spec.gamma,
                "normalize": deciding.normalize,
                **({} if learnt is None else {"calibration": learnt.digest}),
                "min_samples": deciding.min_samples,
            },
        },
    }


def keep_calibration(folder: RunFolder, engine: Engine) -> Path | None:
    """Write what the rule goes by beside the manifest, which has its digest."""
    learnt = engine.deciding.spec.calibrations
    if learnt is None:
        return None
    learnt.save(folder.path / CALIBRATION, private=True)
    return folder.path / CALIBRATION


def _kept_calibration(folder: RunFolder, digest: str) -> Calibrations:
    """What the rule of a run goes by; a file that was changed since is refused."""
    path = folder.path / CALIBRATION
    learnt = Calibrations.load(path)
    if learnt.digest != digest:
        raise InputError(f"{path} was changed since the run wrote it", RESTORE)
    return learnt


def _scorers(engine: Engine) -> list[dict[str, Any]]:
    return [
        {
            "name": scorer.name,
            "version": scorer.version,
            "location": scorer.location,
            "scale": scorer.scale,
            "bounds": [float(bound) for bound in scorer.bounds],
        }
        for scorer in engine.tools.scorers
    ]


def _graded(engine: Engine) -> dict[str, Any]:
    """A panel as the one scorer that rules see; its version stands for those of all judges."""
    judges = _scorers(engine)
    versions = json.dumps([judge["version"] for judge in judges])
    digest = hashlib.sha256(versions.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {**judges[0], "name": PANEL, "version": digest}


def deciding_of(folder: RunFolder, spec: RuleSpec | None = None) -> Deciding:
    """How the decisions of a run are made, by its own rule or by another."""
    data = folder.manifest()
    settings = data["settings"]
    decision = settings["decision"]
    try:
        if spec is None:
            (spec,) = parse_rules([decision["rule"]], {}, decision["beta"], decision["gamma"])
        if spec.learns and spec.calibrations is None and "calibration" in decision:
            spec = spec.calibrated(_kept_calibration(folder, decision["calibration"]))
        original = bool(settings["rewrites"].get("include_original", True))
        deciding = Deciding(
            spec,
            decision["normalize"],
            data["seed"],
            include_original=original,
            # A run of an earlier version says nothing of it, and left out by half of the most.
            min_samples=decision.get("min_samples"),
        )
        nothing = np.zeros((len(settings["scorers"]), 1, 1))
        deciding.scale(scores_of(settings, nothing), lazily=False)
        return deciding
    except InputError as problem:
        raise TableError(
            str(folder.path / "manifest.json"), problem.message, problem.hint
        ) from None


def check_finished(folder: RunFolder) -> None:
    """Refuse a run that is not finished, or that lost shards or decisions since."""
    data, decided, sealed, lost = folder.manifest(), 0, 0, ""
    for shard in folder.shards():
        rows = shard.rows("decisions.jsonl")
        decided += len(rows)
        sealed += shard.seal_data is not None
        lost = lost or next((each for each in shard.rows("prompts.jsonl") if each not in rows), "")
    missing = int(data.get("shards", 0)) - sealed
    if data["finished"] and not lost and decided and not missing:
        return
    told = f": {missing} of its shards are not sealed" if data["finished"] and missing else ""
    told = f": decisions.jsonl has no line for prompt {lost[:40]!r}" if lost else told
    raise InputError(f"{folder.path} is not finished{told}", f"go on with: {again(folder)}")


def check_complete(folder: RunFolder) -> None:
    """Refuse a run that is not finished, or that a lazy run left incomplete."""
    check_finished(folder)
    if not folder.manifest()["complete"]:
        raise InputError(
            f"{folder.path} has only the scores that a lazy run needed",
            f"make the rest with: {completing(folder)}",
        )


def again(folder: RunFolder) -> str:
    """The command that goes on with a run."""
    return f"darc run --config {folder.path / 'run.toml'} --out {folder.path}"


def completing(folder: RunFolder) -> str:
    """The command that makes what a lazy run left out."""
    return f"{again(folder)} --complete"
