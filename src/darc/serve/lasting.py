"""What a gateway keeps when its settings are read again."""

import asyncio
from dataclasses import dataclass, field

from darc.serve.audit import AuditLog
from darc.serve.backend_probe import BackendProbe
from darc.serve.metrics import Metrics
from darc.serve.model_labels import ModelLabels, keep_listed
from darc.serve.model_mix import ModelMix
from darc.serve.process_share import ProcessShare
from darc.serve.settings import ServeSettings
from darc.serve.shadows import ShadowUse
from darc.serve.tracing import Tracing
from darc.web.body_memory import BodyMemory
from darc.web.client_limits import ClientLimits, LocalClientLimits
from darc.web.request_gate import RequestGate
from darc.web.shared_gate import SharedGate


@dataclass
class LastingParts:
    """Backends, limits, counts and logs, which outlive a reading of the settings."""

    #: The models that write the candidates.
    mix: ModelMix
    probe: BackendProbe
    gate: RequestGate | SharedGate
    client_limits: ClientLimits
    body_memory: BodyMemory
    model_labels: ModelLabels
    audit_log: AuditLog | None
    tracing: Tracing
    #: Seconds between two looks at the models that the backend lists; 0 for none.
    model_list_seconds: float
    shadow_use: ShadowUse = field(default_factory=ShadowUse)
    metrics: Metrics = field(init=False)

    def __post_init__(self) -> None:
        """Count what the parts do."""
        self.metrics = Metrics(
            {
                "darc_requests_running": lambda: self.gate.running,
                "darc_requests_waiting": lambda: self.gate.waiting,
                "darc_backend_ready": lambda: float(self.backend_ready),
                "darc_shadows_running": lambda: self.shadow_use.running,
            }
        )

    @property
    def backend_ready(self) -> bool:
        """Whether the backend can be reached, and has not failed too often."""
        return self.probe.reachable and self.mix.ready()

    async def keep_labels(self) -> None:
        """Keep knowing the backend's models, which metrics have labels for."""
        if self.model_list_seconds <= 0:
            return
        while not self.probe.reachable:
            await asyncio.sleep(1)
        await keep_listed(self.model_labels, self._listed_models, self.model_list_seconds)

    async def aclose(self) -> None:
        """Release everything."""
        await asyncio.to_thread(self.tracing.close)
        await self.mix.aclose()

    async def _listed_models(self) -> list[str]:
        # Without the headers of a client: the backend is asked with its own key.
        models = await self.mix.list_models({})
        return [str(model.get("id")) for model in models]


def make_lasting_parts(
    settings: ServeSettings,
    mix: ModelMix,
    tracing: Tracing | None = None,
    share: ProcessShare | None = None,
) -> LastingParts:
    """Make what a gateway keeps.

    Args:
        settings: The settings that it starts with.
        mix: The models that write the candidates.
        tracing: What records spans; None for nothing.
        share: The share of this process where several answer requests; None if it is the only one.

    Raises:
        InputError: The audit log cannot be written.
    """
    gate: RequestGate | SharedGate = RequestGate(settings.active, settings.queue)
    client_limits: ClientLimits = LocalClientLimits()
    if share is not None:
        gate = share.gate(settings)
        client_limits = share.client_limits()
    audit_log = None
    if settings.audit is not None:
        audit_log = AuditLog(settings.audit, settings.audit_bytes, shared=share is not None)
    configured = [address.model for address in settings.addresses]
    return LastingParts(
        mix=mix,
        probe=BackendProbe(mix.urls()),
        gate=gate,
        client_limits=client_limits,
        body_memory=BodyMemory(settings.max_body_memory),
        model_labels=ModelLabels([settings.model, settings.fallback_model, *configured]),
        audit_log=audit_log,
        tracing=tracing or Tracing(),
        model_list_seconds=settings.model_list_seconds,
    )
