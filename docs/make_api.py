"""Write docs/api.md: the public interface, its signatures and docstrings, read from the source.

Run it by `make docs`; --check says whether the page is current.
"""

import ast
import inspect
import sys
import textwrap
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).with_name("api.md")
WIDTH = 96
INTRODUCTION = """\
# Reference

Written by `make docs` from the docstrings. Shapes: P prompts, M scorers, K candidates, n samples.
"""
SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Selecting", "darc", ()),
    ("Risk", "darc.decide.statistics.risk", ()),
    ("Worst cases", "darc.decide.statistics.worst_case", ()),
    ("Bounds", "darc.decide.statistics.bounds", ()),
    ("Trade-offs", "darc.decide.statistics.trade_off", ()),
    ("Comparisons", "darc.decide.statistics.pairwise", ()),
    ("Agreement", "darc.decide.statistics.agreement", ()),
    ("Asking a model", "darc.engine.engine", ("Engine", "ask", "choose")),
    ("What comes of it", "darc.engine.outcome", ("Outcome",)),
    ("Running many prompts", "darc.runs.run", ("run",)),
    ("The parts of a run", "darc.engine.parts", ("Parts",)),
    ("What is asked of a decision", "darc.engine.request", ("DecisionRequest",)),
    ("The options of an engine", "darc.settings.engine", ("EngineSettings",)),
    ("Registries", "darc.registry", ("Registry", "Makers", "Maker", "parse_spec")),
    ("Simulated people", "darc.ratings.simulated", ()),
    ("What is evaluated", "darc.ratings.ratings", ("Ratings",)),
    ("Loading files, runs and audit logs", "darc.analysis.reading", ("load_ratings",)),
    ("Loading a file or a data frame", "darc.ratings.load", ("load_table",)),
    ("Evaluating", "darc.analysis.evaluate.evaluation", ("Evaluation", "evaluate")),
    ("Settings of an evaluation", "darc.analysis.evaluate.settings", ("ContestSettings",)),
    ("What many splits say", "darc.analysis.evaluate.contest", ("Contest",)),
    ("Tables", "darc.analysis.frame", ("Frame", "write_frames")),
    ("The advice", "darc.analysis.tune.advice", ("Advice", "advise", "recommend")),
    ("The verdict", "darc.analysis.evaluate.verdict", ("Verdict", "verdicts", "summary")),
    ("Figures", "darc.analysis.report.figures", ("draw_figures",)),
    ("A figure", "darc.analysis.report.picture", ("Picture",)),
    (
        "In one call",
        "darc.analysis.functions",
        ("evaluate", "diagnose", "tune", "compare", "Analysis"),
    ),
    ("The report", "darc.analysis.report.folder", ("write_evaluation",)),
    ("Tuning", "darc.analysis.tune.tuning", ("tune",)),
    ("Diagnosing", "darc.analysis.diagnose.diagnosis", ("diagnose",)),
)


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, module, names in SECTIONS:
        parts.append(f"## {title}\n\n`{module}`\n")
        parts += [entry(module, name) for name in names or public(module)]
    return "\n".join(parts)


def public(module: str) -> list[str]:
    """The names that a module offers: its `__all__`, or the functions and classes made in it."""
    loaded = import_module(module)
    if hasattr(loaded, "__all__"):
        return sorted(loaded.__all__, key=str.lower)
    tree = ast.parse(inspect.getsource(loaded))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [n.name for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


def entry(module: str, name: str) -> str:
    """One name: its signature and docstring, and a class's fields and methods."""
    found = getattr(import_module(module), name)
    if not (inspect.isclass(found) or inspect.isroutine(found)):
        kind = type(found)
        about = f" {inspect.getdoc(kind)}" if kind.__module__.startswith("darc") else ""
        return f"### {name}\n\nA `{kind.__name__}`.{about}\n"
    node = ast.parse(textwrap.dedent(inspect.getsource(found))).body[0]
    if isinstance(node, ast.ClassDef):
        return of_class(name, node)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return f"### {name}\n\n{block([signature(node, name)])}\n{ast.get_docstring(node) or ''}\n"


def of_class(name: str, node: ast.ClassDef) -> str:
    """A class with its public fields and methods."""
    fields = [
        ast.unparse(each)
        for each in node.body
        if isinstance(each, ast.AnnAssign) and not ast.unparse(each.target).startswith("_")
    ]
    bases = ", ".join(map(ast.unparse, node.bases))
    head = f"class {name}({bases})" if bases else f"class {name}"
    parts = [f"### {name}\n", block([head, *(f"    {each}" for each in fields)])]
    parts.append(f"{ast.get_docstring(node) or ''}\n")
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name[0] != "_":
            words = " ".join((ast.get_docstring(each) or "").split())
            decorators = {ast.unparse(one) for one in each.decorator_list}
            shown = each.name if decorators & {"property", "cached_property"} else short(each)
            parts.append(f"- `{shown}`: {words}")
    return "\n".join(parts).rstrip() + "\n"


def short(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """A method's call, with the names of its arguments alone."""
    names = [text.split(":")[0].split("=")[0].strip() for text in arguments(node.args)]
    return f"{node.name}({', '.join(names[1:])})"


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    """A function's signature, an argument a line where it is long."""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    given = [text for text in arguments(node.args) if text not in ("self", "cls")]
    line = f"{word} {name}({', '.join(given)}){result}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"    {text},\n" for text in given)
    return f"{word} {name}(\n{inner}){result}"


def arguments(node: ast.arguments) -> list[str]:
    """The arguments as text, in order."""
    plain = node.posonlyargs + node.args
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.defaults))
    texts = [_argument(*each) for each in zip(plain, [*defaults, *node.defaults], strict=True)]
    if node.vararg is not None:
        texts.append(f"*{ast.unparse(node.vararg)}")
    elif node.kwonlyargs:
        texts.append("*")
    texts += [_argument(*each) for each in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    return texts + ([f"**{ast.unparse(node.kwarg)}"] if node.kwarg is not None else [])


def _argument(node: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(node)
    if default is None:
        return text
    return f"{text}{' = ' if node.annotation else '='}{ast.unparse(default)}"


def block(lines: list[str]) -> str:
    """Lines set as code that no test runs."""
    return "\n".join(["```text", *lines, "```", ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        current = PAGE.read_text(encoding="utf-8") == page()
        sys.exit(0 if current else "docs/api.md is not current; run: make docs")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
