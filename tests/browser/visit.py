"""What a reader does with the playground, by keyboard alone."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.browser.page import WIDTHS, Browser

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

PROMPT = "Why do people keep a diary?"


class Visit:
    """A visit to the page in one browser."""

    def __init__(self, browser: Browser, url: str, device: str = "desktop") -> None:
        browser.open(url, WIDTHS[device])
        self.browser = browser
        self.url = url

    def find(self, selector: str) -> Any:
        return self.browser.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return str(self.find(selector).text)

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.browser.driver, 30).until(lambda _: condition())

    def keys(self, selector: str, *keys: str) -> None:
        element = self.find(selector)
        self.browser.script("arguments[0].focus()", element)
        element.send_keys(*keys)

    def ask(self, prompt: str = PROMPT, seed: str = "0") -> None:
        self.until(lambda: self.find("#model").get_attribute("value"))
        self.keys("#more summary", Keys.ENTER)
        self.type("#seed", seed)
        self.type("#prompt", prompt)
        self.keys("#prompt", Keys.CONTROL + Keys.ENTER)
        self.until(lambda: self.text("#status").startswith("Done"))
        self.settled()

    def type(self, selector: str, text: str) -> None:
        """Replace what a box says."""
        self.keys(selector, Keys.CONTROL + "a" + Keys.NULL, text)

    def settled(self) -> None:
        """Wait until the gateway has decided by what the controls say."""
        self.until(lambda: self.find("#answer").get_attribute("aria-busy") != "true")

    def caution(self, name: str) -> None:
        """Move the slider to a name by the keyboard, from its lower end."""
        steps = ("none", "low", "medium", "high").index(name)
        self.keys("#caution", Keys.HOME, *[Keys.ARROW_RIGHT] * steps)
        self.until(lambda: self.text("#caution-control output") == name)
        self.settled()

    def rule(self, name: str) -> None:
        script = "let r = document.getElementById('rule'); r.value = arguments[0];"
        self.browser.script(script + "r.dispatchEvent(new Event('change'))", name)
        self.settled()

    @property
    def chosen(self) -> int:
        return int(self.find(".candidate.is-chosen").get_attribute("data-index"))

    def texts(self, selector: str) -> list[str]:
        """What each element of a kind says."""
        elements = self.browser.driver.find_elements("css selector", selector)
        return [element.text for element in elements]

    def count(self, selector: str) -> int:
        """How many elements of a kind there are."""
        return len(self.browser.driver.find_elements("css selector", selector))
