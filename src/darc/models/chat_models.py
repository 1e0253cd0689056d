"""Chat models as users write them."""

import asyncio
from functools import cached_property
from typing import Any

from darc.errors import InputError
from darc.models.completion import ChatModel

EMBEDDED = "embedded"

_TRANSFORMERS_PREFIX = "transformers:"


def chat_model(text: str = "", **options: Any) -> ChatModel:
    """Find the model that a text stands for; nothing is loaded or called yet.

    Args:
        text: "embedded" (or nothing), "embedded:NAME" of an installed model,
            "transformers:MODEL" or "MODEL@URL".
        options: Options of a server: `key_env`, `timeout`, `concurrency`.

    Returns:
        The model.

    Raises:
        InputError: There is no such model, or the embedded model is not installed.
    """
    name, _, argument = text.partition(":")
    if name in ("", EMBEDDED):
        from darc.models.embedded import open_installed

        return open_installed(argument)
    if text.startswith(_TRANSFORMERS_PREFIX):
        from darc.models.transformers import MODELS

        model: ChatModel = MODELS.make(text)
        return model
    from darc.models.remote.address import has_default_server
    from darc.models.remote.openai import OpenAIModel

    if "@" not in text and not has_default_server():
        raise InputError(
            f"there is no chat model {text!r}", "write embedded, transformers:MODEL or MODEL@URL"
        )
    return OpenAIModel(text, **options)


class ChatUser:
    """A base class for what uses a chat model.

    Args:
        model: The model, or how users write it.
        options: Options of a server; see `chat_model`.
    """

    def __init__(self, model: ChatModel | str, **options: Any) -> None:
        if isinstance(model, str):
            model = chat_model(model, **options)
        self.model = model
        self.remote: bool = getattr(model, "remote", False)

    @cached_property
    def model_version(self) -> str:
        """What the model's answers depend on: the hash of its weights, or its name and URL."""
        return str(getattr(self.model, "version", "") or self.model.name)

    def close(self) -> None:
        """Close the model, if it can be closed."""
        close = getattr(self.model, "close", None)
        if close is not None:
            close()

    async def aclose(self) -> None:
        """Close the model, from the loop that used it."""
        aclose = getattr(self.model, "aclose", None)
        if aclose is None:
            await asyncio.to_thread(self.close)
        else:
            await aclose()
