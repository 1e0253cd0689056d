"""What a tuning recommends, in words."""

from dataclasses import dataclass

from darc.evaluation.tuning.setting import BEST_OF_K, Setting
from darc.evaluation.tuning.tune import Row, Tuned

FEW_PROMPTS = 30


@dataclass(frozen=True)
class Recommendation:
    """A setting, the reason in a sentence or two, and what else a user must hear of."""

    setting: Setting
    why: str
    notes: tuple[str, ...] = ()


def recommend(tuned: Tuned) -> Recommendation:
    """The rule with the largest held-out gain where its interval is above 0, otherwise `mean`.

    Where Best-of-K breaks the risk cap, it is the rule with the largest held-out mean among those
    that keep the cap and have a sigma below Best-of-K's beyond noise.
    """
    cap = tuned.objective.risk_cap
    if cap is not None and tuned.sigma > cap:
        return Recommendation(*_under_cap(tuned, cap), notes(tuned))
    kept = [row for row in tuned.rows if cap is None or row.sigma <= cap]
    best = next((row for row in kept if row.gain > 0 and row.low > 0), None)
    if best is None:
        return Recommendation(BEST_OF_K, _nothing(tuned), notes(tuned))
    return Recommendation(best.setting, _gained(tuned, best), notes(tuned))


def notes(tuned: Tuned) -> tuple[str, ...]:
    """Sentences on what makes the numbers weak."""
    found = []
    if tuned.prompts < FEW_PROMPTS:
        found.append(f"With {tuned.prompts} prompts the intervals are rough.")
    if tuned.left_out:
        found.append(f"{tuned.left_out} prompts have too few ratings to be split and do not count.")
    if tuned.selects < 2:
        found.append(
            "Most candidates have one rating to select by, which has no sigma: on so few ratings "
            "the rules hardly differ from Best-of-K."
        )
    return tuple(found)


def _gained(tuned: Tuned, best: Row) -> str:
    share = f" ({best.optimism:.3g} of it optimism)" if best.optimism > 0 else ""
    return (
        f"Chosen so, {best.rule} raises {tuned.objective.words} by {best.gain:.3g} over Best-of-K "
        f"(95 % interval {best.low:.3g} to {best.high:.3g}) on prompts that had no part in the "
        f"choice; on those it was chosen on, by {best.in_sample:.3g}{share}."
    )


def _nothing(tuned: Tuned) -> str:
    best = tuned.rows[0]
    if best.gain <= 0:
        return (
            f"No setting beats Best-of-K: on prompts that had no part in the choice, none raises "
            f"{tuned.objective.words}."
        )
    return (
        f"No setting beats Best-of-K beyond noise: the best, {best.rule}, raises "
        f"{tuned.objective.words} by {best.gain:.3g} (95 % interval {best.low:.3g} to "
        f"{best.high:.3g}) on prompts that had no part in the choice, whatever it gains on those "
        f"it was chosen on ({best.in_sample:.3g})."
    )


def _under_cap(tuned: Tuned, cap: float) -> tuple[Setting, str]:
    kept = [row for row in tuned.rows if row.sigma <= cap and row.sigma_high < tuned.sigma]
    if not kept:
        lowest = min(tuned.rows, key=lambda row: row.sigma)
        return BEST_OF_K, (
            f"No setting keeps the cap of {cap:g} on prompts that had no part in the choice: "
            f"Best-of-K has an average sigma of {tuned.sigma:.3g}, and the least, that of "
            f"{lowest.rule}, is {lowest.sigma:.3g}."
        )
    best = kept[0]
    return best.setting, (
        f"Best-of-K has an average sigma of {tuned.sigma:.3g}, above the cap of {cap:g}; "
        f"{best.rule} has {best.sigma:.3g} on prompts that had no part in the choice, and changes "
        f"the mean by {best.gain:.3g} (95 % interval {best.low:.3g} to {best.high:.3g})."
    )
