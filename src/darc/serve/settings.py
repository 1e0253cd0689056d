"""What a gateway is told when it starts; the options of `darc serve` are made of it."""

from pydantic import Field, InstanceOf, model_validator

from darc.decide.caution import parse_caution
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.standards import as_standards
from darc.engine.parts import Parts
from darc.engine.stopping import parse_stop
from darc.errors import InputError
from darc.settings.serve import GatewaySettings


class ServeSettings(GatewaySettings):
    """How a gateway answers requests, with its parts ready.

    Without a `backend` URL the embedded model answers. `rule`, `beta`, `gamma`, `k` and
    `parts.n_aug` are what a request gets that says nothing else. With `parts.panel` raters grade,
    by the backend's own model where they name none.
    """

    #: What turns answers into numbers.
    parts: InstanceOf[Parts] = Field(default_factory=Parts)
    #: What the rule `auto` goes by.
    calibrations: InstanceOf[Calibrations] | None = None
    trusted_proxies: tuple[str, ...] = ()
    #: Seconds before a stream begins, and between its comments, while nothing is chosen yet.
    keep_alive: float = Field(default=5.0, gt=0)

    @model_validator(mode="after")
    def _usable(self) -> "ServeSettings":
        """Refuse what cannot be served by."""
        for name, given, most in (
            ("k", self.k, self.max_k),
            ("n_aug", self.parts.n_aug, self.max_n_aug),
        ):
            if given > most:
                raise InputError(f"{name} is {given}, over max_{name}, {most}", f"raise max_{name}")
        parse_stop(self.stop)
        method = Method.parse(self.rule, calibrations=self.calibrations)
        if self.caution is not None:
            parse_caution(self.caution)
            if not method.rule.has_parameter("caution"):
                raise InputError(
                    f"the rule {method.rule.name} has no caution",
                    "leave out --caution, or use --rule auto",
                )
        as_standards(self.scale, self.threshold, self.no_rating_below, self.poor_below)
        return self
