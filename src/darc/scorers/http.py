"""Scores from a server."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from darc.errors import InputError
from darc.models.remote import AsyncClient, Background, together
from darc.models.remote.address import SEVERAL, checked_url
from darc.models.remote.client import KEY
from darc.registry import scorer
from darc.registry.capabilities import Closing
from darc.scorers.base import Pair, source_version
from darc.scorers.callable import checked_scale
from darc.scorers.http_forms import FORMS, Rows, form_name, one_each, read_rows
from darc.typing import Array

SOURCES = ("http.py", "http_forms.py", "text_pair.py")


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
        key_env: str = KEY,
        timeout: float = 60.0,
        concurrency: int = 16,
    ) -> None:
        if batch < 1:
            raise InputError(f"batch is {batch}", "give at least 1")
        urls = (
            f"{self.scheme}:{each}" if each.startswith("//") else each
            for each in url.split(SEVERAL)
        )
        self.url = SEVERAL.join(checked_url(each).geturl() for each in urls)
        parts = urlsplit(self.url.partition(SEVERAL)[0])
        self.form = form_name(parts.path, form)
        self.model = model
        self.label = label
        self.batch = self.batch_size = batch if FORMS[self.form].batched else 1
        self.parallel = concurrency
        self.name = name or f"http:{parts.netloc}{parts.path}"
        self.location, self.scale, self.bounds = checked_scale(
            self.name, location, scale, (low, high)
        )
        self._client = AsyncClient(
            self.url, key_env=key_env, timeout=timeout, concurrency=concurrency
        )
        self._background = Background(self._client.aclose)

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
        rows = [row for part in await self._ask(parts) for row in part]
        return np.array(one_each(rows, self.label, self.url), dtype=np.float64)

    async def aclose(self) -> None:
        """Close the connections, from the loop that used them."""
        await self._client.aclose()

    def close(self) -> None:
        """Close the connections."""
        self._background.close()

    async def _ask(self, parts: Sequence[Sequence[Pair]]) -> list[Rows]:
        form = FORMS[self.form]

        async def one(part: Sequence[Pair]) -> Rows:
            body = form.body(part, self.model)
            return await self._client.post(
                "", body, lambda answer: read_rows(form, answer, len(part))
            )

        return await together([one(part) for part in parts])


@scorer("https", "URL")
class HttpsScorer(HttpScorer):
    """Scores by a reward model behind a URL, written as the URL alone; see `http`."""

    scheme = "https"
