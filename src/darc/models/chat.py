"""Chat models as users write them."""

import os

from darc.errors import InputError
from darc.models.completion import ChatModel
from darc.models.embedded import EmbeddedModel
from darc.models.installed import require
from darc.models.remote.client import KEY
from darc.models.remote.endpoints import BASE_URL
from darc.models.remote.openai import OpenAIModel
from darc.models.transformers import load_chat

EMBEDDED = ("", "embedded")
TRANSFORMERS = "transformers:"


def chat_model(
    text: str = "", *, key_env: str = KEY, timeout: float = 120.0, concurrency: int = 16
) -> ChatModel:
    """The model that "embedded" (or nothing), "transformers:MODEL" or "MODEL@URL" stands for.

    The options are a server's. Nothing is loaded or asked yet, but the embedded model must be
    installed.
    """
    if text in EMBEDDED:
        return EmbeddedModel(require().path)
    if text.startswith(TRANSFORMERS):
        return load_chat(text.removeprefix(TRANSFORMERS))
    _check(text)
    return OpenAIModel(text, key_env=key_env, timeout=timeout, concurrency=concurrency)


def chat_version(text: str = "") -> str:
    """What the model's answers depend on: the hash of its weights, or its name and URL."""
    if text in EMBEDDED:
        return require().sha256
    if text.startswith(TRANSFORMERS):
        return load_chat(text.removeprefix(TRANSFORMERS)).version
    _check(text)
    return OpenAIModel(text).version


class ChatUser:
    """What asks a chat model, given as it is or as users write it; `served` is its version."""

    def __init__(self, model: ChatModel | str, *, key_env: str, timeout: float, concurrency: int):
        if isinstance(model, str):
            self.served = chat_version(model)
            model = chat_model(model, key_env=key_env, timeout=timeout, concurrency=concurrency)
        else:
            self.served = str(getattr(model, "version", model.name))
        self.model = model
        self.remote = isinstance(model, OpenAIModel)

    def close(self) -> None:
        """Close the model, where it can be closed."""
        close = getattr(self.model, "close", None)
        if close is not None:
            close()

    async def aclose(self) -> None:
        """Close the model, from the loop that used it."""
        if isinstance(self.model, OpenAIModel):
            await self.model.remote.aclose()
        else:
            self.close()


def _check(text: str) -> None:
    if not ("@" in text or os.environ.get(BASE_URL) or os.environ.get(KEY)):
        raise InputError(
            f"there is no chat model {text!r}", "write embedded, transformers:MODEL or MODEL@URL"
        )
