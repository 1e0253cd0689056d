"""Models on torch and transformers, the extra `hf`; nothing heavy is imported before its use."""

from darc.models.transformers.loading import Checkpoint, Loaded
from darc.models.transformers.model import TransformersModel, load_chat

__all__ = ["Checkpoint", "Loaded", "TransformersModel", "load_chat"]
