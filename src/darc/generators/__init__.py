"""Generators: from prompts to candidate answers."""

from darc.generators.base import Generator, Settings, candidate_seeds
from darc.generators.embedded import EmbeddedGenerator
from darc.generators.openai import OpenAIGenerator

__all__ = ["EmbeddedGenerator", "Generator", "OpenAIGenerator", "Settings", "candidate_seeds"]
