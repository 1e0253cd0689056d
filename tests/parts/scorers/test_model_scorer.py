"""The options of scorers that run a model, without loading one."""

import pytest

import darc.parts.scorers  # noqa: F401
from darc.registry import scorers

SHARED = {"name", "max_length", "batch_size", "location", "scale", "base", "dtype", "device"}


@pytest.mark.parametrize(
    ("name", "own_options"),
    [
        ("reward", {"label", "low", "high"}),
        ("transformers", {"label", "low", "high"}),
        ("dropout", {"label", "low", "high", "passes", "rate", "seed"}),
        ("loglik", {"sum"}),
    ],
)
def test_options_are_the_shared_ones_and_its_own(name: str, own_options: set[str]) -> None:
    # The passes of dropout are a batch of their own.
    shared = SHARED - {"batch_size"} if name == "dropout" else SHARED
    assert scorers.get(name).options.keys() == shared | own_options
