"""Scores from a server."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from darc.background import BackgroundLoop
from darc.closing import Closing
from darc.errors import InputError, UnknownName
from darc.models.remote.address import KEY_ENV, URL_SEPARATOR, parse_url
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import Malformed
from darc.models.remote.gathering import gather_or_cancel
from darc.parts.scorers.base import Pair, conversation_text, source_version
from darc.parts.scorers.scale import check_scale
from darc.registry import scorer
from darc.types import Prompt
from darc.typing import Array

SOURCES = ("http.py",)
Rows = list[list[float]]

# `use_activation` was once called `activation`; a server ignores the one it does not know.
RAW = {"use_activation": False, "activation": False}


@dataclass(frozen=True)
class ServerForm:
    """How pairs are asked for, and how their numbers are read.

    `ending` is that of the URLs that speak it; `body(pairs)` the request for some pairs, one only
    where not `batched`, with the model where it can be `named`; `rows(answer)` the numbers of each
    pair, one a class, classes in the order of the model.
    """

    ending: str
    body: Callable[[Sequence[Pair]], dict[str, Any]]
    rows: Callable[[Any], Rows]
    batched: bool = True
    named: bool = True

    async def ask(
        self, client: AsyncClient, pairs: Sequence[Pair], model: str = "", **changes: Any
    ) -> Rows:
        """The numbers of some pairs in one call, whose fields may have other values."""
        body = self.body(pairs) | ({"model": model} if model and self.named else {})
        body |= {key: value for key, value in changes.items() if key in body}
        return await client.ask("", lambda answer: read_rows(self, answer, len(pairs)), body)


def _plain(pairs: Sequence[Pair]) -> dict[str, Any]:
    sent = [
        {"prompt_id": prompt.id, "messages": _turns(prompt), "response": answer}
        for prompt, answer in pairs
    ]
    return {"pairs": sent}


def _chat(pairs: Sequence[Pair]) -> dict[str, Any]:
    """One conversation that ends with the answer; the server applies its chat template."""
    ((prompt, answer),) = pairs
    return {"messages": [*_turns(prompt), {"role": "assistant", "content": answer}], **RAW}


def _two_lists(pairs: Sequence[Pair]) -> dict[str, Any]:
    first = [conversation_text(prompt) for prompt, _ in pairs]
    return {"text_1": first, "text_2": [answer for _, answer in pairs], **RAW}


def _text_pairs(pairs: Sequence[Pair]) -> dict[str, Any]:
    inputs = [[conversation_text(prompt), answer] for prompt, answer in pairs]
    return {"inputs": inputs, "raw_scores": True}


def _turns(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in prompt.messages]


def _pooled(data: Any) -> list[float]:
    """The numbers of one text; of a pooler that gives a row a token, the last token's."""
    return data[-1] if data and isinstance(data[0], list) else data


def _labelled(classes: Sequence[dict[str, Any]]) -> list[float]:
    """Scores that come sorted by size, in the order of their labels: LABEL_10 after LABEL_9."""

    def place(one: dict[str, Any]) -> tuple[int, str]:
        number = str(one["label"]).rpartition("_")[2]
        return int(number) if number.isdecimal() else -1, str(one["label"])

    return [one["score"] for one in sorted(classes, key=place)]


def _in_order(answer: Any) -> list[Any]:
    return sorted(answer["data"], key=lambda one: one["index"])


FORMS = {
    "plain": ServerForm("", _plain, lambda answer: [[score] for score in answer["scores"]]),
    "vllm-classify": ServerForm(
        "/classify", _chat, lambda answer: [one["probs"] for one in _in_order(answer)], False
    ),
    "vllm-score": ServerForm(
        "/score", _two_lists, lambda answer: [[one["score"]] for one in _in_order(answer)]
    ),
    "vllm-pooling": ServerForm(
        "/pooling", _chat, lambda answer: [_pooled(one["data"]) for one in _in_order(answer)], False
    ),
    "tei": ServerForm(
        "/predict", _text_pairs, lambda answer: list(map(_labelled, answer)), named=False
    ),
}
ENDINGS = {form.ending: name for name, form in FORMS.items() if form.ending}


def form_name(path: str, asked: str = "") -> str:
    """The form that was asked for, or that the path of a URL speaks of."""
    if asked:
        if asked not in FORMS:
            raise UnknownName("form", asked, FORMS)
        return asked
    path = path.rstrip("/")
    if path.endswith("/rerank"):
        raise InputError("/rerank gives ranks of several answers at a time", "use /score instead")
    return next((name for end, name in ENDINGS.items() if path.endswith(end)), "plain")


def read_rows(form: ServerForm, answer: Any, count: int) -> Rows:
    """The numbers of each pair; raises `Malformed` for anything but finite ones."""
    try:
        rows = [[float(value) for value in row] for row in form.rows(answer)]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise Malformed("no scores") from None
    if len(rows) != count:
        raise Malformed(f"{len(rows)} scores for {count} pairs")
    if not all(row and all(map(math.isfinite, row)) for row in rows):
        raise Malformed("a score that is not finite")
    return rows


def one_each(rows: Rows, label: int, where: str) -> list[float]:
    """The number of one class of each pair; refuses probabilities, and a class left open."""
    width = max((len(row) for row in rows), default=1)
    if width > 1 and all(is_distribution(row) for row in rows):
        raise InputError(
            f"{where} gives probabilities that sum to 1, not raw scores",
            "start the server without softmax, or use one that knows use_activation",
        )
    if width > 1 and label < 0:
        raise InputError(
            f"{where} gives {width} numbers an answer", f"say which with label=0 to {width - 1}"
        )
    place = max(label, 0)
    if any(len(row) <= place for row in rows):
        raise InputError(f"{where} has no class {label}", f"label is at most {width - 1}")
    return [row[place] for row in rows]


def is_distribution(row: Sequence[float]) -> bool:
    """Whether the numbers of a pair are probabilities of its classes."""
    return min(row) >= 0.0 and math.isclose(math.fsum(row), 1.0, abs_tol=1e-4)


@scorer("http", "URL")
class HttpScorer(Closing):
    """Scores by a reward model behind a URL.

    `form` is what the server speaks, by default what the end of the path says:

    - `vllm-classify` (/classify) and `vllm-pooling` (/pooling): a conversation a call, to which the
      server applies its chat template; of a number a token, the last one counts.
    - `vllm-score` (/score): `batch` pairs of texts a call.
    - `tei` (/predict): the same, for text-embeddings-inference.
    - `plain` (any other path): POST {"pairs": [{"prompt_id": ..., "messages": [{"role": ...,
      "content": ...}], "response": ...}]}, answered by {"scores": [number, ...]} in that order.

    Raw scores are asked for. A server that answers with probabilities of several classes is
    refused; one that squeezes a single score into (0, 1) cannot be told from one that does not.
    Where there are several classes, `label` says which one counts. `model` is sent where given.
    """

    scheme = "http"
    remote = True

    def __init__(
        self,
        url: str,
        *,
        form: str = "",
        model: str = "",
        label: int = -1,
        batch: int = 32,
        name: str = "",
        location: float | None = None,
        scale: float | None = None,
        low: float = -10.0,
        high: float = 10.0,
        key_env: str = KEY_ENV,
        timeout: float = 60.0,
        concurrency: int = 16,
    ) -> None:
        if batch < 1:
            raise InputError(f"batch is {batch}", "give at least 1")
        urls = (
            f"{self.scheme}:{each}" if each.startswith("//") else each
            for each in url.split(URL_SEPARATOR)
        )
        self.url = URL_SEPARATOR.join(parse_url(each).geturl() for each in urls)
        parts = urlsplit(self.url.partition(URL_SEPARATOR)[0])
        self.form = form_name(parts.path, form)
        self.model = model
        self.label = label
        self.batch = self.batch_size = batch if FORMS[self.form].batched else 1
        self.parallel = concurrency
        self.name = name or f"http:{parts.netloc}{parts.path}"
        checked = check_scale(self.name, location, scale, (low, high))
        self.location = checked.location
        self.scale = checked.scale
        self.bounds = checked.bounds
        self._client = AsyncClient(
            self.url, key_env=key_env, timeout=timeout, concurrency=concurrency
        )
        self._background = BackgroundLoop(self._client.aclose)

    @property
    def version(self) -> str:
        """The URL, what is asked of it, and a hash of the code."""
        label = f" {self.label}" if self.label >= 0 else ""
        asked = " ".join(filter(None, (self.model, self.url, self.form))) + label
        return f"{asked} {source_version(*SOURCES)}"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One raw score a pair, (n,); ceil(n / batch) calls, all at once within `concurrency`."""
        return self._background.run(self.score_async(pairs))

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """`score`, awaited."""
        parts = [pairs[i : i + self.batch] for i in range(0, len(pairs), self.batch)]
        form = FORMS[self.form]
        found = await gather_or_cancel([form.ask(self._client, part, self.model) for part in parts])
        rows = [row for part in found for row in part]
        return np.array(one_each(rows, self.label, self.url), dtype=np.float64)

    async def aclose(self) -> None:
        """Close the connections, from the loop that used them."""
        await self._client.aclose()

    def close(self) -> None:
        """Close the connections."""
        self._background.close()


@scorer("https", "URL")
class HttpsScorer(HttpScorer):
    """Scores by a reward model behind a URL, written as the URL alone; see `http`."""

    scheme = "https"
