"""Models on torch and transformers, the extra `hf`; nothing heavy is imported before its use."""

from darc.models.transformers.generation import MODELS, TransformersModel
from darc.models.transformers.loading import Checkpoint, Loaded

__all__ = ["MODELS", "Checkpoint", "Loaded", "TransformersModel"]
