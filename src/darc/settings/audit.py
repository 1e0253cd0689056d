"""The options of `darc audit`."""

from pathlib import Path

from darc.settings.general import CommandSettings, JsonSettings
from darc.settings.model import option


class AuditSettings(JsonSettings, CommandSettings):
    """The options of `darc audit`."""

    files: tuple[Path, ...] = option(
        ...,
        "the audit log of a gateway, with its rotated files if there are any",
        "FILE",
        positional=True,
        nargs="+",
    )
