"""A chat completion as it was asked for, and which of its headers go on or come back."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from darc.gateway.method import Method, read_method, split_model, whole, wrong
from darc.gateway.settings import Settings
from darc.types import Message, Prompt

MOST_CHOICES = 128
# What is not passed on with the candidates: these are answered here.
HERE = ("darc", "n", "stream", "stream_options")


@dataclass(frozen=True)
class Asked:
    """A request: what is sent on, what is answered here.

    `body` is the client's own, without `darc` and with the backend's name of the model; `same` says
    that it is byte for byte what the client sent. `forced` says that the answer has a prescribed
    form (response_format), and must not be rewritten.
    """

    body: dict[str, Any]
    model: str
    method: Method
    n: int
    stream: bool
    include_usage: bool
    seed: int | None
    forced: bool
    same: bool

    @property
    def k(self) -> int:
        """How many candidates are made: 1 where all would be the same."""
        if self.body.get("temperature") == 0:
            return 1
        return max(self.method.k, self.n) if self.method.k > 1 else 1

    @property
    def sent(self) -> dict[str, Any]:
        """The body of a call for candidates."""
        return {name: value for name, value in self.body.items() if name not in HERE}


def read_asked(body: Mapping[str, Any], settings: Settings) -> Asked:
    """A request taken apart; raises a `Problem` with 400 for what cannot be used."""
    if "best_of" in body:
        raise wrong("best_of", "is not sent to a backend; say how many candidates with darc.k")
    given = body.get("model")
    if given is not None and not isinstance(given, str):
        raise wrong("model", "is no text")
    named, model = split_model(given or settings.model)
    kept = {name: value for name, value in body.items() if name != "darc"}
    if model:
        kept["model"] = model
    options = body.get("stream_options")
    if options is not None and not isinstance(options, Mapping):
        raise wrong("stream_options", "is no object")
    temperature = body.get("temperature")
    if temperature is not None and not _is_number(temperature):
        raise wrong("temperature", "is no number")
    method = read_method(body.get("darc"), named, settings)
    n = whole(body.get("n"), "n", 1, MOST_CHOICES) or 1
    if n > settings.max_k and method.k > 1 and temperature != 0:
        raise wrong("n", f"must be at most {settings.max_k} (max_k), or darc.k must be 1")
    form = body.get("response_format")
    kind = form.get("type") if isinstance(form, Mapping) else form
    return Asked(
        body=kept,
        model=model,
        method=method,
        n=n,
        stream=_truth(body, "stream"),
        include_usage=bool((options or {}).get("include_usage")),
        seed=whole(body.get("seed"), "seed", -(2**63), 2**63 - 1),
        forced=kind not in (None, "text"),
        same="darc" not in body and model == given,
    )


def read_prompt(body: Mapping[str, Any]) -> Prompt:
    """The conversation as scorers see it; its id is a hash of the messages."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise wrong("messages", "must be a list with at least one message")
    turns = []
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise wrong(f"messages.{place}", "must be an object with a role")
        turns.append(Message(message["role"], _text(message, place)))
    return Prompt(prompt_id(messages), tuple(turns))


def prompt_id(messages: Any) -> str:
    """The first 16 hexadecimal digits of a hash of the messages."""
    text = json.dumps(messages, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _text(message: Mapping[str, Any], place: int) -> str:
    """The words of a message; parts that are not text are named in brackets, never fetched."""
    content = message.get("content")
    if content is None:
        calls = message.get("tool_calls")
        return json.dumps(calls, ensure_ascii=False) if calls else ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise wrong(f"messages.{place}.content", "must be a text or a list of parts")
    words = []
    for part in content:
        if not isinstance(part, Mapping):
            raise wrong(f"messages.{place}.content", "has a part that is no object")
        text = part.get("text", part.get("refusal"))
        words.append(text if isinstance(text, str) else f"[{str(part.get('type', 'part'))[:40]}]")
    return "\n".join(words)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _truth(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise wrong(name, "must be true or false")
    return bool(value)


HOP = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
        "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
OURS = frozenset(
    {
        "host", "content-length", "authorization", "cookie", "expect", "forwarded", "origin",
        "referer", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    }
)  # fmt: skip
MADE = frozenset({"accept", "accept-encoding", "content-type"})


def onward(headers: Mapping[str, str], trusted: bool) -> dict[str, str]:
    """A client's headers for the backend; its own key goes along only where it is `trusted`.

    It is where the gateway has no keys of its own and none for the backend: then the key that the
    client sends can only be the backend's.
    """
    named = {part.strip().lower() for part in headers.get("connection", "").split(",")}
    kept = {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() not in HOP | OURS | named
    }
    if trusted and "authorization" in headers:
        kept["authorization"] = headers["authorization"]
    return kept


def for_candidates(headers: Mapping[str, str]) -> dict[str, str]:
    """The same for calls that are made here, whose form is ours."""
    return {name: value for name, value in headers.items() if name not in MADE}


def back(
    headers: Iterable[tuple[bytes, bytes]], changed: Iterable[bytes] = ()
) -> list[tuple[bytes, bytes]]:
    """A backend's headers for the client.

    Where the body is not the one that they were sent with, `changed` names headers that are no
    longer true; the length is one of them.
    """
    left = {name.encode() for name in HOP} | {b"set-cookie", b"server", b"date", b"alt-svc"}
    if changed:
        left |= {b"content-length", *changed}
    # Cookies and cross-origin permissions of another site have no meaning on this one.
    return [
        (name.lower(), value)
        for name, value in headers
        if name.lower() not in left and not name.lower().startswith(b"access-control-")
    ]
