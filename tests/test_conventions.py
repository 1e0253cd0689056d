"""Conventions of the repository that protect its users."""

import ast
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

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


def test_the_map_of_the_tree_matches_the_tree() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    mapped = text[text.index("## Where is what") : text.index("| you want to |")]
    first_cells = re.findall(r"^\| (`.*?) \|", mapped, re.MULTILINE)
    names = {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}
    tree = set()
    for path in (ROOT / "src" / "darc").iterdir():
        if path.suffix == ".py" and not path.name.startswith("__"):
            tree.add(path.name)
        elif path.is_dir() and any(path.glob("*.py")):
            tree.add(f"{path.name}/")
    assert names == tree


def documented_items() -> Iterator[tuple[str, object]]:
    """What the reference has, by module and name."""
    spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    assert spec is not None
    assert spec.loader is not None
    make_api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_api)
    for _, module, names in make_api.SECTIONS:
        for name in names or make_api.public(module):
            yield f"{module}.{name}", getattr(importlib.import_module(module), name)


def documented_methods() -> Iterator[tuple[str, str, list[str]]]:
    """The public methods of the reference's classes: name, docstring and arguments."""
    for name, item in documented_items():
        if not inspect.isclass(item):
            continue
        for method_name, member in vars(item).items():
            function = getattr(member, "__func__", member)
            is_hook = method_name.startswith(("_", "model_"))
            if is_hook or not inspect.isfunction(function):
                continue
            parameters = [*inspect.signature(function).parameters]
            arguments = [one for one in parameters if one not in ("self", "cls")]
            yield f"{name}.{method_name}", inspect.getdoc(function) or "", arguments


def documented_functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions of the reference, each with its syntax tree."""
    for name, item in documented_items():
        if inspect.isfunction(item):
            tree = ast.parse(textwrap.dedent(inspect.getsource(item)))
            node = tree.body[0]
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield name, node


def missing_sections(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The sections that the docstring of a function should have and has not."""
    documentation = ast.get_docstring(node) or ""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments += [rest for rest in (node.args.vararg, node.args.kwarg) if rest is not None]
    sections = {"Args:"} if arguments else set()
    if node.returns is not None and ast.unparse(node.returns) != "None":
        sections.add("Returns:")
    if any(isinstance(part, ast.Raise) and part.exc for part in ast.walk(node)):
        sections.add("Raises:")
    missing = {name for name in sections if name not in documentation}
    _, _, described = documentation.partition("Args:")
    for argument in arguments:
        if not re.search(rf"^ +\*{{0,2}}{argument.arg}: ", described, re.MULTILINE):
            missing.add(argument.arg)
    return missing


def test_public_functions_describe_arguments_results_and_errors() -> None:
    functions = dict(documented_functions())
    assert len(functions) > 50
    missing = {name: missing_sections(node) for name, node in functions.items()}
    assert {name: sections for name, sections in missing.items() if sections} == {}


def test_public_methods_describe_their_arguments() -> None:
    missing = []
    for name, documentation, arguments in documented_methods():
        # Such as "`ask`, awaited.", whose arguments are those of the other method.
        if documentation.endswith("`, awaited."):
            continue
        _, _, described = documentation.partition("Args:")
        missing += [
            (name, argument)
            for argument in arguments
            if not re.search(rf"^ +\*{{0,2}}{argument}: ", described, re.MULTILINE)
        ]
    assert missing == []


def test_actions_are_pinned_to_commits() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        actions = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
        assert actions, path
        for action in actions:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_every_suite_of_ci_runs_on_every_host() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    targets = {*jobs["slower"]["strategy"]["matrix"]["target"], *re.findall(r"make ([\w-]+)", text)}
    # Not `suite results`, which the script indents: it needs ratings that few machines have.
    assert targets == set(re.findall(r"^suite ([\w-]+)", script, re.MULTILINE))
    supported = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert jobs["test"]["strategy"]["matrix"]["python"] == supported


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
