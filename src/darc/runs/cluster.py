"""Where a distributed run works."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster, and what each worker on it gets."""

    #: The address of the cluster; None for RAY_ADDRESS, or else this machine.
    address: str | None = None
    #: CPUs per worker.
    cpus: float = 1
    #: GPUs per actor.
    gpus: float = 0.0
    #: How many actors to keep; 0 runs tasks, as many as there are CPUs.
    actors: int = 0
