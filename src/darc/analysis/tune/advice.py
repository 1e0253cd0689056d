"""Which rule to use, tested on prompts and raters held out: the one advice of all commands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darc.analysis.tune.grid import BEST_OF_K
from darc.analysis.tune.objective import Objective
from darc.analysis.tune.tuning import Tuned, TunedRule, tune
from darc.decide.method import Method
from darc.errors import InputError
from darc.ratings.ratings import Ratings

#: What is recommended where nothing beats Best-of-K.
SAFE = Method.of("auto")
# With fewer prompts the intervals are called rough.
_FEW_PROMPTS = 30


@dataclass(frozen=True)
class Advice:
    """A method, the sentence that recommends it, and the cost of being wrong about it."""

    #: The method that is recommended.
    setting: Method
    #: Whether it beats Best-of-K beyond noise on prompts that had no part in choosing it.
    beyond_noise: bool
    #: The sentence that recommends it.
    headline: str
    #: What it costs to follow or not to follow the advice if it is wrong.
    cost: str
    #: What makes the numbers weak.
    notes: tuple[str, ...] = ()
    #: All numbers, None where nothing could be tested.
    tuned: Tuned | None = None

    def as_json(self) -> dict[str, Any]:
        """The advice and what every rule gained."""
        rows: Sequence[TunedRule] = ()
        if self.tuned is not None:
            rows = self.tuned.rows
        return {
            "recommended": self.setting.text,
            "beyond_noise": self.beyond_noise,
            "headline": self.headline,
            "cost": self.cost,
            "notes": list(self.notes),
            "tested": [row.as_json() for row in rows],
        }


def advise(ratings: Ratings, objective: Objective | None = None, **options: Any) -> Advice:
    """Recommend a rule for some ratings; where it cannot be tested, the advice says so.

    The parameters of every rule are chosen on some prompts and judged on the others, by ratings
    that did not select.

    Args:
        ratings: The ratings.
        objective: What to raise.
        **options: Those of `tune`, whose cost this has.

    Returns:
        The advice, with the numbers it is based on if the rules could be tested.
    """
    try:
        return recommend(tune(ratings, objective, **options))
    except InputError as problem:
        reason = str(problem).partition(";")[0].removeprefix(f"{ratings.name} ")
        return Advice(
            setting=SAFE,
            beyond_noise=False,
            headline=(
                f"Recommended for {ratings.name}: auto (untested: {reason}; without data it stays "
                "near Best-of-K)"
            ),
            cost="What another rule would gain or lose cannot be told from these data.",
        )


@dataclass(frozen=True)
class _Choice:
    """A method and why it is recommended."""

    setting: Method
    beyond_noise: bool
    reason: str
    cost: str


def recommend(tuned: Tuned) -> Advice:
    """Recommend the rule with the largest held-out gain whose interval is above 0.

    Where no rule has one, it is `auto`, which falls back to near Best-of-K; or `mean`, where
    `auto` was not compared or loses beyond noise. Where Best-of-K breaks a risk cap, it is the
    rule with the largest held-out mean of those that keep it and have less sigma beyond noise.

    Args:
        tuned: What `tune` returned.

    Returns:
        The advice.
    """
    cap = tuned.objective.risk_cap
    if cap is not None and tuned.sigma > cap:
        choice = _choice_under_cap(tuned, cap)
    else:
        choice = _choice_by_gain(tuned)
    return Advice(
        setting=choice.setting,
        beyond_noise=choice.beyond_noise,
        headline=f"Recommended for {tuned.name}: {choice.setting.text} ({choice.reason})",
        cost=choice.cost,
        notes=_notes(tuned),
        tuned=tuned,
    )


def _notes(tuned: Tuned) -> tuple[str, ...]:
    """What makes the numbers weak."""
    notes = []
    if tuned.prompts < _FEW_PROMPTS:
        notes.append(f"With {tuned.prompts} prompts the intervals are rough.")
    if tuned.left_out > 0:
        notes.append(f"{tuned.left_out} prompts have too few ratings to be split and do not count.")
    if tuned.selects < 2:
        notes.append(
            "Most candidates have one rating to select by, which has no sigma: what is gained by "
            "sigma is gained on the others."
        )
    return tuple(notes)


def _choice_by_gain(tuned: Tuned) -> _Choice:
    """The choice where Best-of-K is allowed."""
    cap = tuned.objective.risk_cap
    aim = tuned.objective.words
    allowed = [row for row in tuned.rows if cap is None or row.sigma <= cap]
    winner = next((row for row in allowed if row.gain > 0 and row.low > 0), None)
    if winner is not None:
        return _winning_choice(tuned, winner)
    safe = next((row for row in allowed if row.rule == SAFE.rule.name), None)
    if safe is None or safe.high < 0:
        loses = ""
        if safe is not None:
            loses = f", and auto loses to it, {_span(safe)} in {aim}"
        most = max(0.0, *(row.high for row in tuned.rows))
        return _Choice(
            setting=BEST_OF_K,
            beyond_noise=False,
            reason=f"Best-of-K: nothing beats it beyond noise{loses}",
            cost=(
                f"By the 95 % intervals, staying may forgo {most:.3g} in {aim}. {_runner_up(tuned)}"
            ),
        )
    return _Choice(
        setting=safe.setting,
        beyond_noise=False,
        reason=f"safe to leave on, {_span(safe)} in {aim}; nothing beats Best-of-K beyond noise",
        cost=(
            f"By its 95 % interval, following it may cost {max(0.0, -safe.low):.3g} in {aim}, and "
            f"staying with Best-of-K may forgo {max(0.0, safe.high):.3g}. "
            f"{_runner_up(tuned)}{_why_last(tuned, safe)}"
        ),
    )


def _winning_choice(tuned: Tuned, winner: TunedRule) -> _Choice:
    """The choice of a rule that beats Best-of-K beyond noise."""
    aim = tuned.objective.words
    price = "nothing known"
    if tuned.objective.name != "mean" and winner.mean < 0:
        span = f"{winner.mean_low:.3g} to {winner.mean_high:.3g}"
        price = f"{-winner.mean:.3g} of the mean ({span})"
    return _Choice(
        setting=winner.setting,
        beyond_noise=True,
        reason=f"beats Best-of-K beyond noise: {_span(winner)} in {aim}",
        cost=(
            f"If that is luck, following it costs {price}; if it is real, staying with Best-of-K "
            f"forgoes {winner.gain:.3g} in {aim} ({winner.low:.3g} to {winner.high:.3g})."
        ),
    )


def _runner_up(tuned: Tuned) -> str:
    """What following the best-looking rule would risk."""
    best = next((row for row in tuned.rows if row.rule != SAFE.rule.name), None)
    if best is None or best.gain <= 0:
        return "No other rule gains on prompts held out."
    return (
        f"The best-looking other rule is {best.rule}, {_span(best)}: following it, if that is "
        f"noise, may cost {max(0.0, -best.low):.3g}."
    )


def _why_last(tuned: Tuned, safe: TunedRule) -> str:
    """Why a rule is recommended that gained least of all."""
    if len(tuned.rows) < 2 or safe is not tuned.rows[-1]:
        return ""
    return (
        f" {safe.rule} gained least of the rules in the table, but none of these differences is "
        "beyond noise, and it departs from Best-of-K least where ratings prove nothing."
    )


def _choice_under_cap(tuned: Tuned, cap: float) -> _Choice:
    """The choice where Best-of-K breaks the cap."""
    allowed = [row for row in tuned.rows if row.sigma <= cap and row.sigma_high < tuned.sigma]
    if not allowed:
        lowest = min(tuned.rows, key=lambda row: row.sigma)
        return _Choice(
            setting=BEST_OF_K,
            beyond_noise=False,
            reason=f"Best-of-K: no setting keeps the cap of {cap:g} on prompts held out",
            cost=(
                f"Best-of-K has an average sigma of {tuned.sigma:.3g}, and the least, that of "
                f"{lowest.rule}, is {lowest.sigma:.3g}."
            ),
        )
    best = allowed[0]
    return _Choice(
        setting=best.setting,
        beyond_noise=True,
        reason=(
            f"keeps the cap of {cap:g}, with an average sigma of {best.sigma:.3g} on prompts held "
            "out"
        ),
        cost=(
            f"Best-of-K has {tuned.sigma:.3g}, above the cap; keeping it changes the mean by "
            f"{_span(best)}."
        ),
    )


def _span(row: TunedRule) -> str:
    """A gain with the ends of its interval."""
    if row.gain == row.low == row.high == 0:
        return "no change"
    return f"{row.gain:+.3g} ({row.low:+.3g} to {row.high:+.3g})"


def settings_toml(tuned: Tuned, setting: Method, commands: Mapping[str, bool]) -> str:
    """TOML that makes commands use a method.

    Args:
        tuned: What the method was chosen by.
        setting: The method.
        commands: The commands, and whether each takes several rules.
    """
    name = "".join(letter if letter.isprintable() else " " for letter in tuned.name)
    lines = [
        f"# Chosen by darc tune on {name} by {tuned.objective.words}; beta, epsilon",
        "# and other absolute strengths are in the units of its scores.",
    ]
    for command, takes_several in sorted(commands.items()):
        value = json.dumps(setting.text)
        if takes_several:
            value = f"[{value}]"
        lines += ["", f"[{command}]", f"rule = {value}"]
    return "\n".join(lines) + "\n"
