"""Where a model is served: MODEL@URL, or MODEL@URL|URL if several servers have it."""

import os
import re
from urllib.parse import SplitResult, urlsplit

from darc.errors import InputError

BASE_URL_ENV = "OPENAI_BASE_URL"
KEY_ENV = "OPENAI_API_KEY"
CHAT_PATH = "/chat/completions"
MODELS_PATH = "/models"
#: Stands between the URLs of several servers that serve the same.
URL_SEPARATOR = "|"

_OPENAI_URL = "https://api.openai.com/v1"
_MODEL_AT_URL = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.IGNORECASE | re.DOTALL)
_VERSION_SEGMENT = re.compile(r"v\d\w*\Z")


def parse_address(text: str) -> tuple[str, str]:
    """Split "MODEL@URL" into the model and the base URL.

    Args:
        text: The address. The model's name may itself contain an @. Without a URL, the one in
            OPENAI_BASE_URL is used, or OpenAI's own if there is a key for it.

    Returns:
        The name of the model and its base URL, or several URLs separated by |.

    Raises:
        InputError: The text does not name a model and a URL.
    """
    text = text.strip()
    default = default_url()
    if text and default and "@" not in text:
        text = f"{text}@{default}"
    match = _MODEL_AT_URL.fullmatch(text)
    if match is None or not match["model"].strip():
        raise InputError(
            f"{text!r} does not name a model on a server",
            f"write MODEL@URL, such as my-model@http://localhost:8000, or set {BASE_URL_ENV}",
        )
    return match["model"].strip(), base_url(match["url"])


def has_default_server() -> bool:
    """Whether the environment says which server to use when an address has no URL."""
    return bool(default_url())


def default_url() -> str:
    """The server of addresses without a URL, by the environment; empty if it names none."""
    url = os.environ.get(BASE_URL_ENV)
    if url:
        return url
    if os.environ.get(KEY_ENV):
        return _OPENAI_URL
    return ""


def base_url(text: str) -> str:
    """Normalize the URL of a server to what comes before /chat/completions.

    Args:
        text: A URL, or several separated by |.

    Returns:
        The URL or URLs, each with /v1 added where its path has no version.

    Raises:
        InputError: One of them is not a URL, or has a password in it.
    """
    urls = [_add_version(parse_url(url)) for url in text.split(URL_SEPARATOR)]
    return URL_SEPARATOR.join(urls)


def _add_version(parts: SplitResult) -> str:
    path = parts.path.rstrip("/").removesuffix(CHAT_PATH)
    if not any(_VERSION_SEGMENT.match(segment) for segment in path.split("/")):
        path += "/v1"
    return parts._replace(path=path, query="", fragment="").geturl()


def parse_url(text: str) -> SplitResult:
    """Split the URL of a server into its parts.

    Args:
        text: One URL.

    Returns:
        Its parts.

    Raises:
        InputError: It is not an http or https URL with a host, or it has a password in it.
    """
    try:
        parts = urlsplit(text.strip())
        host = parts.hostname
        parts.port  # noqa: B018 - reading it raises ValueError if it is not a number
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise InputError(
            f"{text!r} is not the URL of a server", "write http://HOST:PORT or https://HOST"
        )
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"the URL of {host} has a name or password in it",
            "put the key into an environment variable and name it with key_env",
        )
    return parts
