"""Whether commands look for a model server on this machine."""

import os
from collections.abc import Mapping
from typing import ClassVar

from darc.settings.model import SettingsModel, option

#: The environment variable that turns discovery off for all commands.
DISCOVERY_ENV = "DARC_DISCOVERY"
_OFF = ("0", "false", "no", "off")


class DiscoverySettings(SettingsModel):
    """Where commands that were not told of a model look for one."""

    subject: ClassVar[str] = "answers"

    discovery: bool = option(
        True,
        "without a generator, take the embedded model and do not look for a server on this "
        f"machine, a larger model or a key; {DISCOVERY_ENV}=0 does the same for all commands",
        flag="--no-discovery",
    )
    discovery_ports: tuple[int, ...] = option(
        (11434, 8080, 1234, 8000),
        "a port of this machine to look for a server on; may be repeated (default: 11434, 8080, "
        "1234 and 8000, where Ollama, llama.cpp, LM Studio and vLLM listen)",
        "PORT",
        flag="--discovery-port",
    )

    def wants_discovery(self, environment: Mapping[str, str] = os.environ) -> bool:
        """Whether to look for a model.

        Args:
            environment: The environment variables.
        """
        return self.discovery and environment.get(DISCOVERY_ENV, "").lower() not in _OFF
