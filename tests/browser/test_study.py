import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.browser.page import WIDTHS, Browser
from tests.study.making import Running, config_for, running, write_checks
from tests.study.robots import DEMAND

from darc.study import schema
from darc.study.status import close, status

PREFERRED = "please choose it as the better one"
LONG = (
    "There are **three** reasons.\n\n1. Light is scattered by air.\n2. Blue is scattered more.\n"
    "3. The eye sees blue well.\n\n```python\nprint('sky')\n```\n\n" + "It goes on like this. " * 60
)
SHORT = (
    "Because of scattering: short waves are scattered more than long ones.\n\n"
    "| a | b |\n|--|--|\n| 1 | 2 |"
)


LOADING = "loading"


def press(browser: Browser, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser.driver).send_keys(*keys).perform()


def moved(browser: Browser, before: str) -> None:
    """Wait until the page shows another task than before."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser.driver, 10).until(lambda _: task(browser) not in (before, LOADING))


def task(browser: Browser) -> str:
    """The task that the page shows, "" for a page without one, `LOADING` in between."""
    script = """
        if (document.readyState != 'complete' || !document.querySelector('main, form, h1'))
            return arguments[0];
        let input = document.querySelector('input[name=task]');
        return input ? input.value + input.form.action : '';
    """
    return str(browser.script(script, LOADING))


def click(browser: Browser, selector: str, leave: bool = True) -> None:
    """Click as soon as there is something to click on, and wait for the next page."""
    from selenium.common.exceptions import NoSuchElementException, WebDriverException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(browser.driver, 10, ignored_exceptions=[NoSuchElementException])
    element = wait.until(lambda driver: driver.find_element(By.CSS_SELECTOR, selector))
    element.click()

    def gone(_: object) -> bool:
        # Chromium tells of an element of the page before in more than one way.
        try:
            return not element.is_displayed()
        except WebDriverException:
            return True

    if leave:
        wait.until(gone)
        wait.until(lambda driver: driver.find_element(By.CSS_SELECTOR, "main"))


def enter(browser: Browser, one: Running, place: int, width: int, height: int = 900) -> None:
    browser.open(f"{one.url}/join/{one.links[place][1]}", width, height)
    click(browser, "input[name=agreed]", leave=False)
    click(browser, "button")
    click(browser, "button")


def answers(one: Running, name: str) -> list[float | None]:
    tasks = schema.tasks
    people = schema.annotators
    with one.store.read() as connection:
        own = people.c.name == name, tasks.c.kind == "item"
        query = select(tasks.c.answer).join(people).where(*own)
        return list(connection.execute(query.order_by(tasks.c.position)).scalars())


@pytest.fixture
def scalar(tmp_path: Path) -> Iterator[Running]:
    training = write_checks(tmp_path, "training", 1)
    config = config_for(tmp_path, 3, training={"training": str(training)}, quality={"share": 0.0})
    rows = [
        {
            "prompt_id": f"p{i}",
            "prompt": "Why is the sky blue?",
            "responses": {"a": LONG, "b": SHORT},
        }
        for i in range(3)
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with running(str(tmp_path / "s.db"), config) as one:
        yield one


@pytest.fixture
def pairs(tmp_path: Path) -> Iterator[Running]:
    config = config_for(tmp_path, 3, study={"mode": "pairwise"}, quality={"share": 0.0})
    with running(str(tmp_path / "s.db"), config) as one:
        yield one


def test_a_whole_annotation_by_keyboard(browser: Browser, scalar: Running) -> None:
    enter(browser, scalar, 0, WIDTHS["desktop"])
    before = task(browser)
    press(browser, "4", "\ue007")
    moved(browser, before)
    assert "Feedback" in browser.driver.page_source
    press(browser, "\ue007")
    for key in ("7", "x", "0", "9", "3"):
        moved(browser, before)
        before = task(browser)
        press(browser, key)
        press(browser, "\ue007")
    moved(browser, before)
    before = task(browser)
    press(browser, "u")
    moved(browser, before)
    assert "change it" in browser.driver.page_source
    assert browser.script("return document.querySelector('input:checked').value") == "3"
    before = task(browser)
    press(browser, "5", "\ue007")
    moved(browser, before)
    before = task(browser)
    press(browser, "2", "\ue007")
    moved(browser, before)
    assert "Thank you" in browser.driver.page_source
    assert answers(scalar, "r001") == [7.0, 10.0, 0.0, 9.0, 5.0, 2.0]
    assert browser.problems() == []


def test_pairs_by_arrows_and_t(browser: Browser, pairs: Running) -> None:
    enter(browser, pairs, 0, WIDTHS["desktop"])
    before = "loading"
    for key in ("\ue012", "\ue014", "t"):
        moved(browser, before)
        before = task(browser)
        press(browser, key)
        press(browser, "\ue007")
    moved(browser, before)
    assert set(answers(pairs, "r001")) <= {0.0, 0.5, 1.0}
    assert answers(pairs, "r001")[2] == 0.5
    assert status(pairs.store).valid_ratings == 3
    assert browser.problems() == []


def test_a_whole_annotation_at_phone_width(browser: Browser, scalar: Running) -> None:
    enter(browser, scalar, 1, WIDTHS["phone"], 844)
    before = task(browser)
    click(browser, "input[value='6']", leave=False)
    click(browser, "#answer button")
    moved(browser, before)
    click(browser, "button")
    before = ""
    for value in (1, 2, 3, 4, 8, 10):
        moved(browser, before)
        before = task(browser)
        assert browser.overflow() <= 0
        sizes = browser.script(
            "return [...document.querySelectorAll('.scale label')].map(e => e.offsetHeight)"
        )
        assert min(sizes) >= 44
        click(browser, f"input[value='{value}']", leave=False)
        click(browser, "#answer button")
    moved(browser, before)
    assert "Thank you" in browser.driver.page_source
    assert answers(scalar, "r002") == [1.0, 2.0, 3.0, 4.0, 8.0, 10.0]


def test_a_pair_at_phone_width_is_stacked(browser: Browser, pairs: Running) -> None:
    enter(browser, pairs, 1, WIDTHS["phone"], 844)
    tops = browser.script(
        "return [...document.querySelectorAll('.answer, .rubric, #answer')]"
        ".map(e => e.getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    assert len(set(tops)) == 4
    assert browser.overflow() <= 0


def test_without_scripts_it_works_too(browser: Browser, scalar: Running) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        enter(browser, scalar, 2, WIDTHS["desktop"])
        click(browser, "input[value='9']", leave=False)
        click(browser, "#answer button")
        assert "Feedback" in browser.driver.page_source
        click(browser, "button")
        for _ in range(6):
            click(browser, "input[value='9']", leave=False)
            click(browser, "#answer button")
        assert "Thank you" in browser.driver.page_source
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", {"value": False})
    assert answers(scalar, "r003") == [9.0] * 6


def test_a_choice_survives_a_reload_and_a_lost_connection(browser: Browser, pairs: Running) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    enter(browser, pairs, 2, WIDTHS["desktop"])
    moved(browser, "loading")
    before = task(browser)
    press(browser, "\ue014")
    tasks = schema.tasks

    def saved(_: object) -> bool:
        with pairs.store.read() as connection:
            return connection.execute(select(tasks.c.draft)).scalar() is not None

    WebDriverWait(browser.driver, 10).until(saved)
    browser.driver.refresh()
    assert browser.script("return document.querySelector('input:checked').value") == "right"
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.command("Network.enable", {})
    browser.command("Network.emulateNetworkConditions", {**offline, "offline": True})
    press(browser, "\ue007")
    WebDriverWait(browser.driver, 10).until(lambda d: "No connection" in d.page_source)
    browser.command("Network.emulateNetworkConditions", {**offline, "offline": False})
    moved(browser, before)
    assert len(answers(pairs, "r003")) == 2
    assert status(pairs.store).valid_ratings == 1


def test_a_comment_is_typed_and_a_task_skipped(browser: Browser, tmp_path: Path) -> None:
    study = {"comments": True, "skip": True}
    config = config_for(tmp_path, 1, study=study, quality={"share": 0.0})
    with running(str(tmp_path / "s.db"), config) as one:
        enter(browser, one, 0, WIDTHS["desktop"])
        moved(browser, "loading")
        before = task(browser)
        tops = browser.script(
            "return [...document.querySelectorAll('.scale label')].map(e => e.offsetTop)"
        )
        assert (len(tops), len(set(tops))) == (11, 1), "the scale is in one row"
        click(browser, "textarea", leave=False)
        press(browser, "9 out of 10, u x", "\ue007")
        assert task(browser) == before
        assert browser.script("return document.querySelector('input:checked')") is None
        click(browser, "input[value='4']", leave=False)
        browser.driver.refresh()
        assert browser.script("return document.querySelector('textarea').value") != ""
        click(browser, "#answer button")
        moved(browser, before)
        before = task(browser)
        click(browser, "button[name=skip]")
        moved(browser, before)
        assert "Thank you" in browser.driver.page_source
        assert answers(one, "r001") == [4.0, None]
        with one.store.read() as connection:
            comments = list(connection.execute(select(schema.tasks.c.comment)).scalars())
        assert comments == ["9 out of 10, u x", ""]
        assert browser.problems() == []


def test_the_leads_page(browser: Browser, scalar: Running) -> None:
    for width in WIDTHS.values():
        browser.open(f"{scalar.url}/lead/join/{scalar.lead}", width)
        assert "Annotators" in browser.driver.page_source
        assert browser.overflow() <= 0
        assert browser.problems() == []


GROUPS = [{"name": "age", "question": "How old are you?", "choices": ["Under 30", "30 or older"]}]
CHECK = [{"question": "Whose opinion?", "choices": ["Mine", "That of others"], "answer": "Mine"}]


def looked_at(browser: Browser, accessible: Callable[[], list[str]], name: str) -> None:
    """Check what is open, at both widths, by day and by night."""
    for width, scheme in browser.looks(name):
        assert browser.overflow() <= 0, name
        if scheme == "light" or width == WIDTHS["desktop"]:
            assert accessible() == [], (name, width, scheme)


def test_whoever_comes_by_an_open_door_is_told_when_it_is_shut(
    browser: Browser, accessible: Callable[[], list[str]], tmp_path: Path
) -> None:
    config = config_for(tmp_path, study={"annotators": "open"}, comprehension=CHECK)
    with running(str(tmp_path / "s.db"), config) as one:
        browser.open(f"{one.url}/enrol/{one.enrol}")
        looked_at(browser, accessible, "study-enrol")
        click(browser, "button")
        click(browser, "input[name=agreed]", leave=False)
        click(browser, "button")
        click(browser, "button")
        for _ in range(2):
            click(browser, "input[name=q0][value='1']", leave=False)
            click(browser, "button")
        assert "Thank you for your time" in browser.driver.page_source
        looked_at(browser, accessible, "study-ended")
        close(one.store)
        browser.open(f"{one.url}/enrol/{one.enrol}")
        looked_at(browser, accessible, "study-closed")
        assert "closed" in browser.driver.page_source


@pytest.mark.parametrize("mode", ["scalar", "pairwise"])
def test_a_whole_study_is_accessible_by_day_and_by_night(
    browser: Browser, accessible: Callable[[], list[str]], tmp_path: Path, mode: str
) -> None:
    """A lead and two annotators: one careful, one who answers at once and fails every check."""
    training = write_checks(tmp_path, "training", 1, pairwise=mode == "pairwise")
    config = config_for(
        tmp_path,
        *(6, ("alpha", "beta")),
        study={"mode": mode, "comments": True, "skip": True, "ratings": 2, "annotators": 3},
        quality={"share": 0.25, "attention_failures": 9},
        training={"training": str(training)},
        groups=GROUPS,
        comprehension=CHECK,
    )

    def look(name: str) -> None:
        looked_at(browser, accessible, f"study-{mode}-{name}")

    with running(str(tmp_path / "s.db"), config) as one:
        browser.open(f"{one.url}/join/wrong")
        look("wrong-link")
        for person, answer in enumerate(("first", "same")):
            browser.open(f"{one.url}/join/{one.links[person][1]}")
            if not person:
                look("consent")
            click(browser, "input[name=agreed]", leave=False)
            click(browser, "button")
            if not person:
                look("groups")
            click(browser, f"input[name=q0][value='{person}']", leave=False)
            click(browser, "button")
            if not person:
                look("instructions")
            click(browser, "button")
            if not person:
                look("comprehension")
                click(browser, "input[name=q0][value='1']", leave=False)
                click(browser, "button")
                look("second-try")
            click(browser, "input[name=q0][value='0']", leave=False)
            click(browser, "button")
            for step in range(30):
                page = browser.driver.page_source
                if "Thank you" in page:
                    break
                if "Feedback" in page:
                    if not person:
                        look("feedback")
                    click(browser, "button")
                    continue
                if not person and step < 5:
                    look(f"task-{step}")
                demand = DEMAND.search(page)
                if mode == "pairwise":
                    preferred_second = PREFERRED in page.partition("Answer 2")[2]
                    value = "right" if answer == "first" and preferred_second else "left"
                elif answer == "first":
                    value = demand[1] if demand else str(step % 11)
                else:
                    value = "8"
                before = task(browser)
                click(browser, f"input[name=answer][value='{value}']", leave=False)
                click(browser, "#answer button")
                moved(browser, before)
            if not person:
                look("thanks")
                browser.open(f"{one.url}/back")
                look("back")
        browser.open(f"{one.url}/lead/join/{one.lead}")
        flags = {person.name: person.care.flags for person in status(one.store).people}
        assert flags["r002"], "who fails every check is flagged"
        browser.script(
            "document.querySelectorAll('tr:nth-child(2) details').forEach(e => e.open = 1)"
        )
        look("lead")
        click(browser, "form[action='/lead/links'] button")
        look("lead-links")
        click(browser, "form[action='/lead/close'] input[name=sure]", leave=False)
        click(browser, "form[action='/lead/close'] button")
        look("lead-closed")
        assert browser.problems() == []
