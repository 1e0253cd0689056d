"""Models on torch and transformers, the extra `hf`; nothing heavy is imported before its use."""

from darc.models.transformers.generation import TransformersModel, load_chat
from darc.models.transformers.loading import Checkpoint, Loaded

__all__ = ["Checkpoint", "Loaded", "TransformersModel", "load_chat"]
