"""`darc serve`: risk-constrained answers from an unchanged OpenAI client."""

import logging
from argparse import Namespace
from typing import TYPE_CHECKING

from darc.cli.choice import PanelOptions, ScorerOptions, add_panel, panel_of, parts_of, say_cost
from darc.cli.options import add_options, options_of
from darc.cli.output import say
from darc.cli.parser import Parser, add_arrival, add_calibration, arrival_of, calibrations_of
from darc.cli.toy_model import toy_model_note
from darc.engine.options import PeopleOptions
from darc.errors import InputError, extra_needed
from darc.settings.validation import validate_settings

if TYPE_CHECKING:
    from darc.serve.service import Gateway
    from darc.serve.settings import ServeSettings


ANSWERS = (
    "backend", "backend_key_env", "model", "backend_timeout", "concurrency", "attempts",
    "max_tokens",
)  # fmt: skip
RULE = (
    "rule", *PeopleOptions.model_fields, "when_held", "beta", "gamma", "k", "stop",
)  # fmt: skip
CHOICE = (
    "normalize",
    "workers",
    "search",
    "wave",
    "wave_timeout",
    "seed",
    "request_seed",
    "policy",
)
CLIENTS = (
    "api_keys", "rate", "active", "queue", "max_body", "max_k", "max_n_aug",
    "max_candidate_characters", "max_work", "max_scores", "max_upstream_calls",
    "max_upstream_tokens", "max_answer", "max_line", "audit", "audit_bytes",
)  # fmt: skip


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.serve.settings import ServeSettings

    parser.add_argument("--generator", default="embedded", help="as --backend")
    parser.add_argument("--host", default="127.0.0.1", help="address")
    parser.add_argument("--port", type=int, default=8000, help="of the service")
    add_options(parser.add_argument_group("answers"), ServeSettings, *ANSWERS)
    add_panel(parser)
    choice = parser.add_argument_group("choosing, where a request says nothing else")
    add_options(choice, ServeSettings, *RULE)
    add_calibration(choice)
    add_options(choice, ScorerOptions)
    add_options(choice, ServeSettings, *CHOICE)
    clients = parser.add_argument_group("clients")
    clients.add_argument("--make-key", metavar="NAME", help="add a key to the file, print it, end")
    add_options(clients, ServeSettings, *CLIENTS)
    add_arrival(clients)
    clients.add_argument("--grace", type=float, default=30.0, help="seconds to end")
    parser.set_defaults(interrupted="the server has stopped")


def run(arguments: Namespace) -> None:
    """Serve until it is told to stop, or make a key."""
    if arguments.make_key is not None:
        from darc.web.keys import make_key

        if arguments.api_keys is None:
            raise InputError("there is no file to add the key to", "give --api-keys FILE")
        print(make_key(arguments.api_keys, arguments.make_key, arguments.rate))
        say(f"its hash is in {arguments.api_keys}; it is not shown again")
        return
    with extra_needed("darc serve", "serve"):
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    from darc.engine.surface_scorers import surface_note
    from darc.serve.app import make_app, make_gateway
    from darc.web.addresses import local_url, require_keys_if_public
    from darc.web.allowed_hosts import AllowedHosts
    from darc.web.logs import log_as_json
    from darc.web.server import listen, serve

    settings = settings_of(arguments)
    require_keys_if_public(arguments.host, settings.api_keys is not None)
    limits = arrival_of(arguments)
    gateway = make_gateway(settings)
    app = make_app(settings, gateway, AllowedHosts(arguments.host, arguments.allowed_host))
    bound = listen(arguments.host, arguments.port)
    log_as_json(arguments.log_level, key_env=settings.backend_key_env)
    source = settings.backend or "the embedded model"
    url = local_url(arguments.host, bound.getsockname()[1])
    say(f"serving {source}: open {url}/ in a browser, or give clients the base URL {url}/v1")
    _say_room(settings, gateway)
    notes = [surface_note(settings.parts.scorers)]
    if not settings.backend:
        notes.append(toy_model_note("embedded", "darc serve", servers_only=True))
    # In the log, of which every line after the first is JSON.
    for note in filter(None, notes):
        logging.getLogger("darc.serve").warning(note)
    serve(app, bound, arguments.grace, limits)


def _say_room(settings: "ServeSettings", gateway: "Gateway") -> None:
    """Say what an answer costs with a panel, and what to raise where that is not allowed."""
    k, cap = settings.k, settings.max_upstream_calls
    most = say_cost(gateway.engine, k, wave=min(settings.wave, k))
    if not most:
        return
    calls = most + k
    if settings.when_held == "more":
        calls *= 2
        say(
            f"--when-held more: where none of the {k} answers is good, {k} more are written and "
            f"graded, so that an answer takes at most {calls} calls in all"
        )
    if 0 < cap < calls:
        say(
            f"--max-upstream-calls {cap} is less than an answer may take: what is best by then is "
            f"chosen, and flagged; raise it to {calls} or more, or give a smaller --panel"
        )


def settings_of(arguments: Namespace) -> "ServeSettings":
    """The settings that the options stand for."""
    from darc.serve.settings import ServeSettings

    _read_backend(arguments)
    options = validate_settings(ScorerOptions, options_of(arguments, ScorerOptions))
    raters = validate_settings(PanelOptions, options_of(arguments, PanelOptions))
    panel = panel_of(raters, options.scorer, bool(arguments.backend))
    own = {
        "parts": parts_of(options, panel, arguments.seed),
        "calibrations": calibrations_of(arguments),
        "trusted_proxies": tuple(arguments.trusted_proxy),
    }
    return validate_settings(ServeSettings, {**options_of(arguments, ServeSettings), **own})


def _read_backend(arguments: Namespace) -> None:
    """Take --backend also as generators are written: openai:MODEL@URL[,key_env=NAME], embedded."""
    from darc.models.remote.address import parse_address
    from darc.registry import parse_spec

    if not arguments.backend:
        arguments.backend = arguments.generator
    spec = parse_spec(arguments.backend)
    if spec.name == "embedded" and not spec.argument:
        arguments.backend = ""
    elif spec.name == "openai":
        model, arguments.backend = parse_address(spec.argument)
        arguments.model = arguments.model or model
        arguments.backend_key_env = spec.options.pop("key_env", arguments.backend_key_env)
        if spec.options:
            told = f"--backend takes no {min(spec.options)}"
            raise InputError(told, "darc serve --help lists the options of their own")
