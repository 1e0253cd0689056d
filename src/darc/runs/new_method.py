"""Deciding the prompts of a run again, otherwise than the run did."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.registry import rules
from darc.decide.standards import NO_STANDARDS, Standards
from darc.runs.folder import RunFolder
from darc.runs.manifest import method_of


@dataclass(frozen=True)
class NewMethod:
    """What is decided otherwise than in the run; None, or nothing, is as in the run."""

    rule: str | None = None
    #: Parameters of the rule, such as its caution.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    beta: float | None = None
    gamma: float | None = None
    calibrations: Calibrations | None = None
    standards: Standards = NO_STANDARDS

    def method(self, folder: RunFolder) -> Method:
        """The method of a run with these changes.

        Args:
            folder: The run.

        Returns:
            The method.

        Raises:
            InputError: If there is no such rule, or a value is not allowed.
        """
        own = method_of(folder)
        rule = self.rule or own.text
        parameters = dict(self.parameters)
        takes_caution = rules.get(rule.partition(":")[0].strip()).has_parameter("caution")
        if not parameters and own.caution is not None and takes_caution:
            parameters = {"caution": own.caution}
        method = Method.parse(
            rule,
            parameters,
            beta=own.beta if self.beta is None else self.beta,
            gamma=own.gamma if self.gamma is None else self.gamma,
            calibrations=self.calibrations,
        )
        return method_of(folder, method, self._standards(own.standards))

    def _standards(self, own: Standards) -> Standards:
        changes = {name.name: getattr(self.standards, name.name) for name in fields(Standards)}
        return replace(own, **{name: value for name, value in changes.items() if value is not None})
