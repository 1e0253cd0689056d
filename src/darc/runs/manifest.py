"""The manifest of a run: what it was made of, and how its decisions are made again."""

import platform
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import darc
from darc.decide.caution import MEDIUM
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.standards import Standards
from darc.engine.engine import Engine
from darc.engine.tools import PANEL
from darc.errors import InputError, TableError
from darc.runs.folder import RESTORE_HINT, RunFolder
from darc.runs.records import scores_of
from darc.runs.seals import checksum

_CALIBRATION_FILE = "calibration.json"
# How many characters of a checksum stand for the versions of all judges.
_VERSION_LENGTH = 16


def make_manifest(digest: str, engine: Engine) -> dict[str, Any]:
    """Describe a run.

    Args:
        digest: The hash of the questions.
        engine: The engine of the run.

    Returns:
        The settings by stage, the hash of the questions, and the versions.

    Raises:
        InputError: If the generator cannot stop early, as the engine asks it to.
    """
    assert engine.generator is not None
    settings: dict[str, Any] = {
        "generator": _attributes(engine.generator, "name", "version", "licence"),
        "sampling": _sampling_settings(engine),
        "rewrites": {
            **_attributes(engine.parts, "rewriter", "n_aug", "family", "entities"),
            **_attributes(engine.parts, "include_original", "max_attempts"),
            "version": engine.tools.rewriter.version,
            "acceptance": engine.parts.acceptance or engine.tools.rewriter.acceptance,
            "guard": engine.tools.similarity is not None,
        },
        "scorers": _scorer_settings(engine),
    }
    if engine.parts.panel is not None:
        settings["panel"] = engine.parts.panel.to_dict()
    settings["side"] = dict(engine.parts.side)
    settings["decision"] = _decision_settings(engine.method)
    return {
        "input": digest,
        "seed": engine.sampling.seed,
        "versions": {
            "darc": darc.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "settings": settings,
    }


def method_of(
    folder: RunFolder, method: Method | None = None, standards: Standards | None = None
) -> Method:
    """How the decisions of a run are made.

    Args:
        folder: The run.
        method: The rule with its parameters, None for the run's own.
        standards: What counts as a good rating, None for the run's own.

    Returns:
        The method with everything else as the manifest has it.

    Raises:
        TableError: If the manifest has a rule or settings that cannot be used.
    """
    manifest = folder.manifest()
    settings = manifest["settings"]
    decision = settings["decision"]
    try:
        if method is None:
            method = _own_method(decision)
        if method.learns and method.calibrations is None and "calibration" in decision:
            method = method.with_calibrations(_read_calibration(folder, decision["calibration"]))
        if standards is None:
            standards = _standards_of(decision)
        method = replace(
            method,
            normalize=decision["normalize"],
            seed=manifest["seed"],
            include_original=bool(settings["rewrites"].get("include_original", True)),
            # The manifest of an earlier version has none, which stands for the default.
            min_samples=decision.get("min_samples"),
            standards=standards,
            search_mode=decision.get("search", "exact"),
            call_price=decision.get("call_price"),
        )
        # A scale that cannot be used is refused here, and not at the first decision.
        no_scores = np.zeros((len(settings["scorers"]), 1, 1))
        method.scale(scores_of(settings, no_scores), lazily=False)
    except InputError as problem:
        path = str(folder.path / "manifest.json")
        raise TableError(path, problem.message, problem.hint) from None
    return method


def keep_calibration(folder: RunFolder, engine: Engine) -> Path | None:
    """Write the calibration of the rule beside the manifest, which has its digest.

    Returns:
        The file, None if there is no calibration.
    """
    calibrations = engine.method.calibrations
    if calibrations is None:
        return None
    path = folder.path / _CALIBRATION_FILE
    calibrations.save(path, private=True)
    return path


def _attributes(item: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def _sampling_settings(engine: Engine) -> dict[str, Any]:
    assert engine.generator is not None
    sampling = asdict(engine.sampling)
    del sampling["first"]
    if not sampling["top"]:
        del sampling["top"]
    if engine.stopping is not None:
        if not engine.generator.continues:
            raise InputError(
                f"{engine.generator.name} writes all answers at once, and cannot stop early",
                "leave out --stop",
            )
        sampling["stop"] = engine.stopping.model_dump()
    return sampling


def _scorer_settings(engine: Engine) -> list[dict[str, Any]]:
    """The scorers as rules see them: a panel is one scorer."""
    scorers = []
    for scorer in engine.tools.scorers:
        row = _attributes(scorer, "name", "version", "location", "scale")
        row["bounds"] = [float(bound) for bound in scorer.bounds]
        if scorer.embeddings:
            row["embeddings"] = scorer.embeddings
        scorers.append(row)
    if engine.parts.panel is None:
        return scorers
    version = checksum([judge["version"] for judge in scorers])[:_VERSION_LENGTH]
    return [{**scorers[0], "name": PANEL, "version": version}]


def _decision_settings(method: Method) -> dict[str, Any]:
    """The settings of a decision. Those that are newer than schema 2 are left out where usual.

    A folder of an earlier version has none of these, and is the same run.
    """
    settings: dict[str, Any] = {"rule": method.text}
    settings |= _attributes(method, "beta", "gamma", "normalize", "min_samples")
    if method.calibrations is not None:
        settings["calibration"] = method.calibrations.digest
    if method.caution not in (None, MEDIUM):
        settings["caution"] = method.caution
    standards = {
        name: value for name, value in asdict(method.standards).items() if value is not None
    }
    if "scale" in standards:
        standards["scale"] = list(standards["scale"])
    if standards:
        settings["standards"] = standards
    if method.search_mode != "exact":
        settings["search"] = method.search_mode
    if method.call_price is not None:
        settings["call_price"] = method.call_price
    return settings


def _own_method(decision: Mapping[str, Any]) -> Method:
    """The rule of a manifest's decision settings."""
    parameters = {}
    if "caution" in decision:
        parameters["caution"] = decision["caution"]
    return Method.parse(
        decision["rule"], parameters, beta=decision["beta"], gamma=decision["gamma"]
    )


def _standards_of(decision: Mapping[str, Any]) -> Standards:
    """What counts as a good rating, by a manifest's decision settings."""
    settings = dict(decision.get("standards", {}))
    if "scale" in settings:
        low, high = settings["scale"]
        settings["scale"] = (low, high)
    return Standards(**settings)


def _read_calibration(folder: RunFolder, digest: str) -> Calibrations:
    path = folder.path / _CALIBRATION_FILE
    calibrations = Calibrations.load(path)
    if calibrations.digest != digest:
        raise InputError(f"{path} was changed since the run wrote it", RESTORE_HINT)
    return calibrations
