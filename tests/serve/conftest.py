"""A gateway in front of the fake server."""

from collections.abc import Iterator

import pytest
from tests.fakes import FakeServer

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from tests.serve.running import Running, settings_for


@pytest.fixture
def gateway(openai_server: FakeServer) -> Iterator[Running]:
    one = Running(settings_for(openai_server))
    try:
        yield one
    finally:
        one.close()
