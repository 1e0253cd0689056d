"""The settings of a gateway, with its parts ready."""

from functools import cached_property

from pydantic import Field, InstanceOf, model_validator

from darc.decide.caution import parse_caution
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.rule_text import CAUTION
from darc.decide.standards import as_standards
from darc.engine.parts import Parts
from darc.engine.stopping import parse_stop
from darc.errors import InputError
from darc.serve.backend_addresses import BackendAddress, parse_backends
from darc.settings.serve import GatewaySettings


class ServeSettings(GatewaySettings):
    """How a gateway answers requests, with its parts ready.

    Without a `backend` URL the embedded model answers. `rule`, `beta`, `gamma`, `k` and
    `parts.n_aug` hold for requests that do not set them.
    """

    #: What turns answers into numbers. Raters of a panel that name no model are judged by the model
    #: that a request names.
    parts: InstanceOf[Parts] = Field(default_factory=Parts)
    #: What the default rule has learnt before.
    calibrations: InstanceOf[Calibrations] | None = None
    #: The reverse proxies that are believed about the addresses of clients.
    trusted_proxies: tuple[str, ...] = ()
    #: The embedded model that answers without a backend; empty for the small one.
    embedded_model: str = ""
    #: Whether a client's key may be the backend's. A server that was found here gets none.
    forwards_client_keys: bool = True
    #: Seconds before a stream begins, and between its comments, while nothing is chosen yet.
    keep_alive: float = Field(default=5.0, gt=0)
    #: Seconds between two looks at the models that the backend lists, which metrics have labels
    #: for; 0 for none.
    model_list_seconds: float = Field(default=300.0, ge=0)

    @cached_property
    def addresses(self) -> tuple[BackendAddress, ...]:
        """The servers behind `backend`, each with the model that it is asked for."""
        return parse_backends(self.backend, self.backend_key_env)

    @property
    def has_several_models(self) -> bool:
        """Whether several models write the candidates of a request."""
        return len(self.addresses) > 1

    @model_validator(mode="after")
    def _check(self) -> "ServeSettings":
        """Refuse settings that no request could be answered by."""
        if self.has_several_models and self.model:
            raise InputError(
                f"the model {self.model} is given beside several backends", "leave out --model"
            )
        if self.shadow is not None:
            _check_shadow(self)
        _check_limit("k", self.k, self.max_k)
        _check_limit("n_aug", self.parts.n_aug, self.max_n_aug)
        parse_stop(self.stop)
        as_standards(self.scale, self.threshold, self.no_rating_below, self.poor_below)
        method = Method.parse(self.rule, calibrations=self.calibrations)
        if self.caution is not None:
            _check_caution(self.caution, method)
        return self


def _check_shadow(settings: ServeSettings) -> None:
    if not settings.backend:
        raise InputError("--shadow has no backend to answer requests", "give one: --backend URL")
    if settings.parts.panel is None:
        raise InputError(
            "--shadow needs raters to grade both answers", "add --panel, and no --scorer"
        )


def _check_limit(name: str, value: int, limit: int) -> None:
    if value > limit:
        raise InputError(f"{name} is {value}, over max_{name}, {limit}", f"raise max_{name}")


def _check_caution(caution: str, method: Method) -> None:
    parse_caution(caution)
    if not method.rule.has_parameter(CAUTION):
        raise InputError(
            f"the rule {method.rule.name} has no caution",
            "leave out --caution, or use --rule auto",
        )
