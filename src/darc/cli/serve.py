"""`darc serve`: risk-constrained answers from an unchanged OpenAI client."""

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.choice import (
    FAMILIES,
    NORMALIZATIONS,
    SPEC,
    add_panel,
    add_rewrites,
    add_rule,
    add_stop,
    panel_of,
    say_cost,
)
from darc.cli.parser import (
    add_arrival,
    add_general,
    add_trusted_proxy,
    arrival_of,
    calibrations_of,
)

if TYPE_CHECKING:
    from darc.gateway.service import Gateway
    from darc.gateway.settings import Settings

DESCRIPTION = """\
Serve chat completions that a rule has chosen among several, for any OpenAI client: change its base
URL to this address. Answers come from the embedded model, or from a server behind --backend."""
EPILOG = """\
examples:
  darc models install; darc serve
  darc serve --backend http://localhost:8001/v1 -k 8 --panel 4
  darc serve --backend http://localhost:8001/v1 -k 8 --scorer judge:MODEL@http://localhost:8001/v1
  darc serve --make-key alice --api-keys keys.jsonl
  darc serve --host 0.0.0.0 --api-keys keys.jsonl --backend https://api.example.com/v1"""

LIMITS = (
    ("max-body", 4_000_000, "BYTES", "of a request"),
    ("max-k", 64, "K", "candidates that a request may ask for"),
    ("max-n-aug", 32, "N", "rewrites that a request may ask for"),
    ("max-candidate-characters", 100_000, "N", "of a text that is chosen among"),
    ("max-work", 4_000_000, "N", "characters read to choose: texts x (n_aug + 1), and prompts"),
    ("max-scores", 50_000, "N", "scores in a request to /v1/select"),
    ("max-upstream-calls", 0, "N", "calls to all models for a request, retries too; 0: any"),
    ("max-upstream-tokens", 0, "N", "tokens of all models for a request; 0: any"),
    ("max-answer", 32_000_000, "BYTES", "of a backend's answer that is not streamed"),
    ("max-line", 4_000_000, "BYTES", "of a line in a backend's stream"),
)


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="default: 8000")
    model = parser.add_argument_group("answers")
    model.add_argument(
        "--backend",
        default="",
        metavar="URL",
        help="an OpenAI-compatible server, or several of the same model: URL|URL",
    )
    model.add_argument(
        "--backend-key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="the environment variable with the backend's key (default: OPENAI_API_KEY)",
    )
    model.add_argument("--model", default="", help="for requests that name none")
    model.add_argument("--timeout", type=float, default=120.0, help="seconds (default: 120)")
    model.add_argument(
        "--concurrency", type=int, default=256, help="calls at a time to each URL (default: 256)"
    )
    model.add_argument("--attempts", type=int, default=6, help="of a call, in all (default: 6)")
    model.add_argument(
        "--max-tokens", type=int, default=320, help="of the embedded model (default: 320)"
    )
    add_panel(parser)
    choice = parser.add_argument_group("choosing, where a request says nothing else")
    add_rule(choice)
    choice.add_argument("-k", "--k", type=int, default=8, help="candidates (default: 8)")
    add_stop(choice)
    add_rewrites(choice)
    choice.add_argument(
        "--scorer",
        action="append",
        metavar=SPEC,
        help="see darc scorers (default: a panel with --backend, else relevance, fluency, form)",
    )
    choice.add_argument("--rewriter", default="rules", metavar=SPEC, help="see darc rewriters")
    choice.add_argument("--family", default="style", choices=FAMILIES, help="default: style")
    choice.add_argument("--no-guard", action="store_true", help="no comparison by embeddings")
    choice.add_argument("--side", action="append", metavar="NAME=SCORER", help="a side input")
    choice.add_argument("--normalize", default="auto", choices=NORMALIZATIONS, help="default: auto")
    choice.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes for rewriting and embedded scorers (default: one a core; 0: none)",
    )
    choice.add_argument("--wave", type=int, default=16, help="texts scored at once (default: 16)")
    choice.add_argument(
        "--scorer-timeout", type=float, default=60.0, help="seconds a wave (default: 60)"
    )
    choice.add_argument("--seed", type=int, help="makes requests without a seed repeatable")
    choice.add_argument(
        "--policy",
        default="open",
        choices=("open", "closed"),
        help="when a part fails: a flagged answer, or a 503 (default: open)",
    )
    safety = parser.add_argument_group("clients")
    safety.add_argument("--api-keys", type=Path, metavar="FILE", help="hashed keys of clients")
    safety.add_argument("--make-key", metavar="NAME", help="add a key to the file, print it, end")
    safety.add_argument("--rate", type=float, default=0.0, help="requests a minute and client")
    add_trusted_proxy(safety)
    safety.add_argument("--active", type=int, default=64, help="requests at a time (default: 64)")
    safety.add_argument("--queue", type=int, default=256, help="requests that wait (default: 256)")
    add_arrival(safety)
    for name, default, metavar, what in LIMITS:
        safety.add_argument(
            f"--{name}",
            type=int,
            default=default,
            metavar=metavar,
            help=f"{what} (default: {default})",
        )
    safety.add_argument("--audit", type=Path, metavar="FILE", help="append every decision")
    safety.add_argument(
        "--audit-bytes", type=int, default=100_000_000, metavar="BYTES", help="before it is rotated"
    )
    safety.add_argument("--grace", type=float, default=30.0, help="seconds to end (default: 30)")
    add_general(parser)
    parser.set_defaults(run=run, interrupted="the server has stopped")


def run(arguments: argparse.Namespace) -> None:
    """Serve until it is told to stop."""
    if arguments.make_key is not None:
        make(arguments)
        return
    from darc.errors import MissingExtra

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("darc serve", "serve") from None
    from darc.engine.parts import surface_note
    from darc.gateway.app import make_app, make_gateway
    from darc.web.logs import log_as_json
    from darc.web.middleware import Hosts
    from darc.web.server import check_address, listening, serve

    settings = settings_of(arguments)
    check_address(arguments.host, settings.api_keys is not None)
    limits = arrival_of(arguments)
    gateway = make_gateway(settings)
    app = make_app(settings, gateway, Hosts(arguments.host, arguments.allowed_host or ()))
    bound = listening(arguments.host, arguments.port)
    log_as_json(arguments.log_level, key_env=settings.backend_key_env)
    source = settings.backend or "the embedded model"
    port = bound.getsockname()[1]
    print(f"serving {source} on http://{arguments.host}:{port}/v1", file=sys.stderr, flush=True)
    _say_room(settings, gateway)
    note = "" if settings.parts.panel else surface_note(settings.parts.scorers)
    if note:
        # In the log, of which every line after the first is JSON.
        logging.getLogger("darc.gateway").warning(note)
    serve(app, bound, arguments.grace, limits)


def _say_room(settings: "Settings", gateway: "Gateway") -> None:
    """Say what an answer costs with a panel, and what to raise where that is not allowed."""
    k, cap = settings.k, settings.max_upstream_calls
    most = say_cost(gateway.engine, k, wave=min(settings.wave, k))
    if most and 0 < cap < most + k:
        print(
            f"--max-upstream-calls {cap} is less than an answer may take: what is best by then is "
            f"chosen, and flagged; raise it to {most + k} or more, or give a smaller --panel",
            file=sys.stderr,
            flush=True,
        )


def make(arguments: argparse.Namespace) -> None:
    """Print a new key, once, and add its hash to the file."""
    from darc.errors import InputError
    from darc.web.keys import make_key

    if arguments.api_keys is None:
        raise InputError("there is no file to add the key to", "give --api-keys FILE")
    print(make_key(arguments.api_keys, arguments.make_key, arguments.rate))
    print(f"its hash is in {arguments.api_keys}; it is not shown again", file=sys.stderr)


def settings_of(arguments: argparse.Namespace) -> "Settings":
    """The settings that the options stand for."""
    from darc.engine.parts import SCORERS, Parts
    from darc.gateway.settings import Settings
    from darc.registry.names import split_pairs

    same = (
        "backend", "backend_key_env", "model", "rule", "beta", "gamma", "normalize", "k", "wave",
        "workers", "stop",
        "policy", "seed", "max_tokens", "api_keys", "audit", "audit_bytes", "rate",
        "active", "queue", "concurrency", "timeout", "attempts", "scorer_timeout",
        *(name.replace("-", "_") for name, *_ in LIMITS),
    )  # fmt: skip
    panel = panel_of(arguments, bool(arguments.backend))
    parts = Parts(
        rewriter=arguments.rewriter,
        scorers=tuple(arguments.scorer or SCORERS),
        n_aug=arguments.n_aug,
        family=arguments.family,
        seed=arguments.seed or 0,
        guard=not arguments.no_guard,
        side=split_pairs(arguments.side or (), "--side"),
        include_original=not arguments.no_original,
        max_attempts=arguments.max_attempts,
        panel=panel,
        min_samples=arguments.min_samples,
    )
    return Settings(
        parts=parts,
        calibrations=calibrations_of(arguments),
        trusted_proxies=tuple(arguments.trusted_proxy),
        **{name: getattr(arguments, name) for name in same},
    )
