"""Meaning-preserving rewrites of an answer, and the filters that judge them."""

from darc.parts.rewriters.accept import FAMILIES, Perturbed, Slice, perturb, perturb_slice
from darc.parts.rewriters.base import Rewriter
from darc.parts.rewriters.filters import judge
from darc.parts.rewriters.llm_rewriter import LlmRewriter
from darc.parts.rewriters.rules_rewriter import RulesRewriter

__all__ = [
    "FAMILIES",
    "LlmRewriter",
    "Perturbed",
    "Rewriter",
    "RulesRewriter",
    "Slice",
    "judge",
    "perturb",
    "perturb_slice",
]
