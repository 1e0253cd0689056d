"""What a gateway is told when it starts; the options of `darc serve` are made of it."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, InstanceOf, model_validator

from darc.config import Model
from darc.engine.deciding import Calibrations, parse_rules
from darc.engine.parts import Parts
from darc.engine.stopping import parse_stop
from darc.errors import InputError
from darc.models.remote.client import KEY
from darc.registry import DEFAULT_RULE

MEGABYTE = 1_000_000
Policy = Literal["open", "closed"]
Normalize = Literal["auto", "prompt", "fixed", "none"]


def _option(text: str, metavar: str = "", flags: tuple[str, ...] = (), **bounds: Any) -> Any:
    """A field with its description, its bounds and what its option is called besides its name."""
    extra: Any = {"flags": list(flags), **({"metavar": metavar} if metavar else {})}
    return Field(description=text, json_schema_extra=extra, **bounds)


class ServeSettings(Model):
    """Where answers come from, how they are chosen, and how much is done at a time.

    Without a `backend` URL the embedded model answers. `rule`, `beta`, `gamma`, `k` and
    `parts.n_aug` are what a request gets that says nothing else, and `calibrations` what the rule
    `auto` goes by; with `parts.panel` raters grade, by the backend's own model where they name
    none. Times are in seconds. `keep_alive` is the time before a stream begins, and between its
    comments, while nothing is chosen yet.
    """

    backend: Annotated[
        str, _option("an OpenAI-compatible server, or several of the same model: URL|URL", "URL")
    ] = ""
    backend_key_env: Annotated[
        str, _option("the environment variable with the backend's key", "NAME")
    ] = KEY
    model: Annotated[str, _option("for requests that name none")] = ""
    timeout: Annotated[float, _option("seconds", gt=0)] = 120.0
    concurrency: Annotated[int, _option("calls at a time to each URL", ge=1)] = 256
    attempts: Annotated[int, _option("of a call, in all", ge=1)] = 6
    max_tokens: Annotated[int, _option("of the embedded model", ge=1)] = 320

    rule: Annotated[str, _option("see darc rules", "NAME[:KEY=VALUE,...]")] = DEFAULT_RULE
    calibrations: InstanceOf[Calibrations] | None = None
    beta: Annotated[float, _option("risk aversion", ge=0)] = 1.0
    gamma: Annotated[float, _option("hedge over scorers", ge=0)] = 1.0
    normalize: Annotated[Normalize, _option("how several scorers are put on one scale")] = "auto"
    k: Annotated[int, _option("candidates", flags=("-k",), ge=1)] = 8
    stop: Annotated[
        str,
        _option(
            "pandora writes a few answers at a time, and stops where more are not expected to gain "
            "their cost, in the scorers' standard deviations an answer",
            "none|pandora[:cost=0.02,wave=N,least=2]",
        ),
    ] = "none"
    parts: InstanceOf[Parts] = Field(default_factory=Parts)
    workers: Annotated[
        int | None,
        _option(
            "processes for rewriting and embedded scorers, 0 for threads (default: one per core)",
            "N",
            ge=0,
        ),
    ] = None
    wave: Annotated[int, _option("texts that the lazy search has scored at once", ge=1)] = 16
    scorer_timeout: Annotated[float, _option("seconds for such a wave", gt=0)] = 60.0
    seed: Annotated[int | None, _option("makes requests without a seed repeatable")] = None
    policy: Annotated[Policy, _option("when a part fails: a flagged answer, or a 503")] = "open"

    api_keys: Annotated[Path | None, _option("hashed keys of clients", "FILE")] = None
    rate: Annotated[float, _option("requests per minute and client; 0: any", ge=0)] = 0.0
    trusted_proxies: tuple[str, ...] = ()
    active: Annotated[int, _option("requests at a time", ge=1)] = 64
    queue: Annotated[int, _option("requests that wait", ge=0)] = 256
    max_body: Annotated[int, _option("of a request", "BYTES", ge=1)] = 4 * MEGABYTE
    max_k: Annotated[int, _option("candidates that a request may ask for", "K", ge=1)] = 64
    max_n_aug: Annotated[int, _option("rewrites that a request may ask for", "N", ge=0)] = 32
    max_candidate_characters: Annotated[
        int, _option("of a text that is chosen among", "N", ge=1)
    ] = 100_000
    max_work: Annotated[
        int, _option("characters read to choose: texts x (n_aug + 1), and prompts", "N", ge=1)
    ] = 4_000_000
    max_scores: Annotated[int, _option("scores in a request to /v1/select", "N", ge=1)] = 50_000
    max_upstream_calls: Annotated[
        int, _option("calls to all models for a request, retries too; 0: any", "N", ge=0)
    ] = 0
    max_upstream_tokens: Annotated[
        int, _option("tokens of all models for a request; 0: any", "N", ge=0)
    ] = 0
    max_answer: Annotated[
        int, _option("of a backend's answer that is not streamed", "BYTES", ge=1)
    ] = 32 * MEGABYTE
    max_line: Annotated[int, _option("of a line in a backend's stream", "BYTES", ge=1)] = (
        4 * MEGABYTE
    )
    audit: Annotated[Path | None, _option("append every decision", "FILE")] = None
    audit_bytes: Annotated[int, _option("before it is rotated", "BYTES", ge=1)] = 100 * MEGABYTE
    keep_alive: Annotated[float, Field(gt=0)] = 5.0

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
        if self.calibrations is not None:
            parse_rules([self.rule], {}, calibrations=self.calibrations)
        return self
