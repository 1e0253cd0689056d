"""Pages of another site in a real browser, before a gateway and a study."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.browser.page import Browser
from tests.fakes import FakeServer
from tests.serve.running import running
from tests.study.making import config_for, new_store
from tests.study.making import running as running_study
from tests.web.raw import served

from darc.study.app import make_app
from darc.study.links import issue_links

WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait

# Everything that a page can send without asking the server first.
ATTACK = """
const [url, done] = arguments;
const body = JSON.stringify({model: "fake", messages: [{role: "user", content: "Why?"}]});
const form = new FormData();
form.append("purpose", "fine-tune");
form.append("file", new Blob(["{}"]), "x.jsonl");
const send = (path, options) => fetch(url + path, {mode: "no-cors", ...options});
const post = (path, body) => send(path, {method: "POST", body});
const picture = (path) => new Promise((end) => {
  const image = new Image();
  image.onload = image.onerror = end;
  image.src = url + path;
});
Promise.allSettled([
  post("/v1/chat/completions", body), post("/v1/chat/completions", new Blob([body])),
  post("/v1/playground", body), post("/v1/files", form), post("/v1/fine_tuning/jobs", body),
  post("/enrol", new URLSearchParams({key: "x"})), send("/v1/models"), picture("/v1/models"),
  fetch(url + "/v1/chat/completions",
    {method: "POST", body, headers: {"content-type": "application/json"}}),
]).then((all) => done(all.map((each) => each.status)));
"""
READ = """
const [path, done] = arguments;
fetch(path).then((answer) => answer.text().then((text) => done([answer.status, text])));
"""


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = b"<!doctype html><title>a page of another site</title>"
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *given: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def other_site() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["evil.example", "localhost", "127.0.0.1"])
def test_a_page_of_another_site_causes_no_call(
    browser: Browser, other_site: int, name: str
) -> None:
    with FakeServer() as fake, running(fake) as gateway:
        for target in ("127.0.0.1", "localhost", "evil.example"):
            browser.open(f"http://{name}:{other_site}/")
            browser.driver.execute_async_script(ATTACK, f"http://{target}:{gateway.port}")
        metrics = httpx.get(f"{gateway.url}/metrics").text
        assert fake.received == []
    assert 'status="403"' in metrics, "the browser did ask"
    assert 'status="421"' in metrics
    assert 'status="200"' not in metrics


def test_a_name_that_is_mapped_here_reads_nothing(browser: Browser, tmp_path: Path) -> None:
    with FakeServer() as fake, running(fake) as gateway:
        browser.open(f"http://evil.example:{gateway.port}/")
        status, text = browser.driver.execute_async_script(READ, "/v1/models")
        assert (status, "unknown_host" in text) == (421, True)
        assert fake.received == []
    with running_study(str(tmp_path / "s.db"), config_for(tmp_path)) as study:
        browser.open(f"http://evil.example:{study.port}/join/{study.links[0][1]}")
        assert "--allowed-host" in browser.script("return document.body.textContent")


def test_a_given_name_works_without_tls(browser: Browser, tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    ((_, token), *_) = issue_links(store)
    with served(make_app(store, names=["own.example"])) as port:
        browser.open(f"http://own.example:{port}/join/{token}")
        before = browser.script("return document.body.textContent")
        for box in browser.driver.find_elements("css selector", "input[type=checkbox]"):
            box.click()
        browser.driver.find_element("css selector", "form button").click()
        assert browser.script("return location.host") == f"own.example:{port}"
        WebDriverWait(browser.driver, 10).until(
            lambda _: browser.script("return document.body.textContent") != before
        )
        assert "another site" not in browser.script("return document.body.textContent")
