"""`darc audit`: what the audit log of a gateway says."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import print_json, print_table
from darc.settings.audit import AuditSettings

if TYPE_CHECKING:
    from darc.analysis.audit_report import AuditReport, PartCost, ShadowCounts


def run(settings: AuditSettings) -> None:
    """Read the log, and print what it says."""
    from darc.analysis.audit_report import read_audit_report

    report = read_audit_report(settings.files)
    if settings.as_json:
        print_json(_json_fields(report))
        return
    if report.decisions or not report.shadow.shadows:
        print(f"decisions: {report.decisions}, none of the answers good in {report.held}")
    if report.models:
        print()
        _print_models(report)
    if report.shadow.shadows:
        print()
        print("\n".join(shadow_sentences(report.shadow)))


def _json_fields(report: "AuditReport") -> dict[str, Any]:
    fields = asdict(report)
    fields["shadow"].pop("differences")
    fields["shadow"]["difference"] = report.shadow.difference
    fields["shadow"]["interval"] = report.shadow.interval()
    return fields


def _print_models(report: "AuditReport") -> None:
    """Print how often each model was chosen, beside the candidates that it wrote."""
    chosen = sum(model.chosen for model in report.models.values())
    candidates = sum(model.candidates for model in report.models.values())
    rows: list[list[object]] = []
    for name, model in sorted(report.models.items(), key=lambda item: -item[1].chosen):
        rows.append(
            [
                name,
                f"{model.chosen} ({_percent(model.chosen, chosen)})",
                f"{model.candidates} ({_percent(model.candidates, candidates)})",
                model.requests,
                model.calls,
                model.tokens,
            ]
        )
    print_table(["model", "chosen", "candidates", "requests", "calls", "tokens"], rows)


def shadow_sentences(shadow: "ShadowCounts") -> list[str]:
    """Say what choosing would have changed, and at what cost.

    Args:
        shadow: The counts, of at least one shadow.

    Returns:
        One sentence per line.
    """
    changed = _percent(shadow.changed, shadow.shadows)
    lines = [
        f"tried out in the background: {shadow.shadows} requests",
        f"The answer would have changed in {shadow.changed} of them ({changed}).",
    ]
    if shadow.raters:
        lines.append(
            f"{shadow.unhappy_ordinary} of {shadow.raters} raters of these answers are unhappy "
            f"with the ordinary answer, and {shadow.unhappy_choice} with the choice: "
            f"{shadow.fewer} would have been less unhappy, and {shadow.more} more."
        )
    if shadow.difference is not None:
        lines.append(_difference_sentence(shadow))
    if "choosing" in shadow.cost:
        lines.append(
            f"Choosing takes {_cost_words(shadow.cost['choosing'])} per request; the ordinary "
            f"answer takes {_cost_words(shadow.cost['ordinary'])}."
        )
    if "comparing" in shadow.cost:
        cost = shadow.cost["comparing"]
        lines.append(
            f"Comparing the two, which only trying out does, took {_cost_words(cost)} per change."
        )
    return lines


def _difference_sentence(shadow: "ShadowCounts") -> str:
    interval = shadow.interval()
    points = 100 * (shadow.difference or 0.0)
    text = f"Over all requests, the share of unhappy raters falls by {points:.1f}"
    if interval is None:
        return f"{text} points."
    low, high = interval
    return f"{text} points (95 %: {100 * low:.1f} to {100 * high:.1f})."


def _cost_words(cost: "PartCost") -> str:
    shadows = cost.shadows
    calls = cost.calls / shadows
    tokens = cost.tokens / shadows
    seconds = cost.seconds / shadows
    return f"{calls:.1f} calls, {tokens:.0f} tokens and {seconds:.2f} s"


def _percent(part: int, whole: int) -> str:
    if not whole:
        return "-"
    return f"{100 * part / whole:.0f} %"


COMMAND = Command(AuditSettings, run)
