"""One thread for small matrices: beside other tests, several wait for each other."""

import importlib
import importlib.util
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    if importlib.util.find_spec("threadpoolctl") is None:
        yield
        return
    with importlib.import_module("threadpoolctl").threadpool_limits(1, user_api="blas"):
        yield
