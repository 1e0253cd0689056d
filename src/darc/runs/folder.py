"""A run folder: what identifies the run, and its shards, that a stopped run can go on from."""

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

import darc
from darc.decide.caution import MEDIUM
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.standards import Standards
from darc.engine.engine import Engine
from darc.engine.tools import PANEL
from darc.errors import InputError, TableError
from darc.files import private_folder, read_json
from darc.runs.records import Fault, check_manifest, read_candidates, read_prompt, scores_of
from darc.runs.shard import STAGES, Shard, checksum, write_sealed
from darc.types import Candidate, Prompt

SCHEMA = 2
SHARDS, CALIBRATION = "shards", "calibration.json"
# The stage that a part of the manifest's settings belongs to.
SETTINGS_OF = {
    "generator": "candidates",
    "sampling": "candidates",
    "rewrites": "variants",
    "scorers": "scores",
    "panel": "scores",
    "side": "side",
    "decision": "decisions",
}
ANOTHER = "use the same settings, or another folder"
RESTORE = "restore it, or run into another folder"


class RunFolder:
    """A manifest and numbered shards; the files of a folder of schema 1 are its only shard."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / ".lock", mode=0o600, thread_local=False)

    def open(self, manifest: Mapping[str, Any], restart: str | None = None) -> None:
        """Begin the run, or go on with the same one; a different one is refused.

        `restart` forgets a stage and the later ones, whose settings may then be others.
        """
        private_folder(self.path)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise InputError(f"another run is at work in {self.path}", "wait for it") from None
        if not (self.path / "manifest.json").exists():
            if any(path.name != ".lock" for path in self.path.iterdir()):
                raise InputError(f"{self.path} is not empty and no run", "choose a new folder")
            self.write_manifest({**manifest, "complete": False, "finished": False})
            return
        known = self.manifest()
        if known["input"] != manifest["input"]:
            raise InputError(f"{self.path} holds another run: its prompts differ", ANOTHER)
        before, after = known["settings"], manifest["settings"]
        kept = STAGES if restart is None else STAGES[: STAGES.index(restart)]
        for key, stage in SETTINGS_OF.items():
            if before.get(key) != after.get(key) and stage in kept:
                where = _difference(before.get(key), after.get(key))
                raise InputError(
                    f"{self.path} holds another run: its {key} differs ({where})",
                    f"{ANOTHER}, or add --from {stage}",
                )
        if restart is not None:
            for shard in self.shards():
                shard.forget(restart)
            self.write_manifest({**known, **manifest, "complete": False, "finished": False})

    def close(self) -> None:
        """Let others work in the folder."""
        self._lock.release()

    def manifest(self) -> dict[str, Any]:
        """What the run was made of; a newer schema is refused."""
        path = self.path / "manifest.json"
        if not path.exists():
            raise InputError(f"{self.path} is no run folder", "make one with: darc run")
        data = read_json(path, RESTORE)
        schema = data.get("schema") if isinstance(data, dict) else None
        if not isinstance(schema, int):
            raise InputError(f"{path} is no manifest of a run", RESTORE)
        if schema > SCHEMA:
            what = f"{self.path} has schema {schema}, newer than {SCHEMA}"
            raise InputError(what, "upgrade DARC to read it")
        try:
            check_manifest(data)
        except Fault as problem:
            raise TableError(str(path), str(problem), RESTORE) from None
        seal = data.pop("seal", None)
        if seal != checksum(data) and (schema > 1 or seal is not None):
            raise TableError(str(path), "it was changed since the run wrote it", RESTORE)
        return dict(data)

    def write_manifest(self, data: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        write_sealed(self.path / "manifest.json", {"schema": SCHEMA, **data}, sort_keys=True)

    def shard(self, number: int) -> Shard:
        """A shard by its number."""
        return self._shard(self.manifest(), f"{number:05d}")

    def shards(self) -> Iterator[Shard]:
        """The shards that are there, in order; one is read as it is used."""
        data = self.manifest()
        names = [path.name for path in (self.path / SHARDS).glob("[0-9]*") if path.is_dir()]
        names = [""] if data["schema"] == 1 else names
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield self._shard(data, name)

    def find(self, prompt_id: str) -> Shard:
        """The shard that has a prompt; an unknown prompt is refused."""
        known: list[str] = []
        for shard in self.shards():
            ids = shard.rows("prompts.jsonl")
            if prompt_id in ids:
                return shard
            known += list(ids)[: 9 - len(known)]
        told = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise InputError(f"{self.path} has no prompt {prompt_id!r}", f"it has {told}")

    def candidates(self) -> Iterator[tuple[Prompt, Candidate]]:
        """All candidates in order, each with its prompt."""
        for shard in self.shards():
            for prompt_id in shard.rows("candidates.jsonl"):
                prompt = read_prompt(shard, prompt_id)
                yield from ((prompt, each) for each in read_candidates(shard, prompt_id))

    def _shard(self, data: Mapping[str, Any], name: str) -> Shard:
        if data["schema"] == 1:
            return Shard(self.path, data)
        return Shard(self.path / SHARDS / name, data, name)


def _difference(*sides: Any) -> str:
    """The first place where two settings differ, in a few words."""
    if all(isinstance(side, list) and all(isinstance(row, dict) for row in side) for side in sides):
        # Scorers and raters go by their names.
        sides = tuple({row["name"]: row for row in side} for side in sides)
    before, after = sides
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                return f"{key}: {_difference(before.get(key), after.get(key))}"
    return ", not ".join(_short(side) for side in sides)


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "..."
    return text if len(text) <= 80 else text[:77] + "..."


def manifest(digest: str, engine: Engine) -> dict[str, Any]:
    """The settings of a run by stage, its questions' hash, and the versions."""
    generator, method, parts = engine.generator, engine.method, engine.parts
    learnt, panel = method.calibrations, parts.panel
    assert generator is not None
    scorers = [
        {
            **_named(scorer, "name", "version", "location", "scale"),
            "bounds": [float(bound) for bound in scorer.bounds],
            **({"embeddings": scorer.embeddings} if scorer.embeddings else {}),
        }
        for scorer in engine.tools.scorers
    ]
    if panel is not None:
        # The one scorer that rules see; its version stands for those of all judges.
        combined = checksum([judge["version"] for judge in scorers])[:16]
        scorers = [{**scorers[0], "name": PANEL, "version": combined}]
    sampling = {k: v for k, v in asdict(engine.sampling).items() if k != "first"}
    if engine.stopping is not None:
        if not generator.continues:
            what = f"{generator.name} writes all answers at once, and cannot stop early"
            raise InputError(what, "leave out --stop")
        sampling["stop"] = engine.stopping.model_dump()
    return {
        "input": digest,
        "seed": engine.sampling.seed,
        "versions": {
            "darc": darc.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "settings": {
            "generator": _named(generator, "name", "version", "licence"),
            "sampling": sampling,
            "rewrites": {
                **_named(parts, "rewriter", "n_aug", "family", "entities"),
                **_named(parts, "include_original", "max_attempts"),
                "version": engine.tools.rewriter.version,
                "guard": engine.tools.similarity is not None,
            },
            "scorers": scorers,
            **({} if panel is None else {"panel": panel.to_dict()}),
            "side": dict(parts.side),
            "decision": {
                "rule": method.text,
                **_named(method, "beta", "gamma", "normalize", "min_samples"),
                **({} if learnt is None else {"calibration": learnt.digest}),
                **_people_settings(method),
                **({} if method.search_mode == "exact" else {"search": method.search_mode}),
            },
        },
    }


def _people_settings(method: Method) -> dict[str, Any]:
    """Caution and standards for the manifest, where they are not the usual ones.

    A folder of an earlier version has neither, and is the same run.
    """
    settings: dict[str, Any] = {}
    if method.caution not in (None, MEDIUM):
        settings["caution"] = method.caution
    standards = {
        name: value for name, value in asdict(method.standards).items() if value is not None
    }
    if "scale" in standards:
        standards["scale"] = list(standards["scale"])
    if standards:
        settings["standards"] = standards
    return settings


def standards_of(decision: Mapping[str, Any]) -> Standards:
    """What counts as a good rating, by the decision settings of a manifest."""
    settings = dict(decision.get("standards", {}))
    if "scale" in settings:
        low, high = settings["scale"]
        settings["scale"] = (low, high)
    return Standards(**settings)


def _named(item: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def keep_calibration(folder: RunFolder, engine: Engine) -> Path | None:
    """Write what the rule goes by beside the manifest, which has its digest."""
    if (learnt := engine.method.calibrations) is None:
        return None
    learnt.save(path := folder.path / CALIBRATION, private=True)
    return path


def method_of(
    folder: RunFolder, method: Method | None = None, standards: Standards | None = None
) -> Method:
    """How the decisions of a run are made.

    Args:
        folder: The run.
        method: The rule with its parameters, None for the run's own.
        standards: What counts as a good rating, None for the run's own.

    Raises:
        TableError: If the manifest has a rule or settings that cannot be used.
    """
    data = folder.manifest()
    settings, decision = data["settings"], data["settings"]["decision"]
    try:
        if method is None:
            caution = {"caution": decision["caution"]} if "caution" in decision else {}
            method = Method.parse(
                decision["rule"], caution, beta=decision["beta"], gamma=decision["gamma"]
            )
        if method.learns and method.calibrations is None and "calibration" in decision:
            learnt = Calibrations.load(path := folder.path / CALIBRATION)
            if learnt.digest != decision["calibration"]:
                raise InputError(f"{path} was changed since the run wrote it", RESTORE)
            method = method.with_calibrations(learnt)
        original = bool(settings["rewrites"].get("include_original", True))
        # A run of an earlier version says nothing of it, and left out by half of the most.
        least = decision.get("min_samples")
        if standards is None:
            standards = standards_of(decision)
        method = replace(
            method,
            normalize=decision["normalize"],
            seed=data["seed"],
            include_original=original,
            min_samples=least,
            standards=standards,
            search_mode=decision.get("search", "exact"),
        )
        nothing = np.zeros((len(settings["scorers"]), 1, 1))
        method.scale(scores_of(settings, nothing), lazily=False)
        return method
    except InputError as problem:
        where = str(folder.path / "manifest.json")
        raise TableError(where, problem.message, problem.hint) from None


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
        what = f"{folder.path} has only the scores that a lazy run needed"
        raise InputError(what, f"make the rest with: {again(folder, complete=True)}")


def again(folder: RunFolder, complete: bool = False) -> str:
    """The command that goes on with a run, or makes what a lazy run left out."""
    command = f"darc run --config {folder.path / 'run.toml'} --out {folder.path}"
    return f"{command} --complete" if complete else command
