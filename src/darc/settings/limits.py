"""How much a service takes on: sizes, times and numbers of requests."""

from typing import ClassVar

from darc.settings.model import SettingsModel, option

MEGABYTE = 1_000_000


class ArrivalSettings(SettingsModel):
    """How large the headers of a request may be, and how long it may take to arrive.

    A body may pause for at most half of `body_timeout`.
    """

    subject: ClassVar[str] = "limits"

    max_header: int = option(65_536, "the largest size of all headers", "BYTES", gt=0)
    header_timeout: float = option(
        10.0, "how many seconds the headers may take to arrive", "SECONDS", gt=0
    )
    body_timeout: float = option(
        60.0, "how many seconds a body may take to arrive", "SECONDS", gt=0
    )


class ListeningSettings(ArrivalSettings):
    """Under which names a service is reached, and through which proxies."""

    subject: ClassVar[str] = "limits"

    trusted_proxies: tuple[str, ...] = option(
        (),
        "count clients by the address that this reverse proxy forwards; may be repeated",
        "ADDRESS[/BITS]",
        flag="--trusted-proxy",
    )
    allowed_hosts: tuple[str, ...] = option(
        (),
        "a further name under which the service is reached, such as that of a reverse proxy; may "
        "be repeated",
        "NAME",
        flag="--allowed-host",
    )
    grace: float = option(
        30.0, "how many seconds requests have to finish when the service stops", "SECONDS", ge=0
    )


class LimitSettings(SettingsModel):
    """How much a gateway does for its clients, and for one request."""

    subject: ClassVar[str] = "limits"

    rate: float = option(0.0, "requests per minute and client; 0 means no limit", "N", ge=0)
    active: int = option(64, "how many requests are answered at the same time", "N", ge=1)
    queue: int = option(256, "how many further requests may wait", "N", ge=0)
    max_body: int = option(4 * MEGABYTE, "the largest body of a request", "BYTES", ge=1)
    max_k: int = option(64, "the most candidates that a request may ask for", "K", ge=1)
    max_n_aug: int = option(
        32, "the most rewrites per candidate that a request may ask for", "N", ge=0
    )
    max_candidate_characters: int = option(
        100_000, "the longest text that is chosen among, in characters", "N", ge=1
    )
    max_work: int = option(
        4_000_000,
        "how many characters may be read for one choice: texts times (n_aug + 1), and prompts",
        "N",
        ge=1,
    )
    max_scores: int = option(50_000, "the most scores in a request to /v1/select", "N", ge=1)
    max_scored_candidates: int = option(
        1000, "the most candidates that a request to /v1/select may bring scores of", "K", ge=1
    )
    max_values: int = option(
        250_000, "the most values (texts, numbers, lists, objects) in a request", "N", ge=1
    )
    max_body_memory: int = option(
        512 * MEGABYTE,
        "how much memory the bodies of all requests may take at the same time",
        "BYTES",
        ge=1,
    )
    max_upstream_calls: int = option(
        0,
        "the most calls to all models for one request, including retries; 0 means no limit",
        "N",
        ge=0,
    )
    max_upstream_tokens: int = option(
        0, "the most tokens of all models for one request; 0 means no limit", "N", ge=0
    )
    max_answer: int = option(
        32 * MEGABYTE, "the largest answer of a backend that is not streamed", "BYTES", ge=1
    )
    max_line: int = option(
        4 * MEGABYTE, "the longest line in the stream of a backend", "BYTES", ge=1
    )
