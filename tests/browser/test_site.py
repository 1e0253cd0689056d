"""The documentation site, built and read in a browser at both widths."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.browser.page import WIDTHS, Browser

pytest.importorskip("mkdocs")

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
# Lines of code that are wider than their box.
WIDE_CODE = """
return [...document.querySelectorAll("pre code")]
  .filter(code => code.scrollWidth > code.clientWidth + 1)
  .map(code => code.textContent.slice(0, 80))
"""
RESULT = ".md-search-result__item"
# What people search for, and where the answer is.
QUESTIONS = {
    "likert": ("concepts.html#can-i-use-likert-items", "select.html#what-you-have"),
    "how many raters": ("concepts.html#how-many-raters-do-i-need", "simulate.html"),
    "cost": ("concepts.html#what-does-it-cost", "ask.html#what-it-costs"),
    "ollama": ("ask.html#a-models-answers",),
    "mcp": ("clients.html#tools-for-an-assistant-mcp",),
}


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the site."""
    folder = tmp_path_factory.mktemp("site")
    program = Path(sys.executable).with_name("mkdocs")
    command = [str(program), "build", "--strict", "-q", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()
    shutil.rmtree(folder)


def test_the_home_page_is_readable_at_both_widths(browser: Browser, site: str) -> None:
    browser.open(f"{site}/index.html")
    for width, scheme in browser.looks("home"):
        assert browser.overflow() == 0, (width, scheme)
        assert browser.script(WIDE_CODE) == [], (width, scheme)
        table = "return [...document.querySelectorAll('.md-typeset__scrollwrap')]"
        wide_tables = browser.script(f"{table}.filter(e => e.scrollWidth > e.clientWidth).length")
        assert wide_tables == 0, (width, scheme)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_and_no_code_runs_out_of_its_box(page: str, browser: Browser, site: str) -> None:
    browser.open(f"{site}/{page}.html", WIDTHS["phone"])
    assert browser.overflow() == 0
    assert browser.script(WIDE_CODE) == []


def found_by(browser: Browser, site: str, question: str) -> list[str]:
    """The links of the first three pages that the search finds, the best first."""
    browser.open(f"{site}/index.html?q={question.replace(' ', '+')}")
    script = f"""return [...document.querySelectorAll("{RESULT}")].slice(0, 3).flatMap(
      item => [...item.querySelectorAll("a")].map(link => link.href))"""
    deadline = time.monotonic() + 20
    links: list[str] = []
    while not links and time.monotonic() < deadline:
        time.sleep(0.1)
        links = browser.script(script)
    # The address without the question, which is repeated in order to be marked on the page.
    pages = []
    for link in links:
        address, _, place = link.partition("#")
        pages.append(f"{address.partition('?')[0]}#{place}")
    return pages


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_search_finds_the_right_page(question: str, browser: Browser, site: str) -> None:
    links = found_by(browser, site, question)
    assert any(wanted in link for link in links for wanted in QUESTIONS[question]), links
