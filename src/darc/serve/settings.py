"""What a gateway is told when it starts; the options of `darc serve` are made of it."""

from pathlib import Path
from typing import Literal

from pydantic import Field, InstanceOf, model_validator

from darc.decide.caution import parse_caution
from darc.decide.method import Method
from darc.decide.model.calibration_file import Calibrations
from darc.decide.standards import as_standards
from darc.engine.options import ChoosingOptions
from darc.engine.parts import Parts
from darc.engine.stopping import parse_stop
from darc.errors import InputError
from darc.models.remote.address import KEY_ENV
from darc.settings.model import option

MEGABYTE = 1_000_000
Policy = Literal["open", "closed"]
WhenHeld = Literal["flag", "more", "refuse"]
BACKEND = "an OpenAI-compatible server, or several of the same model: URL|URL"
WORKERS = "processes for rewriting and embedded scorers, 0 for threads (default: one per core)"


class ServeSettings(ChoosingOptions):
    """Where answers come from, how they are chosen, and how much is done at a time.

    Without a `backend` URL the embedded model answers. `rule`, `beta`, `gamma`, `k` and
    `parts.n_aug` are what a request gets that says nothing else, and `calibrations` what the rule
    `auto` goes by; with `parts.panel` raters grade, by the backend's own model where they name
    none. Times are in seconds. `keep_alive` is the time before a stream begins, and between its
    comments, while nothing is chosen yet.
    """

    backend: str = option("", BACKEND, "URL|openai:MODEL@URL", short_flag="--generator")
    backend_key_env: str = option(
        KEY_ENV, "the environment variable with the backend's key", "NAME"
    )
    model: str = option("", "for requests that name none")
    timeout: float = option(120.0, "seconds", gt=0)
    concurrency: int = option(256, "calls at a time to each URL", ge=1)
    attempts: int = option(6, "of a call, in all", ge=1)
    max_tokens: int = option(320, "of the embedded model", ge=1)

    calibrations: InstanceOf[Calibrations] | None = None
    k: int = option(8, "candidates", short_flag="-k", ge=1)
    parts: InstanceOf[Parts] = Field(default_factory=Parts)
    workers: int | None = option(None, WORKERS, "N", ge=0)
    wave: int = option(16, "texts that the lazy search has scored at once", ge=1)
    scorer_timeout: float = option(60.0, "seconds for such a wave", gt=0)
    seed: int | None = option(None, "makes requests without a seed repeatable")
    policy: Policy = option("open", "when a part fails: a flagged answer, or a 503")
    when_held: WhenHeld = option(
        "flag",
        "when none of the answers is good: return the choice with the flag held, write as many "
        "more answers once and choose among all, or answer with status 422",
    )

    api_keys: Path | None = option(None, "hashed keys of clients", "FILE")
    rate: float = option(0.0, "requests per minute and client; 0: any", ge=0)
    trusted_proxies: tuple[str, ...] = ()
    active: int = option(64, "requests at a time", ge=1)
    queue: int = option(256, "requests that wait", ge=0)
    max_body: int = option(4 * MEGABYTE, "of a request", "BYTES", ge=1)
    max_k: int = option(64, "candidates that a request may ask for", "K", ge=1)
    max_n_aug: int = option(32, "rewrites that a request may ask for", "N", ge=0)
    max_candidate_characters: int = option(100_000, "of a text that is chosen among", "N", ge=1)
    max_work: int = option(
        4_000_000, "characters read to choose: texts x (n_aug + 1), and prompts", "N", ge=1
    )
    max_scores: int = option(50_000, "scores in a request to /v1/select", "N", ge=1)
    max_upstream_calls: int = option(
        0, "calls to all models for a request, retries too; 0: any", "N", ge=0
    )
    max_upstream_tokens: int = option(0, "tokens of all models for a request; 0: any", "N", ge=0)
    max_answer: int = option(
        32 * MEGABYTE, "of a backend's answer that is not streamed", "BYTES", ge=1
    )
    max_line: int = option(4 * MEGABYTE, "of a line in a backend's stream", "BYTES", ge=1)
    audit: Path | None = option(None, "append every decision", "FILE")
    audit_bytes: int = option(100 * MEGABYTE, "before it is rotated", "BYTES", ge=1)
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
