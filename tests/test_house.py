"""Rules of the house that a machine can check."""

import ast
import importlib.util
import re
import subprocess
import sys
import time
import tomllib
from functools import cache
from pathlib import Path

import pytest

from darc import __version__
from darc.errors import DISTRIBUTION

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "darc").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMING = [
    *(ROOT / name for name in ("Makefile", ".ci/run", "README.md", "pyproject.toml")),
    *sorted((ROOT / "docs").glob("*.md")),
]
MODULES = (
    r"python3? -m ([\w.]*\w)",
    r"(?<![\w/.])(benchmarks\.(?!md\b)\w+)",
    r"^\w+ = \"([\w.]+):\w+\"$",
)


def test_imports_point_one_way() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_distribution_name_stands_in_one_place() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    for path in SOURCES:
        if path.name != "errors.py":
            assert DISTRIBUTION not in path.read_text(encoding="utf-8"), path


def test_versions_agree() -> None:
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


HOUSE = tomllib.loads((ROOT / "tests" / "house.toml").read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


@cache
def trees() -> dict[str, ast.Module]:
    return {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def test_modules_are_small_and_say_what_they_are() -> None:
    for path in SOURCES:
        assert ast.get_docstring(trees()[module_of(path)]), path
        assert path.read_text(encoding="utf-8").count("\n") <= 400, path


def importers(every: dict[str, ast.Module]) -> dict[str, set[str]]:
    """The modules that import each module, inside functions too."""
    found: dict[str, set[str]] = {module: set() for module in every}
    for module, tree in every.items():
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in every else node.module for name in inner]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in found.keys() & names:
                found[name].add(module)
    return found


def test_class_names_are_unique() -> None:
    places: dict[str, list[str]] = {}
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert twice.keys() == set(HOUSE["class_names_twice"]), twice


def test_names_are_the_fields_own() -> None:
    private = {"asked", "told", "telling", "story", "spotlight", "hands", "workshop", "sheet"}
    private |= {"leaving", "passing", "meaning", "shown", "evaluated"}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    named = [
        f"{module}.{node.name}"
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.name.strip("_").lower() in private
    ]
    named += [module for module in trees() if module.rpartition(".")[2] in private]
    assert named == []


def test_no_module_is_named_like_a_package() -> None:
    packages = {path.parent.name for path in (ROOT / "src" / "darc").glob("*/__init__.py")}
    found = {module_of(path) for path in SOURCES if path.stem in packages}
    assert found == set(HOUSE["named_like_a_package"])


def test_a_small_module_with_one_importer_is_part_of_it() -> None:
    users = importers(trees())
    small = {
        module_of(path)
        for path in SOURCES
        if path.name != "__init__.py"
        and path.read_text(encoding="utf-8").count("\n") < 60
        and len(users[module_of(path)]) == 1
    }
    # A rule is a small file of its own, however few import it.
    small = {module for module in small if not module.startswith("darc.rules.")}
    assert small == {*HOUSE["small"], *HOUSE["small_for_a_reason"]}


def test_every_module_with_behaviour_is_named_by_a_test_file() -> None:
    named = {path.stem.removeprefix("test_") for path in (ROOT / "tests").rglob("test_*.py")}
    behaving = {
        module
        for module, tree in trees().items()
        if any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
    }
    packages = {module_of(path) for path in SOURCES if path.name == "__init__.py"}
    untested = {m for m in behaving - packages if m.rpartition(".")[2] not in named}
    # The rules are tested together, each against a plain loop.
    untested = {module for module in untested if not module.startswith("darc.rules.")}
    assert untested == set(HOUSE["without_a_test_of_their_name"])


def modules_named(text: str) -> set[str]:
    """The modules that a text runs or names, those of `benchmarks.run NAME` among them."""
    found = {name for pattern in MODULES for name in re.findall(pattern, text, re.MULTILINE)}
    return found | {f"benchmarks.{name}" for name in re.findall(r"benchmarks\.run (\w+)", text)}


def scripts_named(text: str) -> set[str]:
    """The paths to Python files in a text, but for those that a command in it writes."""
    written = set(re.findall(r"> ?([\w./-]+\.py)\b", text))
    return set(re.findall(r"(?<![\w./-])[\w-][\w./-]*\.py\b", text)) - written


def is_there(module: str, tracked: set[str]) -> bool:
    """Whether git has a module of this project, or another one is installed."""
    place = module.replace(".", "/")
    top = f"{place.partition('/')[0]}/"
    if not any(path.removeprefix("src/").startswith(top) for path in tracked):
        return importlib.util.find_spec(module) is not None
    files = (f"{place}.py", f"{place}/__init__.py")
    return any(f"{folder}{file}" in tracked for folder in ("", "src/") for file in files)


def git_files(*options: str) -> set[str]:
    command = ["git", "ls-files", *options]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}


needs_git = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="this is no clone: git tracks nothing"
)


@needs_git
def test_no_source_is_ignored() -> None:
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    options = ("--others", "--ignored", "--exclude-standard", "--", *folders)
    assert not {path for path in git_files(*options) if path.endswith(".py")}


@needs_git
def test_every_module_and_script_that_is_named_is_tracked() -> None:
    tracked = git_files()
    missing = []
    for path in NAMING:
        text = path.read_text(encoding="utf-8")
        missing += [
            (path.name, name) for name in modules_named(text) if not is_there(name, tracked)
        ]
        missing += [
            (path.name, name)
            for name in scripts_named(text)
            if not {name, f"src/darc/{name}", f"docs/{name}"} & tracked
        ]
    assert not missing


def test_what_a_page_names_is_found() -> None:
    text = "`python -m benchmarks.run tune`; see docs/make.py and [it](benchmarks.md)\n"
    text += 'cat > own.py\npython own.py\ndarc = "darc.cli:main"\n'
    assert modules_named(text) == {"benchmarks.run", "benchmarks.tune", "darc.cli"}
    assert scripts_named(text) == {"docs/make.py"}


def test_starting_is_quick() -> None:
    limits = {("-c", "import darc"): 0.3, ("-m", "darc", "--help"): 0.5}
    for command, limit in limits.items():
        times = []
        for _ in range(3):
            started = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            times.append(time.perf_counter() - started)
        print(f"{' '.join(command)}: {min(times):.2f} s, limit {limit} s")
        assert min(times) < 3 * limit
