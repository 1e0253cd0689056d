"""`darc view` in a real browser: by keyboard, on a phone, by day and by night."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.browser.page import WIDTHS, Browser
from tests.browser.visit import Visit
from tests.viewer.makers import index_of, write_ratings, write_texts
from tests.web.raw import served

from darc.viewer.app import make_app

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
PROMPTS = 60


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_ratings(tmp_path_factory.mktemp("view") / "toasts.csv", PROMPTS)
    write_texts(path, PROMPTS)
    return path


@pytest.fixture(scope="module")
def one(ratings: Path) -> Iterator[str]:
    with index_of(ratings) as index, served(make_app(index)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def two(ratings: Path) -> Iterator[str]:
    rules = ["mean", "auto:caution=high"]
    with index_of(ratings, rules=rules) as index, served(make_app(index)) as port:
        yield f"http://127.0.0.1:{port}"


def press(browser: Browser, *keys: str) -> None:
    """Type keys into whatever has the focus."""
    for key in keys:
        browser.driver.switch_to.active_element.send_keys(key)


def focused(browser: Browser) -> str:
    return str(browser.script("return document.activeElement.id"))


def path_of(browser: Browser) -> str:
    return str(browser.script("return location.pathname"))


def test_pages_look_right_and_are_accessible(
    browser: Browser, one: str, two: str, accessible: Callable[[], list[str]]
) -> None:
    pages = {
        "view-list": f"{one}/?sort=file",
        "view-decision": f"{one}/decision/4?sort=file&at=3",
        "view-two-list": f"{two}/?show=changed&sort=file",
        "view-two-decision": f"{two}/decision/4?sort=file&at=3",
        "view-nothing": f"{one}/?q=nowhere",
        "view-missing": f"{one}/decision/999",
    }
    for name, address in pages.items():
        browser.open(address)
        assert browser.driver.title != "broken"
        problems = [text for text in browser.problems() if "404" not in text]
        assert problems == []
        for _ in browser.looks(name):
            assert browser.overflow() == 0
            assert accessible() == []


def test_dots_have_their_sizes_without_inline_style(browser: Browser, one: str) -> None:
    browser.open(f"{one}/decision/1")
    heights = browser.script(
        "return [...document.querySelectorAll('.dots-strip > svg')]"
        ".map(e => [e.getBoundingClientRect().height, +e.getAttribute('height')])"
    )
    assert len(heights) == 3
    assert all(height == attribute for height, attribute in heights)
    titles = browser.script(
        "return [...document.querySelectorAll('.dots-chosen circle title')].map(e => e.textContent)"
    )
    assert any(title.startswith("r0: ") for title in titles)
    visit = Visit(browser, f"{one}/decision/1")
    visit.keys(".ratings summary", Keys.ENTER)
    assert visit.texts(".ratings th") == ["rater", "roast", "story", "poem"]


def test_the_list_by_keyboard(browser: Browser, one: str) -> None:
    visit = Visit(browser, f"{one}/?sort=file")
    press(browser, "j")
    assert focused(browser) == "entry-1"
    press(browser, "j", Keys.ARROW_DOWN, "k")
    assert focused(browser) == "entry-2"
    outline = browser.script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    press(browser, Keys.ENTER)
    visit.until(lambda: path_of(browser) == "/decision/2")
    press(browser, "j")
    visit.until(lambda: path_of(browser) == "/decision/3")
    press(browser, Keys.ARROW_LEFT)
    visit.until(lambda: path_of(browser) == "/decision/2")
    press(browser, Keys.ESCAPE)
    visit.until(lambda: path_of(browser) == "/" and focused(browser) == "entry-2")
    press(browser, "/")
    assert focused(browser) == "q"
    press(browser, "number 3j", Keys.ENTER)
    visit.until(lambda: "No decision fits" in visit.text("#found"))
    press(browser, "/", "number 37", Keys.ENTER)
    visit.until(lambda: visit.text("#found").startswith("1 to 1 of 1"))
    # Empty fields are left out of the address.
    assert browser.script("return location.search") == "?q=number+37&sort=file"
    press(browser, "/", Keys.ESCAPE)
    assert focused(browser) == "entry-38"
    press(browser, Keys.ESCAPE)
    visit.until(lambda: "of 60" in visit.text("#found"))


def test_the_keyboard_leads_over_the_end_of_a_page(browser: Browser, one: str) -> None:
    visit = Visit(browser, f"{one}/?sort=file")
    browser.script("document.getElementById('entry-50').focus()")
    press(browser, "j")
    visit.until(lambda: visit.text("#found") == "51 to 60 of 60")
    press(browser, "j")
    assert focused(browser) == "entry-51"
    press(browser, Keys.ENTER)
    visit.until(lambda: path_of(browser) == "/decision/51")
    press(browser, Keys.ESCAPE)
    visit.until(lambda: visit.text("#found") == "51 to 60 of 60")
    assert focused(browser) == "entry-51"


def test_filters_work_at_once(browser: Browser, two: str) -> None:
    visit = Visit(browser, f"{two}/")
    choose = "let s = document.querySelector(arguments[0]); s.value = arguments[1];"
    choose += "s.dispatchEvent(new Event('change'))"
    browser.script(choose, "[name=show]", "same")
    visit.until(lambda: visit.text("#found").startswith("1 to 1 of 1 "))
    browser.script(choose, "[name=show]", "changed")
    visit.until(lambda: visit.text("#found").startswith("1 to 50 of 59 "))
    assert browser.script("return location.search") == "?show=changed"


def test_it_works_without_scripts_and_without_other_hosts(browser: Browser, one: str) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.get(f"{one}/?q=number+7&sort=file")
        link = browser.driver.find_element("css selector", ".entry")
        assert "toast number 7 " in link.text
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", {"value": False})
    port = one.rpartition(":")[2]
    browser.driver.get(f"http://attacker.example:{port}/")
    assert "is not a name of this server" in browser.driver.page_source
    assert "toast" not in browser.driver.page_source


@pytest.mark.parametrize("device", WIDTHS)
def test_two_sources_stand_side_by_side_where_there_is_room(
    browser: Browser, two: str, device: str
) -> None:
    browser.open(f"{two}/decision/1", WIDTHS[device])
    tops = browser.script(
        "return [...document.querySelectorAll('.sides section')].map(e => e.offsetTop)"
    )
    assert (tops[0] == tops[1]) == (device == "desktop")
