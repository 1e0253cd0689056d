"""The embedded scorers, which look at the wording of an answer and not at its truth."""

from collections.abc import Sequence

#: The names of the embedded scorers, which are also the scorers that are used by default.
SURFACE_SCORERS = ("relevance", "fluency", "form", "harm")


def surface_note(scorers: Sequence[str]) -> str:
    """Warn that only surface scorers decide.

    Args:
        scorers: The names of the scorers that decide, with or without options.

    Returns:
        The warning with two ways out; empty if another scorer decides too.
    """
    names = [scorer.partition(",")[0] for scorer in scorers]
    if not names or not set(names) <= set(SURFACE_SCORERS):
        return ""
    return (
        f"Only surface scorers decide here ({', '.join(names)}): they see wording, not truth. Add "
        "a judge or a panel of them (--scorer judge:MODEL@URL) or a reward model "
        "(--scorer reward:MODEL)."
    )
