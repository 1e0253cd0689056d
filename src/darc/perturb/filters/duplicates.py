"""A rewrite must be new."""

from collections.abc import Iterable


def duplicate(original: str, rewrite: str, accepted: Iterable[str] = ()) -> str | None:
    """Why the rewrite is nothing new, or None; white space does not count."""
    plain = _normalised(rewrite)
    if plain == _normalised(original):
        return "duplicate: of the original"
    if any(plain == _normalised(other) for other in accepted):
        return "duplicate: of an accepted rewrite"
    return None


def _normalised(text: str) -> str:
    return " ".join(text.split())
