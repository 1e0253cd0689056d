"""The best completion of a partly seen candidate, for the rules that can be searched lazily.

A candidate has `seen` samples and `unseen` more to come, total = seen + unseen, all of them at most
`high`. V is concave in the unseen samples, the risk premium and sigma are convex, and all are
symmetric, so some best completion gives every unseen sample the same number: the functions return
it. With nothing seen the answer is `high`. Proofs: docs/design.md.
"""

import math

from darc.core.kernel import LARGEST

NEWTON_STEPS = 8
# Newton's next step would be about the square of this.
CONVERGED = 1e-8


def penalty(value: float, seen: int, total: int, high: float, beta: float, lam: float) -> float:
    """The fill that maximises V - lam RP, given the value of what is seen.

    Stationary where exp(-beta x) is lam seen / (total + lam seen) of the seen average.
    """
    if seen == 0 or lam == 0 or beta == 0:
        return high
    return min(high, value + math.log1p(total / (lam * seen)) / beta)


def tau(
    value: float, premium: float, seen: int, total: int, high: float, beta: float, limit: float
) -> float:
    """The largest fill whose risk premium is at most `limit`, or the value where none is.

    At x = value + t the premium is (seen/total) RP + (unseen/total) t + log((seen + unseen
    exp(-beta t))/total)/beta: convex and rising in t, so Newton's steps from above stay above the
    root, and stopping early can only make the bound too large. An undefined premium counts as 0.
    """
    if seen == 0 or beta == 0:
        return high
    least = 0.0 if math.isnan(premium) else seen / total * premium
    rest = (total - seen) / total
    rate = min(beta, LARGEST)
    rise = max(high - value, 0.0)
    for _ in range(NEWTON_STEPS):
        decay = math.expm1(-rate * rise)
        excess = least + rest * rise + math.log1p(rest * decay) / rate - limit
        slope = rest * (1 - (1 + decay) / (1 + rest * decay))
        if excess <= 0 or slope <= 0:
            break
        step = excess / slope
        rise = max(rise - step, 0.0)
        if step <= CONVERGED * rise:
            break
    return min(value + rise, high)


def lcb(mean: float, sigma: float, seen: int, total: int, high: float, lam: float) -> float:
    """The fill that maximises mean - lam sigma; an undefined sigma counts as 0."""
    rest = (total - seen) / total
    cross = seen * rest
    excess = lam * lam * cross - rest * rest * (total - 1)
    if seen == 0 or excess <= 0:
        return high
    square = 0.0 if math.isnan(sigma) else sigma * sigma * (seen - 1)
    return min(mean + rest * math.sqrt((total - 1) * square / (cross * excess)), high)
