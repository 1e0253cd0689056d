"""The scorer `http`: scores by a reward model on a server."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from darc.background import BackgroundLoop
from darc.closing import Closing
from darc.errors import InputError
from darc.models.remote.address import KEY_ENV, URL_SEPARATOR, parse_url
from darc.models.remote.client import AsyncClient
from darc.models.remote.gathering import gather_or_cancel
from darc.parts.scorers import http_forms
from darc.parts.scorers.base import Pair, source_version
from darc.parts.scorers.http_forms import FORMS, form_name, select_class
from darc.parts.scorers.scale import check_scale
from darc.registry import scorer
from darc.typing import Array

SOURCES = ("http.py", *http_forms.SOURCES)


@scorer("http", "URL")
class HttpScorer(Closing):
    """Scores by a reward model behind a URL.

    `form` is what the server speaks; by default, the end of the path tells:

    - `vllm-classify` (/classify) and `vllm-pooling` (/pooling): one conversation per call, to which
      the server applies its chat template. If it gives one number per token, the last one counts.
    - `vllm-score` (/score): `batch` pairs of texts per call.
    - `tei` (/predict): the same, for text-embeddings-inference.
    - `plain` (any other path): POST {"pairs": [{"prompt_id": ..., "messages": [{"role": ...,
      "content": ...}], "response": ...}]}, answered by {"scores": [number, ...]} in that order.

    Raw scores are asked for. A server that answers with probabilities of several classes is
    refused; one that squeezes a single score into (0, 1) cannot be told from one that does not.
    Where there are several classes, `label` says which one counts. `model` is sent if it is given.
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
        self.url = self._full_urls(url)
        first_url = urlsplit(self.url.partition(URL_SEPARATOR)[0])
        self.form = form_name(first_url.path, form)
        self.model = model
        self.label = label
        self.batch_size = batch if FORMS[self.form].batched else 1
        self.parallel = concurrency
        self.name = name or f"http:{first_url.netloc}{first_url.path}"
        checked = check_scale(self.name, location, scale, (low, high))
        self.location = checked.location
        self.scale = checked.scale
        self.bounds = checked.bounds
        self._client = AsyncClient(
            self.url, key_env=key_env, timeout=timeout, concurrency=concurrency
        )
        self._background = BackgroundLoop(self._client.aclose)

    def _full_urls(self, text: str) -> str:
        """The checked URLs, with the scheme of the scorer's name where one has none."""
        urls: list[str] = []
        for url in text.split(URL_SEPARATOR):
            if url.startswith("//"):
                url = f"{self.scheme}:{url}"
            urls.append(parse_url(url).geturl())
        return URL_SEPARATOR.join(urls)

    @property
    def version(self) -> str:
        """The model, the URL, the form, the label, and a hash of the code."""
        parts = [part for part in (self.model, self.url, self.form) if part]
        if self.label >= 0:
            parts.append(str(self.label))
        return " ".join([*parts, source_version(*SOURCES)])

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs, (pairs,), `batch` pairs per call, all calls at once within `concurrency`."""
        return self._background.run(self.score_async(pairs))

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs as `score` does."""
        form = FORMS[self.form]
        starts = range(0, len(pairs), self.batch_size)
        batches = [pairs[start : start + self.batch_size] for start in starts]
        rows_of_batches = await gather_or_cancel(
            [form.ask(self._client, batch, self.model) for batch in batches]
        )
        rows = [row for batch_rows in rows_of_batches for row in batch_rows]
        return np.array(select_class(rows, self.label, self.url), dtype=np.float64)

    async def aclose(self) -> None:
        """Close the connections, from the event loop that used them."""
        await self._client.aclose()

    def close(self) -> None:
        """Close the connections."""
        self._background.close()


@scorer("https", "URL")
class HttpsScorer(HttpScorer):
    """Scores by a reward model behind a URL, written as the URL alone; see `http`."""

    scheme = "https"
