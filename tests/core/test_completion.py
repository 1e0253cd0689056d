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
        m, n = np.array(float(len(seen))), np.array(float(len(seen) + unseen))
        value = np.asarray(risk.entropic_value(seen, beta))
        premium = np.asarray(risk.mean(seen) - value)
        high = np.array(B)

        def penalised(row: np.ndarray) -> float:
            own = float(risk.entropic_value(row, beta))  # noqa: B023
            return own - LAM * (float(row.mean()) - own)

        def bounded(row: np.ndarray) -> float:
            return float(row.mean() - LAM * row.std(ddof=1))

        fill = float(completion.penalty(value, m, n, high, beta, LAM))
        found = penalised(np.append(seen, [fill] * unseen))
        assert found >= grid_best(seen, unseen, penalised) - 1e-9

        spread = np.asarray(risk.sigma(seen))
        fill = float(completion.lcb(np.asarray(seen.mean()), spread, m, n, high, LAM))
        found = bounded(np.append(seen, [fill] * unseen))
        assert found >= grid_best(seen, unseen, bounded) - 1e-9

        limit = float(m / n * premium) + 0.2

        def capped(row: np.ndarray) -> float:
            own = float(risk.entropic_value(row, beta))  # noqa: B023
            return own if row.mean() - own <= limit else -np.inf  # noqa: B023

        fill = float(completion.tau(value, premium, m, n, high, beta, limit))
        found = float(risk.entropic_value(np.append(seen, [fill] * unseen), beta))
        assert found >= grid_best(seen, unseen, capped) - 1e-9
        assert float(risk.risk_premium(np.append(seen, [fill] * unseen), beta)) <= limit + 1e-6


def test_nothing_seen_means_the_upper_bound() -> None:
    none, high = np.array(0.0), np.array(B)
    assert completion.penalty(np.array(np.nan), none, np.array(5.0), high, 1.0, 1.0) == B
    assert (
        completion.tau(np.array(np.nan), np.array(np.nan), none, np.array(5.0), high, 1.0, 0.1) == B
    )
    assert completion.lcb(np.array(np.nan), np.array(np.nan), none, np.array(5.0), high, 1.0) == B
