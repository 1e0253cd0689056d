"""One headless Chromium for all pages that the project makes or serves."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.page import Browser

MISSING = (
    "no chromium or chromedriver is installed; on Debian: apt-get install chromium chromium-driver"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser; skipped where there is none, except in CI."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        if "CI" in os.environ:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with Browser(chromium, driver) as opened:
        yield opened
