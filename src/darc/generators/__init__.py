"""Generators: from prompts to candidate answers."""

from darc.generators.base import Generator, Settings, candidate_seeds
from darc.generators.embedded import EmbeddedGenerator

__all__ = ["EmbeddedGenerator", "Generator", "Settings", "candidate_seeds"]
