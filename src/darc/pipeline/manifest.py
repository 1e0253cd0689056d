"""What identifies a run."""

import hashlib
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import darc
from darc.errors import InputError, TableError
from darc.generators.base import Generator, Settings
from darc.pipeline.deciding import Deciding
from darc.pipeline.engine import Engine
from darc.pipeline.folder import RunFolder
from darc.pipeline.parts import Parts
from darc.pipeline.questions import Question
from darc.pipeline.rule_spec import RuleSpec


def manifest(
    questions: Sequence[Question],
    generator: Generator,
    sampling: Settings,
    parts: Parts,
    engine: Engine,
    deciding: Deciding,
) -> dict[str, Any]:
    """The settings of a run by stage, its questions' hash, and the versions."""
    text = json.dumps([asdict(question) for question in questions], ensure_ascii=False)
    return {
        "input": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "seed": sampling.seed,
        "versions": {
            "darc": darc.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "settings": {
            "generator": {
                "name": generator.name,
                "version": generator.version,
                "licence": getattr(generator, "licence", ""),
            },
            "sampling": asdict(sampling),
            "rewrites": {
                "rewriter": parts.rewriter,
                "version": getattr(engine.rewriter, "version", ""),
                "n_aug": parts.n_aug,
                "include_original": parts.include_original,
                "max_attempts": parts.max_attempts,
                "family": parts.family,
                "guard": engine.similarity is not None,
                "entities": parts.entities,
            },
            "scorers": [
                {
                    "name": scorer.name,
                    "version": scorer.version,
                    "location": scorer.location,
                    "scale": scorer.scale,
                    "bounds": [float(bound) for bound in scorer.bounds],
                }
                for scorer in engine.scorers
            ],
            "side": dict(parts.side),
            "decision": {
                "rule": deciding.spec.label,
                "beta": deciding.spec.beta,
                "gamma": deciding.spec.gamma,
                "normalize": deciding.normalize,
            },
        },
    }


def deciding_of(folder: RunFolder, spec: RuleSpec | None = None) -> Deciding:
    """How the decisions of a run are made, by its own rule or by another."""
    from darc.pipeline.rule_spec import parse_rules

    data = folder.manifest()
    settings = data["settings"]
    scorers, decision = settings["scorers"], settings["decision"]
    constants = [(s["location"], s["scale"]) for s in scorers]
    whole = all(location is not None and scale is not None for location, scale in constants)
    try:
        if spec is None:
            (spec,) = parse_rules([decision["rule"]], {}, decision["beta"], decision["gamma"])
        deciding = Deciding(
            spec,
            [(s["bounds"][0], s["bounds"][1]) for s in scorers],
            ([each[0] for each in constants], [each[1] for each in constants]) if whole else None,
            decision["normalize"],
            data["seed"],
            bool(settings["rewrites"].get("include_original", True)),
        )
        deciding.scale(lazily=False)
        return deciding
    except InputError as problem:
        raise TableError(
            str(folder.path / "manifest.json"), problem.message, problem.hint
        ) from None


def check_finished(folder: RunFolder) -> None:
    """Refuse a run that is not finished, or that lost decisions since."""
    finished = folder.manifest()["finished"]
    decided = folder.rows("decisions.jsonl")
    lost = [each for each in folder.rows("prompts.jsonl") if each not in decided]
    if finished and not lost and decided:
        return
    told = f": decisions.jsonl has no line for prompt {lost[0][:40]!r}" if lost else ""
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
