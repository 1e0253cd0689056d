"""Pages that say one thing, such as why a request is refused."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from darc.study.settings import template_of
from darc.web.problems import Problem


@cache
def messages() -> dict[str, Any]:
    """The pages by name: status, title and text."""
    return template_of("messages")


class Refusal(Problem):
    """One of `messages`, which a visitor gets instead of the page they asked for.

    Args:
        name: The name of the message.
        headers: Headers of the answer.
    """

    def __init__(self, name: str, headers: Mapping[str, str] | None = None) -> None:
        page = messages()[name]
        super().__init__(page["status"], page["text"], code=name, headers=headers or {})
