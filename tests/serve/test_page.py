import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, parts, running

import darc
from darc.serve.routes import MEDIA_TYPES, PAGE_FOLDER
from darc.web.keys import make_key

FILES = sorted(path.name for path in PAGE_FOLDER.iterdir())
ADDRESS = re.compile(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'`)]*")
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with FakeServer() as fake, running(fake) as gateway:
        yield gateway.url


@pytest.mark.parametrize("name", ["", *FILES])
def test_every_file_is_served_as_what_it_is(url: str, name: str) -> None:
    answer = httpx.get(f"{url}/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(MEDIA_TYPES[Path(name or "index.html").suffix])
    assert answer.content.endswith((PAGE_FOLDER / (name or "index.html")).read_bytes())
    assert (answer.text.count("--ink: ") == 2) == name.endswith(".css"), "the palette of all pages"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/../app.py", "/%2e%2e/app.py", "/page/index.html", "/no.js"])
def test_no_other_file_is_served(url: str, path: str) -> None:
    assert httpx.get(url + path).status_code == 404


def test_nothing_comes_from_elsewhere() -> None:
    for name in FILES:
        text = (PAGE_FOLDER / name).read_text(encoding="utf-8")
        assert [each for each in ADDRESS.findall(text) if each != NAMESPACE] == [], name
        assert "@import" not in text
    page = (PAGE_FOLDER / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for link in re.findall(r"(?:src|href)=\"/([^\"]*)\"", page):
        assert link in (*FILES, "openapi.json")


def test_text_is_never_markup() -> None:
    for name in FILES:
        text = (PAGE_FOLDER / name).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_modules_import_files_that_are_there() -> None:
    for name in FILES:
        if name.endswith(".js"):
            text = (PAGE_FOLDER / name).read_text(encoding="utf-8")
            assert all(each in FILES for each in re.findall(r'from "\./([^"]+)"', text)), name


def test_the_page_needs_no_key_and_says_that_one_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    make_key(file, "reader", 0.0)
    with FakeServer() as fake, running(fake, api_keys=file) as gateway:
        assert httpx.get(f"{gateway.url}/playground.js").status_code == 200
        assert httpx.get(f"{gateway.url}/openapi.json").json()["security"] == [{"key": []}]
        assert httpx.post(f"{gateway.url}/v1/playground", json={}).status_code == 401


def test_explanations_call_candidates_by_the_names_of_the_request(url: str) -> None:
    body = {
        "scores": [[9, 9, 8, 9], [3, 2, 3, 4]],
        "raters": ["a", "b", "c", "d"],
        "names": ["answer 1", "answer 2"],
    }
    decision = httpx.post(f"{url}/v1/select", json=body).json()
    assert decision["explanation"].startswith("answer 1 has the highest average")
    assert [row["name"] for row in decision["people"]["answers"]] == body["names"]
    refused = httpx.post(f"{url}/v1/select", json={**body, "names": ["answer 1"]})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "names"


def test_the_document_names_the_raters(url: str) -> None:
    assert httpx.get(f"{url}/openapi.json").json()["info"]["x-raters"] == []
    panel = darc.Panel().first(2)
    with FakeServer() as fake, running(fake, parts=parts(panel=panel)) as gateway:
        document = httpx.get(f"{gateway.url}/openapi.json").json()
    assert document["info"]["x-raters"] == ["hurried", "expert"]


def test_errors_in_the_stream_have_a_status() -> None:
    with FakeServer() as fake, running(fake, k=2) as gateway:
        fake.faults = [Fault(status=404, message="no such model")] * 4
        body = {"messages": QUESTION, "model": "fake"}
        stream = httpx.post(f"{gateway.url}/v1/playground", json=body).text
    (event,) = [line for line in stream.splitlines() if "no such model" in line]
    assert json.loads(event.removeprefix("data: "))["status"] == 404


def test_the_wheel_has_the_page(tmp_path: Path) -> None:
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    builder = hatchling.WheelBuilder(str(Path(__file__).parents[2]))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    names = zipfile.ZipFile(wheel).namelist()
    assert all(f"darc/serve/page/{name}" in names for name in FILES)
