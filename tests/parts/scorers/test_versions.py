"""The version of a scorer covers what its numbers come from, and nothing else."""

import ast
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import darc

ROOT = Path(darc.__file__).parent
SHIPPED = (
    "caution", "dropout", "fluency", "form", "harm", "head", "http", "judge", "loglik", "logprob",
    "relevance",
    "reward",
)  # fmt: skip
# What finds, names, carries or checks things, but changes no number.
CARRIERS = (
    "background", "errors", "files", "json_files", "types", "typing", "registry", "models.remote",
    "models.catalogue", "models.chat_models", "models.completion", "models.file_hash",
    "models.importing", "models.installed", "models.transformers.generation",
    "models.transformers.sampling",
    "parts.scorers.scale", "background", "closing",
)  # fmt: skip
# Reached through its own version, and only by models that are built on it.
BY_VERSION = {"caution": ("parts.scorers.reward",)}

# Prints the versions after each edit that it reads, with the scorers imported anew.
VERSIONS = """
import importlib, json, os, shutil, sys
for line in sys.stdin:
    path, content = json.loads(line)
    before = open(path, "rb").read() if os.path.exists(path) else None
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "ab") as file:
        file.write(content.encode())
    for name in [*sys.modules]:
        if name.startswith(("darc.parts.scorers", "darc.registry")):
            del sys.modules[name]
    importlib.invalidate_caches()
    s = importlib.import_module("darc.parts.scorers")
    made = {"relevance": s.Relevance, "fluency": s.Fluency, "form": s.Form, "harm": s.Harm}
    made["http"] = s.HttpScorer("http://h/score")
    made["judge"] = s.Judge("m@http://h/v1")
    print(json.dumps({name: each.version for name, each in made.items()}))
    if before is None:
        shutil.rmtree(os.path.dirname(path))
    else:
        open(path, "wb").write(before)
"""
EDITS = {
    "parts/scorers/form.py": {"form"},
    "parts/scorers/expectation.py": {"fluency", "form", "relevance", "harm"},
    "parts/scorers/manners.py": {"form", "harm"},
    "language/data/order.json": {"fluency", "harm"},
    "language/data/wordings.tsv": set(),
    "language/reading.py": set(),
    "language/data/harm.toml": {"relevance", "fluency", "form", "harm"},
    "parts/scorers/harm.npz": {"harm"},
    "parts/scorers/fluency.py": {"fluency"},
    "language/data/classes.tsv": {"fluency", "form", "relevance", "harm"},
    "models/embeddings.py": {"relevance", "harm"},
    "parts/scorers/reward.py": set(),
}
RELEASES = {"harper-py": {"fluency"}, "wordllama": {"relevance", "harm"}}


def imported(module: str) -> set[str]:
    """The modules of darc that one imports, by their names within it; also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("darc."):
            name = str(node.module).removeprefix("darc.")
            inner = {f"{name}.{alias.name}" for alias in node.names}
            names |= {module_name for module_name in inner if file_of(module_name).exists()} or {
                name
            }
    return names


def file_of(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def closure(module: str, without: tuple[str, ...]) -> set[Path]:
    """The files of a module and of all that it imports, carriers apart."""
    names = set()
    waiting = [module]
    while waiting:
        module_name = waiting.pop()
        carried = any(module_name == name or module_name.startswith(f"{name}.") for name in without)
        if module_name not in names and not carried:
            names.add(module_name)
            waiting += imported(module_name)
    return {path for path in map(file_of, names) if path.name != "__init__.py"}


@pytest.mark.parametrize("name", SHIPPED)
def test_sources_are_what_is_imported(name: str) -> None:
    sources = importlib.import_module(f"darc.parts.scorers.{name}").SOURCES
    declared = {(ROOT / "parts" / "scorers" / source).resolve() for source in (*sources, "base.py")}
    code = {path for path in declared if path.suffix == ".py"}
    assert code == closure(f"parts.scorers.{name}", (*CARRIERS, *BY_VERSION.get(name, ())))
    assert all(path.exists() for path in declared)


def test_every_shipped_scorer_is_checked() -> None:
    modules = (ROOT / "parts" / "scorers").glob("*.py")
    names = {path.stem for path in modules if "@scorer(" in path.read_text(encoding="utf-8")}
    # What these return depends on no file of ours.
    assert names == {*SHIPPED, "callable", "logprob"}


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The versions by what was edited or released, in a copy of darc; "" for nothing."""
    place = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT, place / "darc", ignore=shutil.ignore_patterns("__pycache__"))
    steps = {"": ("none/none", "")} | {file: (f"darc/{file}", "\n") for file in EDITS}
    for package in RELEASES:
        metadata_text = f"Metadata-Version: 2.1\nName: {package}\nVersion: 99.0\n"
        steps[package] = (f"{package.replace('-', '_')}-99.0.dist-info/METADATA", metadata_text)
    done = subprocess.run(
        [sys.executable, "-c", VERSIONS],
        input="".join(
            f"{json.dumps([str(place / path), text])}\n" for path, text in steps.values()
        ),
        env={**os.environ, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return dict(zip(steps, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("step", "changed"), [*EDITS.items(), *RELEASES.items()])
def test_an_edit_or_release_changes_the_versions_that_depend_on_it(
    step: str, changed: set[str], versions: dict[str, dict[str, str]]
) -> None:
    before = versions[""]
    assert {name for name in before if before[name] != versions[step][name]} == changed


def test_parts_of_ones_own_are_not_kept() -> None:
    from darc.models.embeddings import Embeddings
    from darc.parts.scorers import Fluency, Relevance
    from darc.parts.scorers.fluency import Spelling

    other: Any = SimpleNamespace(embed=lambda texts: np.zeros((len(texts), 2)))
    assert Relevance(other).version == ""
    assert Relevance(Embeddings()).version == Relevance().version
    assert Fluency(Spelling(lambda _: True)).version == ""
