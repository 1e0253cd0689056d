"""The options of `darc check`."""

from darc.settings.general import CommandSettings, JsonSettings
from darc.settings.model import option, same_option
from darc.settings.serve import ServerModelSettings


class CheckSettings(JsonSettings, CommandSettings):
    """The options of `darc check`."""

    server: str = option(..., "the URL of the server, or MODEL@URL", "URL", positional=True)
    model: str = same_option(
        ServerModelSettings,
        "model",
        text="the model to try (default: the first that the server lists)",
    )
    reward_form: str = option(
        "",
        "how a reward model is called, where its path does not say it; such as plain",
        "FORM",
        common=True,
    )
    key_env: str = option(
        "OPENAI_API_KEY",
        "the environment variable that holds the key of the server",
        "NAME",
        common=True,
    )
    timeout: float = option(
        60.0,
        "how many seconds one call may take",
        "SECONDS",
        common=True,
        gt=0,
        allow_inf_nan=False,
    )
