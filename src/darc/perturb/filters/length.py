"""The length must fit the family."""

from darc.perturb.filters.reading import Reading

LIMITS = {"style": (0.9, 1.1), "targeted": (0.4, 1.1)}
# A single word in a short text is more than a tenth of it.
_SLACK_WORDS = 1
_SLACK_CHARACTERS = 8


def length(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the length is out of range, or None.

    Either words or characters must be within it, since a contraction changes the words alone.
    """
    low, high = LIMITS[family]
    words = _within(original.length, rewrite.length, low, high, _SLACK_WORDS)
    characters = _within(len(original.text), len(rewrite.text), low, high, _SLACK_CHARACTERS)
    if rewrite.text.strip() and (words or characters):
        return None
    share = len(rewrite.text) / max(len(original.text), 1)
    return f"length: {share:.0%} of the original, outside {low:.0%} to {high:.0%}"


def _within(before: int, after: int, low: float, high: float, slack: int) -> bool:
    return low * before - slack <= after <= high * before + slack
