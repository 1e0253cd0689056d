"""Generators: from prompts to candidate answers."""

from darc.generators.base import Generator, GivenGenerator, Settings, candidate_seeds
from darc.generators.chat import ChatGenerator
from darc.generators.deal import DealGenerator

__all__ = [
    "ChatGenerator",
    "DealGenerator",
    "Generator",
    "GivenGenerator",
    "Settings",
    "candidate_seeds",
]
