"""How an evaluation is made."""

from typing import Literal

from pydantic import Field

from darc.analysis.evaluate.methods import compared_methods
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.settings.model import SettingsModel, option


class ContestSettings(SettingsModel):
    """How methods are compared with Best-of-K on ratings that did not select."""

    #: The rules to compare, all for none.
    rules: tuple[str, ...] = ()
    #: The weight of sigma in the tradeoff, None for median matching.
    lam: float | None = 2.0
    #: The share of prompts that are high-variance prompts.
    share: float = Field(default=0.2, gt=0, le=1)
    #: The share of prompts that the CVaR over prompts is of.
    tail: float = Field(default=0.1, gt=0, le=1)
    #: What rules that learn go by; without it they learn from each split's selecting half alone.
    calibrations: Calibrations | None = None
    #: The caution of the rules that have one, None for their default.
    caution: str | None = None
    beta: float = option(1.0, "risk aversion")
    gamma: float = option(1.0, "hedge over scorers")
    normalize: Literal["auto", "prompt", "fixed", "none"] = option(
        "auto", "scale of the scorers in selection, auto: within the prompt if there are several"
    )
    split: Literal["auto", "rater", "sample"] = option(
        "auto", "what is split into halves, auto: raters where the same ones come back"
    )
    repeats: int = option(20, "number of random splits into halves", "R", ge=1, le=10_000)
    sigma: Literal["evaluation", "selection"] = option(
        "evaluation", "the half that risk is measured on"
    )
    subset: Literal["baseline", "pool"] = option(
        "baseline", "high-variance prompts by Best-of-K's choice, or by the pool's largest sigma"
    )
    outcome: Literal["mean", "lcb"] = option(
        "mean", "what the CVaR over prompts is of: the choice's mean, or its lower confidence bound"
    )
    threshold: float = option(0.0, "differences smaller than this are ties")
    draws: int = option(2000, "number of bootstrap draws", "N", ge=1, le=1_000_000)
    seed: int = option(0, "seed of splits and draws")

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
