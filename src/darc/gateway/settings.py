"""What a gateway is told when it starts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darc.engine.deciding import Calibrations, parse_rules
from darc.engine.parts import Parts
from darc.engine.stopping import parse_stop
from darc.errors import InputError
from darc.models.remote.client import KEY
from darc.registry import DEFAULT_RULE

POLICIES = ("open", "closed")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Settings:
    """Where answers come from, how they are chosen, and how much is done at a time.

    Without a `backend` URL the embedded model answers. `rule`, `beta`, `gamma`, `k` and
    `parts.n_aug` are what a request gets that says nothing else, and `calibrations` what the rule
    `auto` goes by; with `parts.panel` raters grade, by the backend's own model where they name
    none. `workers` is how many processes
    rewrite and score (None: one a core; 0: none, threads do), `wave` how many texts the lazy search
    has scored at a time, `stop` when no more candidates are made. `seed` makes requests without one
    repeatable. Times are in seconds, `rate` is requests a minute and client (0: no limit;
    `trusted_proxies` name the client where they pass a request on). `keep_alive` is the time before
    a stream begins, and between its comments, while nothing is chosen yet.

    `max_k`, `max_n_aug` and `max_scores` bound what a request may ask for, `max_body` its bytes,
    `max_candidate_characters` each text that is chosen among, and `max_work` the characters that
    are read to choose. `max_upstream_calls` and `max_upstream_tokens` (0: no limit) bound what is
    asked of all models for a request, retries included. `max_answer` bounds the bytes of a
    backend's answer that are held, and `max_line` those of a line in its stream.
    """

    backend: str = ""
    backend_key_env: str = KEY
    model: str = ""
    rule: str = DEFAULT_RULE
    calibrations: Calibrations | None = None
    beta: float = 1.0
    gamma: float = 1.0
    normalize: str = "auto"
    k: int = 8
    parts: Parts = field(default_factory=Parts)
    workers: int | None = None
    wave: int = 16
    policy: str = "open"
    stop: str = "none"
    seed: int | None = None
    max_k: int = 64
    max_n_aug: int = 32
    max_candidate_characters: int = 100_000
    max_work: int = 4_000_000
    max_scores: int = 50_000
    max_upstream_calls: int = 0
    max_upstream_tokens: int = 0
    max_tokens: int = 320
    api_keys: Path | None = None
    audit: Path | None = None
    audit_bytes: int = 100 * MEGABYTE
    max_body: int = 4 * MEGABYTE
    max_answer: int = 32 * MEGABYTE
    max_line: int = 4 * MEGABYTE
    rate: float = 0.0
    trusted_proxies: tuple[str, ...] = ()
    active: int = 64
    queue: int = 256
    concurrency: int = 256
    timeout: float = 120.0
    scorer_timeout: float = 60.0
    attempts: int = 6
    keep_alive: float = 5.0

    def __post_init__(self) -> None:
        """Refuse what cannot be served by."""
        least: dict[str, Any] = {
            "k": 1, "wave": 1, "max_k": 1, "max_tokens": 1, "max_body": 1, "active": 1,
            "max_answer": 1, "max_line": 1, "max_n_aug": 0, "max_candidate_characters": 1,
            "max_work": 1, "max_scores": 1, "max_upstream_calls": 0, "max_upstream_tokens": 0,
            "concurrency": 1, "attempts": 1, "queue": 0, "rate": 0, "audit_bytes": 1,
        }  # fmt: skip
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise InputError(f"{name} is {getattr(self, name)}", f"give at least {bound}")
        for name, asked, most in (
            ("k", self.k, self.max_k),
            ("n_aug", self.parts.n_aug, self.max_n_aug),
        ):
            if asked > most:
                raise InputError(f"{name} is {asked}, over max_{name}, {most}", f"raise max_{name}")
        parse_stop(self.stop)
        if self.calibrations is not None:
            parse_rules([self.rule], {}, calibrations=self.calibrations)
        if self.workers is not None and self.workers < 0:
            raise InputError(f"workers is {self.workers}", "give 0 or more")
        if self.policy not in POLICIES:
            raise InputError(f"policy is {self.policy!r}", f"one of {', '.join(POLICIES)}")
        if not min(self.timeout, self.keep_alive, self.scorer_timeout) > 0:
            raise InputError("a time-out is not over 0", "120 seconds are usual")
