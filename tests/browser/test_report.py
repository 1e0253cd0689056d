from collections.abc import Callable
from pathlib import Path

import pytest
from tests.browser.page import WIDTHS, Browser

from darc.cli import main

SIZES = """
return [...document.querySelectorAll("svg, img")].map(e => {
  let folded = e.closest("details:not([open])");
  let box = e.getBoundingClientRect();
  // Signs in a line of text, and marks that are drawn inside a picture.
  let sign = e.classList.contains("dots-key") || e.parentElement.closest("svg");
  return folded || sign ? [1, 1] : [box.width, box.height];
})
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    ratings = folder / "people.csv"
    people = ["--n-prompts", "24", "--n-candidates", "5", "--n-raters", "8", "--crowd", "8"]
    assert main(["simulate", *people, "--out", str(ratings)]) == 0
    texts = folder / "people.texts.jsonl"
    with texts.open("w", encoding="utf-8") as file:
        for line in ratings.read_text(encoding="utf-8").splitlines()[1:]:
            prompt, candidate = line.split(",")[:2]
            text = f"<script>document.title = 'broken'</script> {'word ' * 60}"
            file.write(
                f'{{"prompt_id": "{prompt}", "candidate_id": "{candidate}", '
                f'"prompt": "What?", "response": "{text}"}}\n'
            )
    command = ["eval", str(ratings), "--splits", "4", "--draws", "200"]
    assert main([*command, "--out", str(folder / "out")]) == 0
    return folder / "out" / "report.html"


@pytest.mark.parametrize("device", WIDTHS)
def test_the_report_reads_well(browser: Browser, report: Path, device: str) -> None:
    browser.open_file(report, WIDTHS[device])
    assert browser.problems() == []
    assert browser.overflow() == 0
    assert browser.driver.title == "Evaluation of people"
    sizes = browser.script(SIZES)
    assert len(sizes) > 12
    assert all(width > 20 and height > 10 for width, height in sizes if (width, height) != (1, 1))
    headings = browser.script("return [...document.querySelectorAll('h2')].map(e => e.innerText)")
    wanted = ["In three pictures", "Where the choice changed", "Rules compared", "Warnings"]
    assert [each for each in headings if each in wanted] == wanted


def test_contents_lead_to_every_section(browser: Browser, report: Path) -> None:
    browser.open_file(report)
    links = browser.driver.find_elements("css selector", "nav a")
    assert len(links) > 8
    links[-1].click()
    assert browser.script("return location.hash") == "#about"
    assert browser.script("return window.scrollY") > 1000


def test_wide_tables_scroll_in_their_own_box(browser: Browser, report: Path) -> None:
    browser.open_file(report, WIDTHS["phone"])
    boxes = "[...document.querySelectorAll('.wide')]"
    assert browser.script(f"return {boxes}.some(e => e.scrollWidth > e.clientWidth)")


def test_folded_tables_open(browser: Browser, report: Path) -> None:
    browser.open_file(report)
    fold = browser.driver.find_element("css selector", "details:has(table)")
    table = fold.find_element("css selector", "table")
    assert not table.is_displayed()
    fold.find_element("css selector", "summary").click()
    assert table.is_displayed()


def test_tables_sort_and_filter(browser: Browser, report: Path) -> None:
    browser.open_file(report)
    table = "document.querySelector('#table-human ~ .wide table')"
    numbers = f"[...{table}.tBodies[0].rows].map(e => parseFloat(e.cells[4].textContent))"
    browser.script(f"{table}.tHead.rows[0].cells[4].click()")
    values = browser.script(f"return {numbers}")
    assert values == sorted(values, reverse=True)
    browser.script(f"{table}.tHead.rows[0].cells[4].click()")
    assert browser.script(f"return {numbers}") == sorted(values)
    field = browser.driver.find_element("css selector", "#rules input[type=search]")
    field.send_keys("overall epsilon")
    left = browser.script(f"return [...{table}.tBodies[0].rows].filter(e => !e.hidden).length")
    assert left == 1


@pytest.mark.parametrize("device", WIDTHS)
def test_the_answer_pictures_and_cases_take_few_screens(
    browser: Browser, report: Path, device: str
) -> None:
    browser.open_file(report, WIDTHS[device])
    top = browser.script("return document.querySelector('nav').getBoundingClientRect().top")
    # One dot per rater takes more room on a phone than the strips that it replaced.
    assert top < (3.6 if device == "phone" else 3.2) * 900


def test_the_report_is_accessible(
    browser: Browser, accessible: Callable[[], list[str]], report: Path
) -> None:
    browser.open_file(report, WIDTHS["phone"])
    for look in browser.looks("report"):
        assert accessible() == [], look


def test_the_page_of_a_decision_is_accessible(
    browser: Browser, accessible: Callable[[], list[str]], tmp_path: Path
) -> None:
    answers = ["--answer", "Air scatters blue light.", "--answer", "It mirrors the sea, they say."]
    page = tmp_path / "answer.html"
    assert main(["ask", "Why is the sky blue?", *answers, "--n-aug", "2", "--html", str(page)]) == 0
    browser.open_file(page, WIDTHS["phone"])
    for look in browser.looks("decision"):
        assert browser.overflow() == 0
        assert accessible() == [], look
