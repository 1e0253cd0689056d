"""One headless Chromium for all pages that the project makes or serves."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.browser.page import Browser

MISSING = (
    "no chromium or chromedriver is installed; on Debian: apt-get install chromium chromium-driver"
)

AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser; skipped where there is none, except in CI."""
    chromium = shutil.which("chromium")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        if "CI" in os.environ:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with Browser(chromium, driver) as opened:
        yield opened


@pytest.fixture
def accessible(browser: Browser) -> Callable[[], list[str]]:
    """What axe-core finds wrong with the open page, serious or worse; skipped without npm."""
    if not AXE.is_file():
        if shutil.which("npm") is None and "CI" not in os.environ:
            pytest.skip("axe-core needs npm; on Debian: apt-get install npm")
        pytest.fail(f"axe-core is not installed; make test-browser puts it at {AXE}")
    source = AXE.read_text(encoding="utf-8")
    return lambda: browser.faults(source)
