"""Every command and example in the documents, run, with the output that the document shows."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LONG = ("diagnose", "evaluation", "select", "simulate", "study", "training", "tune")
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, kind: str) -> list[str]:
    return [text for name, text in BLOCK.findall(page.read_text(encoding="utf-8")) if name == kind]


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that follows it."""
    result: list[tuple[str, str]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            if "<<END" in command:
                for more in lines:
                    command += "\n" + more
                    if more == "END":
                        break
            result.append((command, ""))
        elif result:
            result[-1] = (result[-1][0], result[-1][1] + line + "\n")
    return result


@pytest.mark.skipif(shutil.which("bash") is None, reason="the documents use bash")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.stem in LONG else ()) for page in PAGES],
    ids=lambda page: page.name,
)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in blocks(page, "console"):
        for command, expected in commands(block):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.stdout == expected, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_print_what_the_page_says(page: Path) -> None:
    for block in blocks(page, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page.name, "exec"), {"__name__": "example"})
        expected = re.findall(r"^print\(.*\)(?:  |\n)# (.*)$", block, re.MULTILINE)
        assert printed.getvalue().splitlines() == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
