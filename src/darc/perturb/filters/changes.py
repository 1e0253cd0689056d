"""The one sentence in which a filter says what changed."""

from collections import Counter


def difference(what: str, before: "Counter[str]", after: "Counter[str]") -> str | None:
    """What a multiset lost and gained, or None if nothing."""
    if dict.__eq__(before, after):  # many times faster than that of counters
        return None
    lost, gained = before - after, after - before
    parts = []
    if lost:
        parts.append(f"lost {_listed(lost)}")
    if gained:
        parts.append(f"gained {_listed(gained)}")
    return f"{what}: {', '.join(parts)}"


def _listed(items: "Counter[str]") -> str:
    names = sorted(items)
    shown = ", ".join(repr(name if len(name) < 40 else name[:37] + "...") for name in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")
