"""Scripted annotators, who read pages and send forms as a browser without scripts does."""

import html
import re
from collections.abc import Callable
from typing import Any, Self

import httpx

Answer = Callable[[str], str]

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
ACTION = re.compile(r'<form (?:id="answer" data-root="[^"]*" )?method="post" action="([^"]+)">')
DEMAND = re.compile(r"please give it the rating (\d+)")


def form_of(page: str, action: str = "") -> tuple[str, dict[str, str]]:
    """The path and the hidden fields of the first form, or of the one with this path."""
    for found in ACTION.finditer(page):
        if action in ("", found[1]):
            body = page[found.end() : page.index("</form>", found.end())]
            return found[1], {k: html.unescape(v) for k, v in HIDDEN.findall(body)}
    raise AssertionError(f"no form {action}: {page[:300]}")


def text_of(page: str) -> str:
    """The words of what is rated."""
    main = re.search(r"<main>(.*)</main>", page, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", main[1])) if main else ""


def obedient(otherwise: Answer) -> Answer:
    """Do what attention checks ask for, and otherwise something else."""

    def answer(text: str) -> str:
        demand = DEMAND.search(text)
        return demand[1] if demand else otherwise(text)

    return answer


class Robot:
    """An annotator with a link; `answer` maps the words of a page to the value of its form."""

    def __init__(self, url: str, token: str, answer: Answer, root: str = "") -> None:
        self.client = httpx.Client(base_url=url, timeout=30.0)
        self.answer = answer
        self.root = root
        self.given: dict[str, str] = {}
        self.seen: list[str] = []
        self.pages: list[str] = []
        reply = self.client.get(f"{root}/join/{token}")
        assert reply.status_code == 303, reply.text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def page(self) -> str:
        reply = self.client.get(f"{self.root}/")
        assert reply.status_code == 200, reply.text
        self.pages.append(reply.text)
        return str(reply.text)

    def post(self, path: str, fields: dict[str, str], **more: Any) -> httpx.Response:
        return self.client.post(path, data=fields, **more)

    def step(self) -> bool:
        """Do what the page asks for; False where it asks for nothing."""
        page = self.page()
        if "<form" not in page:
            return False
        path, fields = form_of(page)
        if path.endswith("/answer"):
            text = text_of(page)
            fields["answer"] = self.answer(text)
            self.given[fields["task"]] = fields["answer"]
            self.seen.append(text)
            assert re.search(r'class="answer"><h2>[^<]*</h2>\s*<\w', page), page
        elif path.endswith("/consent"):
            fields["agreed"] = "yes"
        reply = self.post(path, fields)
        assert reply.status_code == 303, reply.text
        return True

    def work(self, most: int = 10_000) -> int:
        """Go on until there is nothing left to do; how many steps it took."""
        for count in range(most):
            if not self.step():
                return count
        return most
