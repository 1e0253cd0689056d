"""The models that write the candidates of a request, and how the candidates are divided."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.serve.backends import Backend
from darc.serve.remote_backend import RemoteBackend
from darc.serve.requests import ChatRequest
from darc.serve.validation import invalid_value
from darc.web.problems import Problem

# How long the list of a server's models is believed.
_LISTING_SECONDS = 60.0
_SEED_LIMIT = 2**64


@dataclass(frozen=True)
class ModelShare:
    """A model that writes part of the candidates."""

    #: The model as its server calls it; empty for the server's own default.
    name: str
    backend: Backend
    #: Which part of the candidates it writes, relative to the shares of the other models.
    share: float = 1.0


@dataclass(frozen=True)
class _Listing:
    names: frozenset[str]
    #: When the server was asked, by `time.monotonic`.
    asked_at: float


class ModelMix:
    """All models behind a gateway.

    With one backend, a request names its model. With several, each has a model of its own, and all
    of them write candidates by their shares unless a request chooses others.
    """

    def __init__(self, configured: Sequence[ModelShare]) -> None:
        """Make a mix.

        Args:
            configured: The backends; the model of a single one may have any name.
        """
        self._configured = configured
        self._listings: dict[Backend, _Listing] = {}

    @property
    def main(self) -> Backend:
        """The first backend, which answers what is not a chat completion."""
        return self._configured[0].backend

    @property
    def backends(self) -> list[Backend]:
        """All backends."""
        return [model.backend for model in self._configured]

    @property
    def is_mixed(self) -> bool:
        """Whether there are several backends."""
        return len(self._configured) > 1

    @property
    def is_one_server(self) -> bool:
        """Whether all models are behind the same URL."""
        return len({backend.name for backend in self.backends}) == 1

    @property
    def key(self) -> str:
        """The key of a backend, if one of them has a key."""
        return next((backend.key for backend in self.backends if backend.key), "")

    def urls(self) -> list[str]:
        """The URLs of all servers."""
        urls = [backend.urls() for backend in self.backends if isinstance(backend, RemoteBackend)]
        return [url for group in urls for url in group]

    def ready(self) -> bool:
        """Whether a backend may be called now."""
        return any(backend.ready() for backend in self.backends)

    def judge_model(self, request_model: str) -> str:
        """The model of the first backend, which grades where a panel names no judge."""
        if self.is_mixed:
            return self._configured[0].name
        return request_model

    def only(self, name: str) -> ModelShare:
        """A single model, which is one of the first backend if none is configured for it."""
        for model in self._configured:
            if model.name == name and self.is_mixed:
                return replace(model, share=1.0)
        return ModelShare(name, self.main)

    async def models_for(
        self, request: ChatRequest, headers: Mapping[str, str]
    ) -> list[ModelShare]:
        """The models that write the candidates of a request.

        Args:
            request: The request.
            headers: Headers for a server that is asked for its models.

        Raises:
            Problem: With status 400 if the request names a model that is neither configured nor
                listed by a server.
        """
        shares = request.method.options.model_shares
        if shares:
            models = [await self._find(name, headers) for name in shares]
            return [replace(model, share=shares[model.name]) for model in models]
        if self.is_mixed and request.k > 1:
            return list(self._configured)
        return [self.only(request.model)]

    async def list_models(self, headers: Mapping[str, str]) -> list[dict[str, object]]:
        """What the servers list; of several backends, the configured models only."""
        if not self.is_mixed:
            return await self.main.models(headers)
        return [
            {"id": model.name, "object": "model", "created": 0, "owned_by": "darc"}
            for model in self._configured
        ]

    async def aclose(self) -> None:
        """Close all backends."""
        await asyncio.gather(*(backend.aclose() for backend in self.backends))

    async def _find(self, name: str, headers: Mapping[str, str]) -> ModelShare:
        """A model that a request names."""
        for model in self._configured:
            if self.is_mixed and model.name == name:
                return model
        for backend in dict.fromkeys(self.backends):
            if name in await self._listed_names(backend, headers):
                return ModelShare(name, backend)
        reason = f"names {name!r}, which is neither configured nor listed by the backend"
        raise invalid_value("darc.models", reason)

    async def _listed_names(self, backend: Backend, headers: Mapping[str, str]) -> frozenset[str]:
        """The models that a server lists; none if it cannot say."""
        listing = self._listings.get(backend)
        if listing is None or time.monotonic() - listing.asked_at > _LISTING_SECONDS:
            try:
                models = await backend.models(headers)
            except Problem:
                return frozenset()
            names = frozenset(str(model.get("id")) for model in models)
            listing = _Listing(names, time.monotonic())
            self._listings[backend] = listing
        return listing.names


def divide_candidates(shares: Sequence[float], k: int, seed: int) -> list[int]:
    """Divide candidates among models.

    Each model writes its share of k, rounded down or up so that the average over seeds is exact.

    Args:
        shares: The shares of the models, all positive.
        k: The number of candidates.
        seed: The same seed divides in the same way.

    Returns:
        For each candidate the place of its model, in an order that depends on the seed.
    """
    if len(shares) == 1:
        return [0] * k
    random = np.random.default_rng(seed % _SEED_LIMIT)
    ends = np.cumsum(shares) / np.sum(shares)
    points = (np.arange(k) + random.random()) / k
    owners = np.minimum(np.searchsorted(ends, points, side="right"), len(shares) - 1)
    return [int(owner) for owner in random.permutation(owners)]
