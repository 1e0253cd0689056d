"""The length must fit the family."""

from darc.perturb.filters.reading import Reading

LIMITS = {"style": (0.9, 1.1), "targeted": (0.35, 1.1)}
# In a text of less than twenty words a contraction or two are more than a tenth, so that this much
# may always change.
_SLACK_WORDS = 2
_SLACK_CHARACTERS = 12


def length(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the length is out of range, or None; words and characters must both be within it."""
    low, high = LIMITS[family]
    counts = {
        "words": (original.length, rewrite.length, _SLACK_WORDS),
        "characters": (len(original.text), len(rewrite.text), _SLACK_CHARACTERS),
    }
    for unit, (before, after, slack) in counts.items():
        least, most = min(low * before, before - slack), max(high * before, before + slack)
        if not rewrite.text.strip() or not least <= after <= most:
            share = after / max(before, 1)
            return f"length: {share:.0%} of the {unit}, outside {low:.0%} to {high:.0%}"
    return None
