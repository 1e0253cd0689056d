"""What the tests ask of a page in a real browser."""

import base64
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTHS = {"desktop": 1280, "phone": 390}


class Browser:
    """A headless Chromium; `driver` is selenium's own object, for clicking, typing and reading."""

    def __init__(self, chromium: str, chromedriver: str) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        flags = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars")
        for flag in (*flags, "--host-resolver-rules=MAP *.example 127.0.0.1"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(chromedriver))

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def open(self, address: str, width: int = 1280, height: int = 900) -> None:
        """Open an address at a width in CSS pixels; the log starts anew."""
        self.resize(width, height)
        self.problems()
        self.driver.get(address)
        # A page that was open before may still be there for a moment.
        end = time.monotonic() + 10
        while self.script("return document.readyState") != "complete" and time.monotonic() < end:
            time.sleep(0.05)

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window a size in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", metrics)

    def looks(self, name: str) -> Iterator[tuple[int, str]]:
        """Show the open page at both widths, by day and by night, and leave it as it was.

        Each is photographed where DARC_SCREENSHOTS names a folder.
        """
        size = self.script("return [innerWidth, innerHeight]")
        folder = os.environ.get("DARC_SCREENSHOTS")
        for width in WIDTHS.values():
            self.resize(width)
            for scheme in ("light", "dark"):
                self.prefer(scheme)
                if folder:
                    self.screenshot(Path(folder) / f"{name}-{width}-{scheme}.png")
                yield width, scheme
        self.prefer("light")
        self.resize(*size)

    def open_file(self, path: Path, width: int = 1280) -> None:
        """Open a file."""
        self.open(path.resolve().as_uri(), width)

    def problems(self) -> list[str]:
        """What the console has complained about since last asked."""
        log = self.driver.get_log("browser")
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def script(self, text: str, *arguments: object) -> Any:
        """The result of a script in the page."""
        return self.driver.execute_script(text, *arguments)

    def command(self, name: str, settings: dict[str, Any]) -> Any:
        """A command of the browser's own protocol."""
        return self.driver.execute_cdp_cmd(name, settings)

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window, once its layout has settled."""
        script = "let d = document.documentElement; return d.scrollWidth - d.clientWidth"
        pixels = int(self.script(script))
        end = time.monotonic() + 3
        # After a change of size the page is laid out anew a moment later.
        while pixels != 0 and time.monotonic() < end:
            time.sleep(0.05)
            pixels = int(self.script(script))
        return pixels

    def faults(self, axe: str) -> list[str]:
        """What axe-core, given as its source, finds to be a serious or critical fault."""
        self.script(f"if (!window.axe) {{ {axe} }}")
        violations = self.driver.execute_async_script(
            "let done = arguments[0]; axe.run().then(result => done(result.violations))"
        )
        return [
            f"{violation['id']}: {node['html'][:200]} ({node['failureSummary']})"
            for violation in violations
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]

    def prefer(self, scheme: str) -> None:
        """Let pages be shown by day ("light") or by night ("dark")."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", {"features": features})

    def screenshot(self, path: Path, full_page: bool = True) -> None:
        """A PNG of the page, all of it or what the window shows."""
        settings = {"format": "png", "captureBeyondViewport": full_page}
        if full_page:
            size = self.command("Page.getLayoutMetrics", {})["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            settings["clip"] = clip
        shot = self.command("Page.captureScreenshot", settings)
        path.write_bytes(base64.b64decode(shot["data"]))
