"""Choosing a rule and its strengths on ratings or a run, with the gain measured elsewhere."""

from darc.evaluation.tuning.objective import Objective
from darc.evaluation.tuning.setting import Setting
from darc.evaluation.tuning.tune import Tuned, tune

__all__ = ["Objective", "Setting", "Tuned", "tune"]
