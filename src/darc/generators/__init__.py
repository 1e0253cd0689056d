"""Generators: from prompts to candidate answers."""

from darc.generators.base import Generator, Settings, candidate_seeds
from darc.generators.deal import DealGenerator
from darc.generators.embedded import EmbeddedGenerator
from darc.generators.given import GivenGenerator
from darc.generators.openai import OpenAIGenerator
from darc.generators.transformers import TransformersGenerator

__all__ = [
    "DealGenerator",
    "EmbeddedGenerator",
    "Generator",
    "GivenGenerator",
    "OpenAIGenerator",
    "Settings",
    "TransformersGenerator",
    "candidate_seeds",
]
