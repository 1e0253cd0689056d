"""How an evaluation is made."""

from typing import Literal

from pydantic import Field

from darc.analysis.evaluate.methods import compared_methods
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.settings.evaluate import EvaluationSettings, JudgingSettings
from darc.settings.method import RiskSettings
from darc.settings.model import same_option


class ContestSettings(RiskSettings, JudgingSettings):
    """How methods are compared with Best-of-K on ratings that did not select."""

    rules: tuple[str, ...] = same_option(EvaluationSettings, "rules")
    #: None weighs sigma by median matching.
    lam: float | None = same_option(EvaluationSettings, "lam")
    #: The share of prompts that are high-variance prompts.
    share: float = Field(default=0.2, gt=0, le=1)
    #: The share of prompts that the CVaR over prompts is of.
    tail: float = Field(default=0.1, gt=0, le=1)
    #: What rules that learn go by; without it they learn from each split's selecting half alone.
    calibrations: Calibrations | None = None
    caution: str | None = same_option(EvaluationSettings, "caution")
    split: Literal["auto", "rater", "sample"] = same_option(EvaluationSettings, "split")
    splits: int = same_option(EvaluationSettings, "splits")
    tie_threshold: float = same_option(EvaluationSettings, "tie_threshold")
    #: The ids of the prompts of the stress slice in the tables of families.
    stress: frozenset[str] = frozenset()

    def model_post_init(self, context: object) -> None:
        """Refuse calibrations and a caution that no rule takes."""
        if self.calibrations is not None or self.caution is not None:
            compared_methods(self.rules, calibrations=self.calibrations, caution=self.caution)

    @property
    def methods(self) -> list[Method]:
        """The methods to compare, Best-of-K first."""
        return compared_methods(self.rules, self.beta, self.gamma, self.calibrations, self.caution)

    @property
    def tail_name(self) -> str:
        """What the CVaR over prompts is called."""
        return f"cvar_{round(100 * self.tail)}"
