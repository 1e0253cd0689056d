from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.viewer.makers import HOSTILE, index_of
from tests.web.raw import served

from darc.viewer.app import make_app


@pytest.fixture
def url(toasts: Path) -> Iterator[str]:
    with index_of(toasts) as index, served(make_app(index)) as port:
        yield f"http://127.0.0.1:{port}"


def test_every_page_forbids_what_is_not_its_own(url: str) -> None:
    for path in ("/", "/decision/1?at=0", "/nothing", "/decision/999"):
        response = httpx.get(f"{url}{path}")
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert response.headers["x-frame-options"] == "DENY"
        assert "http://" not in response.text.replace(url, "")
        assert "https://" not in response.text
        assert "style=" not in response.text


def test_texts_are_escaped(url: str) -> None:
    listed = httpx.get(f"{url}/", params={"q": HOSTILE}).text
    assert "1 to 1 of 1" in listed
    shown = httpx.get(f"{url}/decision/4").text
    for html in (listed, shown):
        assert "document.title" in html
        assert "<script>document" not in html


def test_only_this_machine_by_its_own_name_may_ask(url: str) -> None:
    foreign = httpx.get(url, headers={"host": "attacker.example"})
    assert foreign.status_code == 421
    cross_site = httpx.get(url, headers={"sec-fetch-site": "cross-site"})
    assert cross_site.status_code == 403
    assert httpx.post(url).status_code == 405


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/decision/13", 404),
        ("/decision/99999999999999999999", 404),
        ("/decision/-1", 404),
        ("/../pyproject.toml", 404),
        ("/view.py", 404),
        ("/?page=99999999999999999999", 200),
        ("/?page=x&show=y&sort=z&system=" + "s" * 3000, 200),
        ("/?q=%00", 200),
        ("/decision/1?at=-5", 200),
        ("/decision/1?at=99999999", 200),
        ("/view.js", 200),
        ("/view.css", 200),
        ("/icon.svg", 200),
    ],
)
def test_strange_addresses(url: str, path: str, status: int) -> None:
    assert httpx.get(f"{url}{path}").status_code == status


def test_a_decision_leads_to_its_neighbours_in_the_list(url: str) -> None:
    response = httpx.get(f"{url}/decision/8", params={"sort": "file", "at": "7"})
    assert '<a rel="prev" href="/decision/7?sort=file&amp;at=6">' in response.text
    assert '<a rel="next" href="/decision/9?sort=file&amp;at=8">' in response.text
    first = httpx.get(f"{url}/decision/1", params={"sort": "file", "at": "0"})
    assert 'rel="prev"' not in first.text
    moved = httpx.get(f"{url}/decision/8", params={"sort": "file", "at": "2"})
    assert 'rel="next"' not in moved.text


def test_two_sources_are_shown_side_by_side(toasts: Path) -> None:
    with (
        index_of(toasts, rules=["mean", "auto:caution=high"]) as index,
        served(make_app(index)) as port,
    ):
        listed = httpx.get(f"http://127.0.0.1:{port}/?show=changed").text
        shown = httpx.get(f"http://127.0.0.1:{port}/decision/1").text
    assert "<b>12</b> of 12 prompts have another answer" in listed
    assert "Another answer in the second" in shown
    assert shown.count('<figure class="dots"') == 2
