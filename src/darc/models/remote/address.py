"""Where a model is served: MODEL@URL, or MODEL@URL|URL where several servers have it."""

import os
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from darc.errors import InputError

_ADDRESS = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.IGNORECASE | re.DOTALL)
_VERSION = re.compile(r"v\d\w*\Z")
_CHAT = "/chat/completions"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SEVERAL = "|"
BASE_URL, KEY, OPENAI = "OPENAI_BASE_URL", "OPENAI_API_KEY", "https://api.openai.com/v1"


@dataclass(frozen=True)
class Address:
    """A model's name on a server, and the URL below which the server answers, or several."""

    model: str
    url: str

    def __str__(self) -> str:
        return f"{self.model}@{self.url}"


def parse_address(text: str) -> Address:
    """The parts of "MODEL@URL"; the model's name may itself hold an @.

    Without a URL it is OPENAI_BASE_URL's, or OpenAI's own where there is a key for it.
    """
    usual = os.environ.get(BASE_URL) or (OPENAI if os.environ.get(KEY) else "")
    if usual and text.strip() and "@" not in text:
        text = f"{text}@{usual}"
    found = _ADDRESS.fullmatch(text.strip())
    if not found or not found["model"].strip():
        raise InputError(
            f"{text!r} names no model on a server",
            f"write MODEL@URL, such as my-model@http://localhost:8000, or set {BASE_URL}",
        )
    return Address(found["model"].strip(), base_url(found["url"]))


def base_url(text: str) -> str:
    """The URL that ends before /chat/completions; /v1 is added where no version stands in it.

    Of several, with | between them, each.
    """
    return SEVERAL.join(_base(each) for each in text.split(SEVERAL))


def _base(text: str) -> str:
    parts = checked_url(text)
    path = parts.path.rstrip("/").removesuffix(_CHAT)
    if not any(_VERSION.match(segment) for segment in path.split("/")):
        path += "/v1"
    return parts._replace(path=path, query="", fragment="").geturl()


def checked_url(text: str) -> SplitResult:
    """A URL taken apart; one without a host, or with a password in it, is refused."""
    try:
        parts = urlsplit(text.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(
            f"{text!r} is no URL of a server", "write http://HOST:PORT or https://HOST"
        )
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"the URL of {host} has a name or password in it",
            "put the key into an environment variable and name it with key_env",
        )
    return parts


def is_loopback(url: str) -> bool:
    """Whether the URL leads to this machine."""
    return urlsplit(url).hostname in LOOPBACK
