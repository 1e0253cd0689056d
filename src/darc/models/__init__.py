"""Models that run in this process: the embedded language model and static embeddings."""

from darc.models.catalogue import CATALOGUE, DEFAULT, Model
from darc.models.completion import Completion, Request
from darc.models.embedded import EmbeddedModel
from darc.models.embeddings import Embeddings
from darc.models.install import install
from darc.models.installed import Installed, find, require

__all__ = [
    "CATALOGUE",
    "DEFAULT",
    "Completion",
    "EmbeddedModel",
    "Embeddings",
    "Installed",
    "Model",
    "Request",
    "find",
    "install",
    "require",
]
