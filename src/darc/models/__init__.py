"""Models: the embedded language model, models on servers, and static embeddings."""

from darc.models.chat import chat_model
from darc.models.completion import ChatModel, Completion, Request
from darc.models.embedded import EmbeddedModel
from darc.models.embeddings import Embeddings
from darc.models.install import install
from darc.models.installed import CATALOGUE, DEFAULT, CatalogueEntry, Installed, find, require
from darc.models.remote import AsyncOpenAI, OpenAIModel

__all__ = [
    "CATALOGUE",
    "DEFAULT",
    "AsyncOpenAI",
    "CatalogueEntry",
    "ChatModel",
    "Completion",
    "EmbeddedModel",
    "Embeddings",
    "Installed",
    "OpenAIModel",
    "Request",
    "chat_model",
    "find",
    "install",
    "require",
]
