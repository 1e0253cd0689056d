"""Rewrites of an answer with the same meaning, and the filters that judge them."""

from darc.parts.rewriters.base import Rewriter
from darc.parts.rewriters.families import FAMILIES
from darc.parts.rewriters.filters import rejection_reason
from darc.parts.rewriters.llm_rewriter import LlmRewriter
from darc.parts.rewriters.rewriting import (
    Rewrites,
    RewritingState,
    continue_rewriting,
    rewrite_candidate,
)
from darc.parts.rewriters.rules_rewriter import RulesRewriter

__all__ = [
    "FAMILIES",
    "LlmRewriter",
    "Rewriter",
    "Rewrites",
    "RewritingState",
    "RulesRewriter",
    "continue_rewriting",
    "rejection_reason",
    "rewrite_candidate",
]
