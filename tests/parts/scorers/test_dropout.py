from pathlib import Path

import numpy as np
import pytest
from tests.checkpoints import pair_reward, reward

from darc.errors import InputError
from darc.parts.scorers import DropoutScorer, RewardScorer
from darc.parts.scorers.base import source_version
from darc.parts.scorers.dropout import SOURCES
from darc.registry import scorers
from darc.types import Message, Prompt

pytestmark = pytest.mark.hf

HELLO = Prompt("h", (Message("user", "Hello there"),))
PAIRS = [(HELLO, "a short answer"), (HELLO, "b"), (HELLO, "a longer answer of more words")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pair_reward(tmp_path_factory.mktemp("pair"))


def test_passes_differ_and_can_be_repeated(folder: str) -> None:
    dropout_scorer = scorers.make(f"dropout:{folder}")
    assert isinstance(dropout_scorer, DropoutScorer)
    samples = dropout_scorer.samples(PAIRS)
    assert samples.shape == (3, 8)
    assert (samples.std(axis=1, ddof=1) > 0).all()
    assert np.array_equal(dropout_scorer.samples(PAIRS), samples)
    assert np.allclose(dropout_scorer.score(PAIRS), samples.mean(axis=1))
    assert np.array_equal(dropout_scorer.samples(PAIRS[::-1])[::-1], samples)
    assert np.array_equal(dropout_scorer.samples(PAIRS[1:2]), samples[1:2])
    other = DropoutScorer(folder, seed=1, passes=3)
    assert not np.allclose(other.samples(PAIRS), samples[:, :3])
    assert other.version != dropout_scorer.version
    assert (
        dropout_scorer.version
        == f"{dropout_scorer.checkpoint.version}-{source_version(*SOURCES)}-1024--8-0-0"
    )
    assert dropout_scorer.samples([]).shape == (0, 8)


def test_the_model_and_the_random_numbers_stay_as_they_were(folder: str) -> None:
    import torch

    dropout_scorer = DropoutScorer(folder, rate=0.3)
    plain = RewardScorer(folder).score(PAIRS)
    state = torch.random.get_rng_state()
    dropout_scorer.samples(PAIRS)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not dropout_scorer.checkpoint.loaded.model.training
    assert np.allclose(RewardScorer.score(dropout_scorer, PAIRS), plain, atol=1e-6)
    spread = dropout_scorer.samples(PAIRS).std()
    assert spread > DropoutScorer(folder, rate=0.01).samples(PAIRS).std()


def test_a_model_without_dropout_says_so(tmp_path: Path) -> None:
    without = reward(tmp_path / "without")
    with pytest.raises(InputError, match="no dropout, so all its passes would be the same"):
        DropoutScorer(without).samples(PAIRS)
    assert (DropoutScorer(without, rate=0.2).samples(PAIRS).std(axis=1) > 0).all()
    trained = reward(tmp_path / "with", attention_dropout=0.2)
    assert (DropoutScorer(trained).samples(PAIRS).std(axis=1) > 0).all()
    with pytest.raises(InputError, match="rate=1"):
        DropoutScorer(without, rate=1.0)
