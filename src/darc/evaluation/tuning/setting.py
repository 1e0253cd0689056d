"""A rule with all its knobs set."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from darc.registry import rules
from darc.selection.rule import Rule

Knob = float | str


@dataclass(frozen=True)
class Setting:
    """A rule's name and parameters, and beta, None for rules that do not depend on it."""

    rule: str
    parameters: Mapping[str, Knob] = field(default_factory=dict)
    beta: float | None = None

    @property
    def knobs(self) -> dict[str, Knob]:
        """The parameters, and beta where it matters."""
        beta = {} if self.beta is None else {"beta": self.beta}
        return {**self.parameters, **beta}

    @property
    def text(self) -> str:
        """As every command takes it, such as "epsilon:epsilon=0.5,beta=2"."""
        given = ",".join(
            f"{name}={value if isinstance(value, str) else format(value, '.6g')}"
            for name, value in self.knobs.items()
        )
        return f"{self.rule}:{given}" if given else self.rule

    def bound(self) -> Rule:
        """The rule with its parameters, beta apart."""
        return rules.get(self.rule).bind(**self.parameters)


BEST_OF_K = Setting("mean")
