"""Stand-ins for what cannot be had in a test."""

from tests.fakes.openai_server import FakeServer, Fault, Received

__all__ = ["FakeServer", "Fault", "Received"]
