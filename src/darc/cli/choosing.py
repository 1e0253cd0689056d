"""What the settings of a command say about choosing: standards and parameters of the rule."""

from typing import TYPE_CHECKING, Any

from darc.cli.output import say

if TYPE_CHECKING:
    from darc.decide.standards import Standards
    from darc.settings.method import StandardsSettings


def standards_of(settings: "StandardsSettings") -> "Standards":
    """What counts as a good rating.

    Raises:
        InputError: If the scale is not two numbers, the lower one first.
    """
    from darc.decide.standards import as_standards

    return as_standards(
        settings.scale, settings.threshold, settings.no_rating_below, settings.poor_below
    )


def rule_parameters(caution: str | None) -> dict[str, Any]:
    """The parameters of the rule that have options of their own.

    Raises:
        InputError: If the caution is neither a known name nor a number from 0 up.
    """
    from darc.decide.caution import parse_caution

    if caution is None:
        return {}
    parse_caution(caution)
    return {"caution": caution}


def note_wording(sample: str) -> None:
    """Say that caution has next to no effect, where the samples are rewrites."""
    from darc.decide.explanation import WORDING_NOTE

    if sample == "rewrite":
        say(f"Note: {WORDING_NOTE}")
