"""The options of `darc serve`."""

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from darc.settings.discovery import DiscoverySettings
from darc.settings.engine import WorkerSettings
from darc.settings.general import CommandSettings
from darc.settings.generation import CandidateSettings, GenerationSettings, StopSettings
from darc.settings.limits import MEGABYTE, LimitSettings, ListeningSettings
from darc.settings.method import MethodSettings, SearchSettings
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.sampling import SamplingSettings
from darc.settings.scoring import ScorerSettings

Policy = Literal["open", "closed"]
WhenHeld = Literal["flag", "more", "fallback", "refuse"]


class ServerModelSettings(SettingsModel):
    """Which model of a server is asked."""

    subject: ClassVar[str] = "answers"

    model: str = option(
        "",
        "the model on the server (default: what the request names, or the first one listed)",
        "NAME",
        common=True,
    )


class BackendSettings(ServerModelSettings):
    """The server that writes the answers of a gateway."""

    subject: ClassVar[str] = "answers"

    backend: tuple[str, ...] = option(
        (),
        "an OpenAI-compatible server, or several with the same model: URL|URL (default: the "
        "embedded model); may be repeated, with a model and a share of the answers each",
        "URL|openai:MODEL@URL[=SHARE]",
        common=True,
    )
    backend_key_env: str = option(
        "OPENAI_API_KEY", "the environment variable that holds the key of the backend", "NAME"
    )
    backend_timeout: float = option(
        120.0, "how many seconds a call to the backend may take", "SECONDS", gt=0
    )
    stream_timeout: float = option(
        1800.0, "how many seconds a streamed answer of the backend may take", "SECONDS", gt=0
    )
    concurrency: int = option(256, "the most calls at the same time to each URL", "N", ge=1)
    attempts: int = option(
        6, "how often to try a failing call, including the first attempt", "N", ge=1
    )

    @field_validator("backend", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        """A single backend may be written without a list."""
        if not isinstance(value, str):
            return value
        if not value:
            return ()
        return (value,)


class RequestSettings(CandidateSettings, StopSettings, MethodSettings, SearchSettings):
    """What a request may set in its `darc` object, and what counts where it does not."""

    subject: ClassVar[str] = "choosing"

    policy: Policy = option(
        "open",
        "what to do when a part fails: open (go on without it and flag the answer) or closed "
        "(answer with status 503)",
        per_request=True,
    )
    when_held: WhenHeld = option(
        "flag",
        "what to do when none of the answers is good, or not sure enough to be: flag (return the "
        "choice with the flag held), more (write as many answers again, once, and choose among "
        "all), fallback (the same with the answers of --fallback-model) or refuse (answer with "
        "status 422)",
        per_request=True,
    )
    wave: int = option(
        16,
        "how many texts the search has scored at the same time",
        "N",
        per_request=True,
        ge=1,
        le=10_000,
    )


class ShadowSettings(SettingsModel):
    """Trying out what choosing would change, without changing any answer."""

    subject: ClassVar[str] = "trying it out"

    shadow: float | None = option(
        None,
        "answer every request as the backend does, choose among several answers in the background "
        "for this percentage of requests, and report what that would have changed",
        "PERCENT",
        gt=0,
        le=100,
    )
    shadow_active: int = option(
        4, "how many requests are tried out at the same time; further ones are dropped", "N", ge=1
    )
    shadow_tokens: int = option(
        0, "how many tokens trying out may take in all; 0 means no limit", "N", ge=0
    )


class GatewaySettings(
    RequestSettings, BackendSettings, ShadowSettings, LimitSettings, WorkerSettings
):
    """How a gateway answers requests."""

    fallback_model: str = option(
        "",
        "the model of the backend that --when-held fallback asks",
        "NAME",
        subject="answers",
    )
    wave_timeout: float = option(
        60.0,
        "how many seconds the scores of one wave may take",
        "SECONDS",
        gt=0,
        subject="scorers",
    )
    request_seed: int | None = option(
        None, "seed of requests that have none, so that they can be repeated", "N"
    )
    api_keys: Path | None = option(
        None, "the file with the hashed keys of clients", "FILE", subject="clients", common=True
    )
    audit: Path | None = option(
        None, "append every decision to this file", "FILE", subject="clients"
    )
    audit_bytes: int = option(
        100 * MEGABYTE,
        "the size at which the audit file is rotated",
        "BYTES",
        subject="clients",
        ge=1,
    )


class AddressSettings(SettingsModel):
    """Where a service listens."""

    host: str = option("127.0.0.1", "the address to listen on", "ADDRESS", common=True)
    port: int = option(8000, "the port to listen on", "PORT", common=True, ge=0, le=65_535)


class ServeCommandSettings(
    GatewaySettings,
    SamplingSettings,
    ScorerSettings,
    DiscoverySettings,
    ListeningSettings,
    AddressSettings,
    CommandSettings,
):
    """The options of `darc serve`."""

    generator: str = same_option(
        GenerationSettings,
        "generator",
        text="the same as --backend, written as other commands take it",
        common=False,
    )
    processes: int = option(
        1,
        "how many processes answer requests; limits and metrics hold for all of them together",
        "N",
        subject="files and processes",
        ge=1,
        le=64,
    )
    make_key: str | None = option(
        None,
        "add a key for this client to the file of --api-keys, print the key, and end",
        "NAME",
        subject="clients",
    )
