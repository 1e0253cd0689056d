"""The gateway as an ASGI application."""

import os
from collections.abc import Callable
from typing import Any

from starlette.routing import Router

from darc.engine.engine import Engine
from darc.engine.scoring import ScorerRetry
from darc.errors import InputError
from darc.models.remote.caller import REQUESTED_MODEL
from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.openai import OpenAIModel
from darc.models.remote.retry import RetryPolicy
from darc.serve.backend_addresses import BackendAddress
from darc.serve.backends import Backend
from darc.serve.embedded_backend import EmbeddedBackend
from darc.serve.lasting import LastingParts, make_lasting_parts
from darc.serve.model_mix import ModelMix, ModelShare
from darc.serve.process_share import ProcessShare
from darc.serve.reloading import ReloadableApp, Version
from darc.serve.remote_backend import RemoteBackend
from darc.serve.requests import RequestReader
from darc.serve.routes import GatewayRoutes
from darc.serve.service import Gateway
from darc.serve.settings import ServeSettings
from darc.serve.tracing import Tracing, make_tracer_provider
from darc.web.allowed_hosts import AllowedHosts
from darc.web.keys import Keys, read_keys
from darc.web.middleware.stack import Protection, protect
from darc.web.problems import Problem
from darc.web.trusted_proxies import TrustedProxies

# Which part of the concurrent calls to a backend shadows may make.
_SHADOW_CONCURRENCY = 4
_PUBLIC_PATHS = ("/healthz", "/readyz", "/openapi.json", "/v1")


def make_mix(settings: ServeSettings) -> ModelMix:
    """Make the backends: the servers of the settings, or the installed model without one.

    Raises:
        DarcError: No model is installed.
    """
    if settings.addresses:
        return ModelMix(
            [
                ModelShare(address.model, _make_remote(settings, address), address.share)
                for address in settings.addresses
            ]
        )
    from darc.models.embedded import open_installed

    backend = EmbeddedBackend(open_installed(settings.embedded_model), settings.max_tokens)
    return ModelMix([ModelShare("", backend)])


def make_gateway(
    settings: ServeSettings,
    backend: Backend | None = None,
    *,
    lasting: LastingParts | None = None,
    share: ProcessShare | None = None,
) -> Gateway:
    """Make a gateway; whatever is wrong with the settings is reported here, before it serves.

    Args:
        settings: The settings.
        backend: What writes the candidates; None for the one in the settings.
        lasting: What is kept of a gateway whose settings are read again; None for the first.
        share: The share of this process where several answer requests.

    Raises:
        InputError: The settings cannot be used.
    """
    try:
        method = RequestReader(settings).read_method({}).method
    except Problem as problem:
        raise InputError(problem.message) from None
    engine = Engine(
        **dict(settings.parts),
        judge=_make_judge(settings),
        rule=method,
        normalize=settings.normalize,
        search=settings.search,
        slate=settings.slate,
        adaptive=settings.adaptive,
        call_price=settings.call_price,
        workers=_worker_count(settings),
        retry=ScorerRetry(attempts=1, seconds=settings.wave_timeout),
    )
    if lasting is None:
        mix = ModelMix([ModelShare("", backend)]) if backend is not None else make_mix(settings)
        tracing = Tracing(make_tracer_provider())
        lasting = make_lasting_parts(settings, mix, tracing, share)
    gateway = Gateway(settings, engine, lasting)
    if settings.shadow is not None:
        gateway.add_shadows(make_mix(_settings_of_shadows(settings)))
    return gateway


def make_app(
    settings: ServeSettings,
    gateway: Gateway | None = None,
    hosts: AllowedHosts | None = None,
    read_settings: Callable[[], ServeSettings] | None = None,
    keys: Keys | None = None,
) -> ReloadableApp:
    """Make the application with everything around it.

    Args:
        settings: The settings.
        gateway: The gateway; None for one with these settings.
        hosts: The names that it answers to; None for those of the loopback interface.
        read_settings: Reads the settings again, when the application is told to reload.
        keys: The keys that it begins with; None for those in the file of the settings.

    Raises:
        InputError: The settings or the file of keys cannot be used.
    """
    if gateway is None:
        gateway = make_gateway(settings)
    if keys is None:
        keys = keys_of(settings)
    first = _make_version(gateway, hosts, keys)
    if read_settings is None:
        return ReloadableApp(first)
    lasting = gateway.lasting

    def load() -> Version:
        new_settings = read_settings()
        new_keys = keys_of(new_settings)
        new_gateway = make_gateway(new_settings, lasting=lasting)
        return _make_version(new_gateway, hosts, new_keys)

    return ReloadableApp(first, load)


def keys_of(settings: ServeSettings) -> Keys:
    """Read the keys that clients need; none if there is no file of keys.

    Raises:
        InputError: The file of keys cannot be used.
    """
    if settings.api_keys is None:
        return Keys()
    return read_keys(settings.api_keys)


def _make_version(gateway: Gateway, hosts: AllowedHosts | None, keys: Keys) -> Version:
    """The application of a gateway with everything around it."""
    settings = gateway.settings
    routes = GatewayRoutes(gateway)
    protection = Protection(
        hosts=hosts or AllowedHosts(),
        keys=keys,
        rate=settings.rate,
        limits=gateway.lasting.client_limits,
        proxies=TrustedProxies.parse(settings.trusted_proxies),
        public_paths=(*_PUBLIC_PATHS, *routes.page_files),
    )
    router = Router(routes.all(), default=routes.no_route)
    app = protect(router, protection, gateway.metrics.count_request)
    return Version(gateway, routes, app)


def _settings_of_shadows(settings: ServeSettings) -> ServeSettings:
    """The settings with fewer calls at the same time, so that live requests are not slowed down."""
    concurrency = max(1, settings.concurrency // _SHADOW_CONCURRENCY)
    return settings.model_copy(update={"concurrency": concurrency})


def _make_remote(settings: ServeSettings, address: BackendAddress) -> RemoteBackend:
    return RemoteBackend(
        address.url,
        max_bytes=settings.max_answer,
        max_line_bytes=settings.max_line,
        stream_seconds=settings.stream_timeout,
        **_client_options(settings, address),
    )


def _client_options(settings: ServeSettings, address: BackendAddress) -> dict[str, Any]:
    """How a backend is called, for candidates and for grades."""
    return {
        "key_env": address.key_env,
        "timeout": settings.backend_timeout,
        "concurrency": settings.concurrency,
        "retry": RetryPolicy(attempts=settings.attempts, seconds=30.0, first=0.25, longest=8.0),
        "breaker": BreakerSettings(threshold=20, cooldown=5.0),
    }


def _make_judge(settings: ServeSettings) -> OpenAIModel | None:
    """What grades for raters that name no model: the first backend."""
    if not (settings.addresses and settings.parts.panel):
        return None
    address = settings.addresses[0]
    options = _client_options(settings, address)
    return OpenAIModel(f"{REQUESTED_MODEL}@{address.url}", **options)


def _worker_count(settings: ServeSettings) -> int:
    if settings.workers is not None:
        return settings.workers
    return os.cpu_count() or 1
