"""Which rule to use, tested on prompts and raters held out: the one advice of all commands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from darc.analysis.tune.crossfit import Objective
from darc.analysis.tune.grid import BEST_OF_K
from darc.analysis.tune.tuning import Tuned, TunedRule, tune
from darc.decide.method import Method
from darc.errors import InputError
from darc.ratings.ratings import Ratings

SAFE = Method.of("auto")
FEW_PROMPTS = 30
# A setting, whether it wins beyond noise, why it is recommended, and what being wrong costs.
Recommended = tuple[Method, bool, str, str]


@dataclass(frozen=True)
class Advice:
    """A setting, the sentence that recommends it, and the cost of being wrong about it.

    `beyond_noise` says that it beats Best-of-K so on prompts that had no part in choosing it.
    `notes` say what makes the numbers weak; `tuned` holds all numbers, None where nothing could be
    tested.
    """

    setting: Method
    beyond_noise: bool
    headline: str
    cost: str
    notes: tuple[str, ...] = ()
    tuned: Tuned | None = None

    def as_json(self) -> dict[str, Any]:
        """The advice and what every rule gained."""
        rows = () if self.tuned is None else self.tuned.rows
        return {
            "recommended": self.setting.text,
            "beyond_noise": self.beyond_noise,
            "headline": self.headline,
            "cost": self.cost,
            "notes": list(self.notes),
            "tested": [row.as_json() for row in rows],
        }


def advise(source: Ratings, objective: Objective | None = None, **options: Any) -> Advice:
    """The advice on a source, by `tune` with these options; where it cannot be tested, it says so.

    The strengths of every rule are chosen on some prompts and judged on the others, by ratings that
    did not select. Costs what `tune` costs.
    """
    try:
        return recommend(tune(source, objective, **options))
    except InputError as problem:
        reason = str(problem).partition(";")[0].removeprefix(f"{source.name} ")
        return Advice(
            SAFE,
            False,
            f"Recommended for {source.name}: auto (untested: {reason}; without data it stays near "
            "Best-of-K)",
            "What another rule would gain or lose cannot be told from these data.",
        )


def recommend(tuned: Tuned) -> Advice:
    """The rule with the largest held-out gain where its interval is above 0.

    Where no rule has one, it is `auto`, which falls back to near Best-of-K; or `mean`, where `auto`
    was not compared or loses beyond noise. Where Best-of-K breaks a risk cap, it is the rule with
    the largest held-out mean of those that keep it and have less sigma beyond noise.
    """
    cap = tuned.objective.risk_cap
    found = _by_gain(tuned) if cap is None or tuned.sigma <= cap else _under_cap(tuned, cap)
    setting, beyond_noise, why, cost = found
    weak = {
        f"With {tuned.prompts} prompts the intervals are rough.": tuned.prompts < FEW_PROMPTS,
        f"{tuned.left_out} prompts have too few ratings to be split and do not count.": (
            tuned.left_out > 0
        ),
        "Most candidates have one rating to select by, which has no sigma: what is gained by sigma "
        "is gained on the others.": tuned.selects < 2,
    }
    notes = tuple(note for note, holds in weak.items() if holds)
    headline = f"Recommended for {tuned.name}: {setting.text} ({why})"
    return Advice(setting, beyond_noise, headline, cost, notes, tuned)


def _by_gain(tuned: Tuned) -> Recommended:
    """The choice where Best-of-K is allowed."""
    cap, aim = tuned.objective.risk_cap, tuned.objective.words
    kept = [row for row in tuned.rows if cap is None or row.sigma <= cap]
    best = next((row for row in kept if row.gain > 0 and row.low > 0), None)
    if best is not None:
        luck = "nothing known"
        if tuned.objective.name != "mean" and best.mean < 0:
            luck = f"{-best.mean:.3g} of the mean ({best.mean_low:.3g} to {best.mean_high:.3g})"
        cost = (
            f"If that is luck, following it costs {luck}; if it is real, staying with Best-of-K "
            f"forgoes {best.gain:.3g} in {aim}, at most {best.high:.3g}."
        )
        return best.setting, True, f"beats Best-of-K beyond noise: {_span(best)} in {aim}", cost
    safe = next((row for row in kept if row.rule == SAFE.rule.name), None)
    if safe is not None and not safe.high < 0:
        why = f"safe to leave on, {_span(safe)} in {aim}; nothing beats Best-of-K beyond noise"
        cost = (
            f"Following it costs at most {max(0.0, -safe.low):.3g} in {aim} if it is wrong here; "
            f"staying with Best-of-K forgoes at most {max(0.0, safe.high):.3g}. {_nearest(tuned)}"
        )
        return safe.setting, False, why, cost
    loses = "" if safe is None else f", and auto loses to it, {_span(safe)} in {aim}"
    most = max(0.0, *(row.high for row in tuned.rows))
    cost = f"Staying forgoes at most {most:.3g} in {aim}. {_nearest(tuned)}"
    return BEST_OF_K, False, f"Best-of-K: nothing beats it beyond noise{loses}", cost


def _nearest(tuned: Tuned) -> str:
    """What following the best-looking rule would risk."""
    best = next((row for row in tuned.rows if row.rule != SAFE.rule.name), None)
    if best is None or best.gain <= 0:
        return "No other rule gains on prompts held out."
    return (
        f"The best-looking other rule is {best.rule}, {_span(best)}: following it, if that is "
        f"noise, costs up to {max(0.0, -best.low):.3g}."
    )


def _under_cap(tuned: Tuned, cap: float) -> Recommended:
    """The choice where Best-of-K breaks the cap."""
    kept = [row for row in tuned.rows if row.sigma <= cap and row.sigma_high < tuned.sigma]
    if not kept:
        lowest = min(tuned.rows, key=lambda row: row.sigma)
        why = f"Best-of-K: no setting keeps the cap of {cap:g} on prompts held out"
        cost = (
            f"Best-of-K has an average sigma of {tuned.sigma:.3g}, and the least, that of "
            f"{lowest.rule}, is {lowest.sigma:.3g}."
        )
        return BEST_OF_K, False, why, cost
    best = kept[0]
    why = f"keeps the cap of {cap:g}, with an average sigma of {best.sigma:.3g} on prompts held out"
    cost = (
        f"Best-of-K has {tuned.sigma:.3g}, above the cap; keeping it changes the mean by "
        f"{_span(best)}."
    )
    return best.setting, True, why, cost


def _span(row: TunedRule) -> str:
    """A gain with the ends of its interval."""
    if row.gain == row.low == row.high == 0:
        return "no change"
    return f"{row.gain:+.3g} ({row.low:+.3g} to {row.high:+.3g})"


def settings_toml(tuned: Tuned, setting: Method, commands: Mapping[str, bool]) -> str:
    """TOML with one section a command; `commands` says of each whether it takes several rules."""
    name = "".join(letter if letter.isprintable() else " " for letter in tuned.name)
    lines = [
        f"# Chosen by darc tune on {name} by {tuned.objective.words}; beta, epsilon",
        "# and other absolute strengths are in the units of its scores.",
    ]
    text = json.dumps(setting.text)
    for command, several in sorted(commands.items()):
        lines += ["", f"[{command}]", f"rule = {f'[{text}]' if several else text}"]
    return "\n".join(lines) + "\n"
