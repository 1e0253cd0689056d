import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from darc.models.completion import Request

pytestmark = pytest.mark.hf

LOGITS = [2.0, 1.0, 0.5, 0.0, -1.0, -3.0]


def softmax(logits: list[float], temperature: float = 1.0) -> NDArray[np.float64]:
    powers = np.exp(np.array(logits) / temperature)
    return np.asarray(powers / powers.sum())


@pytest.mark.parametrize(
    ("temperature", "top_p", "kept"), [(1.0, 1.0, 6), (0.8, 0.98, 4), (1.5, 0.6, 2), (0.7, 0.5, 1)]
)
def test_draws_follow_the_softmax(temperature: float, top_p: float, kept: int) -> None:
    import torch

    from darc.models.transformers.sampling import Sampler

    draws = 6000
    requests = [Request((), temperature=temperature, top_p=top_p, seed=i) for i in range(draws)]
    sampler = Sampler(requests, "cpu")
    scores = torch.tensor([LOGITS] * draws)
    counts = np.bincount(sampler(None, scores).argmax(-1).numpy(), minlength=6)
    assert counts[kept:].sum() == 0
    chances = softmax(LOGITS, temperature)[:kept]
    if kept > 1:
        found = stats.chisquare(counts[:kept], draws * chances / chances.sum())
        print(f"temperature {temperature}, top-p {top_p}: p = {found.pvalue:.3f}")
        assert found.pvalue > 0.001


def test_successive_steps_are_independent_draws() -> None:
    import torch

    from darc.models.transformers.sampling import Sampler

    sampler = Sampler([Request((), temperature=1.0, top_p=1.0, seed=s) for s in range(2)], "cpu")
    scores = torch.tensor([LOGITS] * 2)
    taken = np.stack([sampler(None, scores).argmax(-1).numpy() for _ in range(3000)])
    table = np.zeros((6, 6))
    np.add.at(table, (taken[:, 0], taken[:, 1]), 1)
    expected = np.outer(softmax(LOGITS), softmax(LOGITS)) * len(taken)
    big = expected >= 5
    together = [*table[big], table[~big].sum()], [*expected[big], expected[~big].sum()]
    assert stats.chisquare(*together).pvalue > 0.001
    logs = sampler.log_probabilities.numpy()
    assert logs.shape == (2, 3000)
    assert np.allclose(logs, np.log(softmax(LOGITS))[taken.T], atol=1e-6)


def test_greedy_rows_have_no_dice() -> None:
    import torch

    from darc.models.transformers.sampling import Sampler

    rows = [Request((), temperature=0.0, top_p=0.5, seed=s) for s in range(8)]
    sampler = Sampler([*rows, Request((), temperature=5.0, top_p=1.0, seed=1)], "cpu")
    scores = torch.tensor([LOGITS] * 9)
    taken = np.stack([sampler(None, scores).argmax(-1).numpy() for _ in range(20)])
    assert (taken[:, :8] == 0).all()
    assert len(set(taken[:, 8])) > 2


def test_the_nucleus_is_the_smallest_set() -> None:
    import torch

    from darc.models.transformers.sampling import nucleus

    chances = torch.tensor([[0.1, 0.5, 0.15, 0.25], [0.25, 0.25, 0.25, 0.25]])
    shares = torch.tensor([[0.74], [0.5]])
    kept = nucleus(chances.log(), shares).isfinite()
    assert kept[0].tolist() == [False, True, False, True]
    assert kept[1].sum() == 2
    assert nucleus(chances.log(), torch.tensor([[1.0], [1e-9]])).isfinite().sum(-1).tolist() == [
        4,
        1,
    ]
