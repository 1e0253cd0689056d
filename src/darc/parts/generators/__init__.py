"""Generators: from prompts to candidate answers; importing this package registers them."""

from darc.parts.generators.base import Generator, SamplingParameters, candidate_seeds
from darc.parts.generators.chat import ChatGenerator
from darc.parts.generators.deal import DealGenerator
from darc.parts.generators.given import GivenGenerator

__all__ = [
    "ChatGenerator",
    "DealGenerator",
    "Generator",
    "GivenGenerator",
    "SamplingParameters",
    "candidate_seeds",
]
