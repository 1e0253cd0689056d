"""Whether the parts in use know the language of what they are given."""

from collections.abc import Sequence

from darc.engine.surface_scorers import SURFACE_SCORERS
from darc.engine.tools import Tools
from darc.language.english import looks_foreign
from darc.types import Candidate, Prompt

NOT_ENGLISH = "not_english"
# These know English only, whatever else is in use beside them.
_ENGLISH_SCORERS = frozenset(SURFACE_SCORERS)
_ENGLISH_REWRITER = "rules"


def language_flags(
    tools: Tools, prompt: Prompt, candidates: Sequence[Candidate], n_aug: int
) -> list[str]:
    """Flag texts that are not English where a part in use knows English only.

    Args:
        tools: The rewriter and the scorers.
        prompt: The conversation; its last question counts.
        candidates: The answers.
        n_aug: How many rewrites of each answer are wanted; with 0 the rewriter is not in use.

    Returns:
        The flag `not_english`, or nothing. A panel of judges knows other languages and is never
        flagged.
    """
    if tools.panel is not None:
        return []
    uses_english_rewriter = n_aug > 0 and tools.rewriter.name == _ENGLISH_REWRITER
    uses_english_scorer = any(scorer.name in _ENGLISH_SCORERS for scorer in tools.scorers)
    if not (uses_english_rewriter or uses_english_scorer):
        return []
    answers = [candidate.text for candidate in candidates]
    if looks_foreign(prompt.question, answers):
        return [NOT_ENGLISH]
    return []
