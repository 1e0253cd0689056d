"""Generators: from prompts to candidate answers."""

from darc.parts.generators.base import (
    Generator,
    GivenGenerator,
    SamplingParameters,
    candidate_seeds,
)
from darc.parts.generators.chat import ChatGenerator
from darc.parts.generators.deal import DealGenerator

__all__ = [
    "ChatGenerator",
    "DealGenerator",
    "Generator",
    "GivenGenerator",
    "SamplingParameters",
    "candidate_seeds",
]
