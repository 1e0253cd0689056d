"""The objective over a rule's main knobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.evaluation.tuning.setting import Setting
from darc.evaluation.tuning.tune import Row
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class Surface:
    """Gains over Best-of-K on all prompts: a line (X,), or a plane (Y, X) with beta upwards."""

    rule: str
    knob: str
    across: Array
    upwards: Array | None
    gain: Array
    chosen: Setting
    by_fold: tuple[Setting, ...]

    def place(self, setting: Setting) -> tuple[int, int] | None:
        """Where a setting is, (x, y), or None: a fold may have chosen another kind or scale."""
        if not _alike(setting, self.chosen, self.knob):
            return None
        x = np.flatnonzero(self.across == setting.knobs[self.knob])
        y = np.zeros(1, dtype=np.int64)
        if self.upwards is not None:
            y = np.flatnonzero(self.upwards == setting.beta)
        return (int(x[0]), int(y[0])) if x.size and y.size else None

    @property
    def others(self) -> list[tuple[int, int]]:
        """Where the settings of the folds are that differ from the chosen one."""
        places = (self.place(setting) for setting in self.by_fold)
        found = dict.fromkeys(place for place in places if place is not None)
        return [place for place in found if place != self.place(self.chosen)]


def surface_of(row: Row) -> Surface:
    """The `Surface` of a rule through its chosen setting.

    Of a rule with several kinds of settings (tau and quantile, c and lam) it is the kind chosen.
    """
    knob = _main_knob(row.setting)
    kept = [(setting, gain) for setting, gain in row.surface if _alike(setting, row.setting, knob)]
    across = _values([setting.knobs[knob] for setting, _ in kept])
    betas = [setting.beta for setting, _ in kept if setting.beta is not None]
    if knob == "beta" or not betas:
        line = {setting.knobs[knob]: gain for setting, gain in kept}
        gains = np.array([line[value] for value in across.tolist()])
        return Surface(row.rule, knob, across, None, gains, row.setting, row.by_fold)
    upwards = _values(betas)
    plane = {(setting.beta, setting.knobs[knob]): gain for setting, gain in kept}
    gains = np.array([[plane[y, x] for x in across.tolist()] for y in upwards.tolist()])
    return Surface(row.rule, knob, across, upwards, gains, row.setting, row.by_fold)


def _main_knob(setting: Setting) -> str:
    """The first number among the knobs."""
    return next(name for name, value in setting.knobs.items() if not isinstance(value, str))


def _alike(one: Setting, other: Setting, knob: str) -> bool:
    """Whether two settings differ in the numbers of the same knobs only."""
    if one.knobs.keys() != other.knobs.keys() or knob not in one.knobs:
        return False
    return all(
        other.knobs[key] == value for key, value in one.knobs.items() if isinstance(value, str)
    )


def _values(knobs: Sequence[Any]) -> Array:
    return np.unique(np.array(knobs, dtype=np.float64))
