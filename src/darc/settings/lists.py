"""The options of the small commands that list, show or clear something."""

from typing import Literal

from darc.settings.general import CommandSettings, JsonSettings
from darc.settings.model import option, same_option


class CacheSettings(JsonSettings, CommandSettings):
    """The options of `darc cache`."""

    clear: bool = option(False, "delete all scores", common=True)


class ListSettings(CommandSettings):
    """The options of `darc rules`, `darc scorers`, `darc rewriters` and `darc generators`."""

    as_json: bool = same_option(JsonSettings, "as_json", text="print one JSON object per line")


class ModelListSettings(ListSettings):
    """The options of `darc models list`."""


class ModelInstallSettings(ListSettings):
    """The options of `darc models install`."""

    name: str | None = option(
        None, "which model; `darc models list` shows them", "NAME", positional=True
    )


class CompletionSettings(CommandSettings):
    """The options of `darc completion`."""

    shell: Literal["bash", "zsh", "fish", "tcsh"] = option(
        ..., "the shell to complete commands in", positional=True
    )
