"""`darc serve`: an OpenAI-compatible gateway."""

import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.engines import say_cost
from darc.cli.first_model import EMBEDDED, find_model
from darc.cli.output import say
from darc.cli.sources import say_notes
from darc.cli.toy_model import toy_model_note
from darc.errors import InputError, extra_needed
from darc.settings.limits import ArrivalSettings
from darc.settings.serve import GatewaySettings, ServeCommandSettings
from darc.settings.validation import validate_settings

if TYPE_CHECKING:
    from darc.serve.service import Gateway
    from darc.serve.settings import ServeSettings


def run(settings: ServeCommandSettings) -> None:
    """Serve until the process is told to stop, or make a key."""
    if settings.make_key is not None:
        _make_key(settings.make_key, settings)
        return
    with extra_needed("darc serve", "serve"):
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    from darc.serve.app import make_app, make_gateway
    from darc.web.addresses import local_url, require_keys_if_public
    from darc.web.allowed_hosts import AllowedHosts
    from darc.web.logs import log_as_json
    from darc.web.server import listen, serve

    if settings.processes > 1 and os.name == "nt":
        raise InputError("--processes does not work on Windows", "leave it out")
    settings, on_found_server = _with_found_model(settings)
    read_settings = partial(gateway_settings_of, settings, forwards_client_keys=not on_found_server)
    gateway_settings = read_settings()
    if gateway_settings.calibrations is not None:
        say_notes(gateway_settings.calibrations)
    require_keys_if_public(settings.host, settings.api_keys is not None)
    gateway = make_gateway(gateway_settings)
    hosts = AllowedHosts(settings.host, settings.allowed_hosts)
    app = make_app(gateway_settings, gateway, hosts, read_settings)
    socket = listen(settings.host, settings.port)
    log_as_json(settings.log_level, key_env=gateway_settings.backend_key_env)
    source = " and ".join(gateway_settings.backend) or gateway_settings.embedded_model
    source = source or "the embedded model"
    url = local_url(settings.host, socket.getsockname()[1])
    say(f"serving {source}: open {url}/ in a browser, or give clients the base URL {url}/v1")
    say_room(gateway_settings, gateway)
    _log_notes(gateway_settings)
    if settings.processes > 1:
        from darc.cli.serve_processes import serve_in_processes

        serve_in_processes(settings, read_settings, gateway, socket)
    else:
        serve(app, socket, settings.grace, arrival_limits(settings), app.reload)


def arrival_limits(settings: ServeCommandSettings) -> ArrivalSettings:
    """The limits on the size and time of arriving requests."""
    return ArrivalSettings(
        max_header=settings.max_header,
        header_timeout=settings.header_timeout,
        body_timeout=settings.body_timeout,
    )


def _make_key(name: str, settings: ServeCommandSettings) -> None:
    """Add a key for a client to the file of keys, and print it."""
    from darc.web.keys import make_key

    if settings.api_keys is None:
        raise InputError("there is no file to add the key to", "give --api-keys FILE")
    print(make_key(settings.api_keys, name, settings.rate))
    say(f"its hash is in {settings.api_keys}; it is not shown again")


def _log_notes(settings: "ServeSettings") -> None:
    """Log what the user should know; every line after the first is JSON."""
    from darc.engine.surface_scorers import surface_note

    notes = [surface_note(settings.parts.scorers)]
    if not settings.backend and not settings.embedded_model:
        notes.append(toy_model_note("embedded", "darc serve", servers_only=True))
    for note in notes:
        if note:
            logging.getLogger("darc.serve").warning(note)


def say_room(settings: "ServeSettings", gateway: "Gateway") -> None:
    """Say what an answer costs with a panel, and what to raise where that is not allowed."""
    k = settings.k
    grades = say_cost(gateway.engine, k, wave=min(settings.wave, k))
    if not grades:
        return
    calls = grades + k
    if settings.shadow is not None:
        _say_shadow(settings, gateway, calls)
        return
    say(f"an answer takes at most {calls} backend calls: {k} that write answers, {grades} to grade")
    if settings.when_held in ("more", "fallback"):
        calls *= 2
        say(
            f"--when-held {settings.when_held}: where none of the {k} answers is good, {k} more "
            f"are written and graded, so that an answer takes at most {calls} calls in all"
        )
    limit = settings.max_upstream_calls
    if 0 < limit < calls:
        say(
            f"--max-upstream-calls {limit} is less than an answer may take: what is best by then "
            f"is chosen, and flagged; raise it to {calls} or more, or give a smaller --panel"
        )


def _say_shadow(settings: "ServeSettings", gateway: "Gateway", calls: int) -> None:
    """Say what is answered, and what trying a request out costs."""
    from darc.engine.panel_cost import estimate_panel_cost

    engine = gateway.engine
    comparing = estimate_panel_cost(engine.tools, engine.method, 2).most
    say(
        f"--shadow: answers are the backend's own, and {settings.shadow:g} % of requests are tried "
        f"out in the background, with at most {calls} calls to choose and {comparing} to compare"
    )
    if settings.audit is None:
        say("only /metrics shows what that finds; add --audit FILE for darc audit FILE")


def _with_found_model(settings: ServeCommandSettings) -> tuple[ServeCommandSettings, bool]:
    """The settings with a model that was found if none is named, and whether a server has it."""
    if {"backend", "generator"} & settings.model_fields_set:
        return settings, False
    model = find_model(settings, "--backend")
    return settings.model_copy(update={"generator": model.generator}), model.on_found_server


def gateway_settings_of(
    settings: ServeCommandSettings, forwards_client_keys: bool = True
) -> "ServeSettings":
    """The settings of the gateway, with its parts ready.

    Args:
        settings: The settings of the command.
        forwards_client_keys: Whether a client's key may be the backend's.
    """
    from darc.decide.model.calibration_file import as_calibrations
    from darc.engine.engine_options import parse_engine_options
    from darc.serve.settings import ServeSettings

    embedded_model = _embedded_model(settings)
    settings = _with_parsed_backend(settings)
    if settings.when_held == "fallback" and not settings.fallback_model:
        raise InputError(
            "--when-held fallback has no model to ask", "name one of the backend: --fallback-model"
        )
    keywords: dict[str, Any] = {}
    if settings.backend and not settings.panel and not settings.scorers:
        # The model of the backend is its own panel.
        keywords["panel"] = True
    options = parse_engine_options(settings, keywords)
    values = {name: getattr(settings, name) for name in GatewaySettings.model_fields}
    values |= {
        "parts": options.make_parts(options.choose_panel(None)),
        "calibrations": as_calibrations(settings.calibration),
        "trusted_proxies": settings.trusted_proxies,
        "embedded_model": embedded_model or "",
        "forwards_client_keys": forwards_client_keys,
    }
    return validate_settings(ServeSettings, values)


def _with_parsed_backend(settings: ServeCommandSettings) -> ServeCommandSettings:
    """Read a backend that is written as a generator: openai:MODEL@URL[,key_env=NAME], embedded."""
    from darc.serve.backend_addresses import parse_backends

    texts = settings.backend or (settings.generator,)
    if _embedded_model(settings) is not None:
        return settings.model_copy(update={"backend": ()})
    addresses = parse_backends(texts, settings.backend_key_env)
    if len(addresses) > 1:
        return settings.model_copy(update={"backend": texts})
    (address,) = addresses
    changes = {
        "backend": (address.url,),
        "model": settings.model or address.model,
        "backend_key_env": address.key_env,
    }
    return settings.model_copy(update=changes)


def _embedded_model(settings: ServeCommandSettings) -> str | None:
    """The name of the embedded model that answers, empty for the small one; None for servers."""
    from darc.registry import parse_spec

    texts = settings.backend or (settings.generator,)
    spec = parse_spec(texts[0])
    if len(texts) > 1 or spec.name != EMBEDDED:
        return None
    return spec.argument


COMMAND = Command(ServeCommandSettings, run, interrupted="the server has stopped")
