import numpy as np

from darc.core import completion, risk

B = 10.0
LAM = 1.3


def grid_best(seen: np.ndarray, unseen: int, objective: object) -> float:
    """The best objective over a grid of two different fills, which the single fill must reach."""
    fills = np.linspace(-B, B, 81)
    best = -np.inf
    for one in fills:
        for other in fills[::4]:
            rest = np.array([one] * (unseen - unseen // 2) + [other] * (unseen // 2))
            best = max(best, objective(np.concatenate([seen, rest])))  # type: ignore[operator]
    return best


def test_one_common_fill_is_the_best_completion() -> None:
    generator = np.random.default_rng(0)
    for _ in range(12):
        seen = generator.uniform(-6, 6, size=int(generator.integers(1, 5)))
        unseen, beta = int(generator.integers(2, 4)), float(generator.uniform(0.2, 3))
        m, n = len(seen), len(seen) + unseen
        value = float(risk.entropic_value(seen, beta))
        premium = float(risk.mean(seen)) - value

        def penalised(row: np.ndarray) -> float:
            own = float(risk.entropic_value(row, beta))  # noqa: B023
            return own - LAM * (float(row.mean()) - own)

        def bounded(row: np.ndarray) -> float:
            return float(row.mean() - LAM * row.std(ddof=1))

        fill = completion.penalty(value, m, n, B, beta, LAM)
        found = penalised(np.append(seen, [fill] * unseen))
        assert found >= grid_best(seen, unseen, penalised) - 1e-9

        spread = float(risk.sigma(seen))
        fill = completion.lcb(float(seen.mean()), spread, m, n, B, LAM)
        found = bounded(np.append(seen, [fill] * unseen))
        assert found >= grid_best(seen, unseen, bounded) - 1e-9

        limit = m / n * premium + 0.2

        def capped(row: np.ndarray) -> float:
            own = float(risk.entropic_value(row, beta))  # noqa: B023
            return own if row.mean() - own <= limit else -np.inf  # noqa: B023

        fill = completion.tau(value, premium, m, n, B, beta, limit)
        found = float(risk.entropic_value(np.append(seen, [fill] * unseen), beta))
        assert found >= grid_best(seen, unseen, capped) - 1e-9
        assert float(risk.risk_premium(np.append(seen, [fill] * unseen), beta)) <= limit + 1e-6


def test_nothing_seen_means_the_upper_bound() -> None:
    assert completion.penalty(np.nan, 0, 5, B, 1.0, 1.0) == B
    assert completion.tau(np.nan, np.nan, 0, 5, B, 1.0, 0.1) == B
    assert completion.lcb(np.nan, np.nan, 0, 5, B, 1.0) == B
