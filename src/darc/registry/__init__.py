"""Names for parts and rules: registries, entry points, and the specs that users write."""

from darc.registry.makers import (
    Maker,
    Makers,
    generator,
    generators,
    rewriter,
    rewriters,
    scorer,
    scorers,
)
from darc.registry.registry import Registry
from darc.registry.signatures import keywords_of, summary_of
from darc.registry.specs import Spec, parse_pairs, parse_spec, parse_value, split_pairs

__all__ = [
    "Maker",
    "Makers",
    "Registry",
    "Spec",
    "generator",
    "generators",
    "keywords_of",
    "parse_pairs",
    "parse_spec",
    "parse_value",
    "rewriter",
    "rewriters",
    "scorer",
    "scorers",
    "split_pairs",
    "summary_of",
]
