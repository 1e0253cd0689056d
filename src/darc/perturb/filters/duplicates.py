"""A rewrite must be new."""

ORIGINAL = "duplicate: of the original"
ACCEPTED = "duplicate: of an accepted rewrite"


def duplicate(original: str, rewrite: str) -> str | None:
    """Why the rewrite is nothing new, or None; white space does not count."""
    return ORIGINAL if normalised(rewrite) == normalised(original) else None


def normalised(text: str) -> str:
    """The text with one space for any white space."""
    return " ".join(text.split())
