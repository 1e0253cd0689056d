"""Meaning-preserving rewrites of an answer, and the filters that judge them."""

from darc.perturb.accept import FAMILIES, Perturbed, Rewriter, Slice, perturb, perturb_slice
from darc.perturb.filters import judge
from darc.perturb.llm_rewriter import LlmRewriter
from darc.perturb.rules_rewriter import RulesRewriter

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
