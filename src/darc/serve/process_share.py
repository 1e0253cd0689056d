"""What one of several processes of a gateway has of the whole."""

from dataclasses import dataclass
from pathlib import Path

from darc.serve.settings import ServeSettings
from darc.web.shared_client_limits import SharedClientLimits
from darc.web.shared_gate import SharedGate


@dataclass(frozen=True)
class ProcessShare:
    """Which process this is, and the folder that all of them share."""

    folder: Path
    #: How many processes there are.
    processes: int
    #: Which of them this is, from 0.
    place: int

    @property
    def metrics_folder(self) -> Path:
        """Where the processes keep what they count."""
        return self.folder / "metrics"

    def gate(self, settings: ServeSettings) -> SharedGate:
        """The gate of all processes."""
        path = self.folder / "gate"
        return SharedGate(path, self.processes, self.place, settings.active, settings.queue)

    def client_limits(self) -> SharedClientLimits:
        """The limits on clients of all processes."""
        return SharedClientLimits(self.folder / "clients", self.processes, self.place)

    def limit_settings(self, settings: ServeSettings, cores: int) -> ServeSettings:
        """The settings of one process: its part of what is not counted over all of them.

        Args:
            settings: The settings of the gateway.
            cores: How many processors there are.
        """
        workers = cores if settings.workers is None else settings.workers
        if workers:
            workers = max(1, workers // self.processes)
        return settings.model_copy(
            update={
                "workers": workers,
                "concurrency": max(1, settings.concurrency // self.processes),
                "max_body_memory": max(1, settings.max_body_memory // self.processes),
                "shadow_active": max(1, settings.shadow_active // self.processes),
                "shadow_tokens": -(-settings.shadow_tokens // self.processes),
            }
        )
