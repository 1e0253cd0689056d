"""The real embedded model, installed once for all test runs, and a fake server."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from httpx._transports import default
from tests.fakes import FakeServer

from darc.errors import DarcError
from darc.models.embedded import EmbeddedModel
from darc.models.installed import Installed
from darc.models.installing import install
from darc.settings.discovery import DISCOVERY_ENV

SHARED = Path.home() / ".cache" / "darc-tests"
# Apart, since scorers go by it wherever it is.
MINILM = SHARED / "minilm"


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the user has installed, and the scores kept there, change no test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DARC_CACHE", str(tmp_path_factory.mktemp("cache")))
        # Nor does a model server that happens to run on this machine.
        patch.setenv(DISCOVERY_ENV, "0")
        yield


@pytest.fixture(scope="session", autouse=True)
def own_certificates() -> Iterator[None]:
    """A client of httpx reads all certificates anew, which takes longer than most requests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "create_ssl_context", cache(default.create_ssl_context))
        yield


@pytest.fixture(scope="session")
def installed() -> Installed:
    pytest.importorskip("xllamacpp")
    try:
        return install(cache=SHARED)
    except DarcError as problem:
        if "CI" in os.environ:
            raise
        pytest.skip(f"the embedded model could not be installed: {problem}")


@pytest.fixture(scope="session")
def model(installed: Installed) -> Iterator[EmbeddedModel]:
    with EmbeddedModel(installed.path, threads=1, slots=4, context=1024) as model:
        yield model


@pytest.fixture
def openai_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    pytest.importorskip("aiohttp")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with FakeServer() as server:
        yield server


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs the embedded model, unless it belongs to a slower suite already."""
    for item in items:
        wanted = set(getattr(item, "fixturenames", ())) & {"installed", "model"}
        others = ("browser", "hf", "load", "rehearsal", "slow", "train", "vllm")
        if wanted and not any(item.get_closest_marker(name) for name in others):
            item.add_marker(pytest.mark.model)
