"""A dot strip: a few samples on a line, as a small SVG element without scripts or styles."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, SIDE, LABEL = 320, 12, 64
STEP, RADIUS, TALL = 7.0, 3.6, 5


@dataclass(frozen=True)
class StripRow:
    """Samples under a name; `hollow` ones are drawn as open squares, others as filled dots."""

    name: str
    values: Sequence[float]
    hollow: bool = False


def strip(rows: Sequence[StripRow], low: float, high: float, label: str) -> str:
    """An SVG element with a line of dots for each row on the scale [low, high].

    Equal samples are stacked; a bar marks each row's mean. `label` is what is read out.
    """
    wide = (high - low) or 1.0
    parts, bottom = [], 0.0
    for row in rows:
        places = [
            LABEL + SIDE + (WIDTH - LABEL - 2 * SIDE) * (value - low) / wide for value in row.values
        ]
        stacks = _stacks(places)
        most = max([1, *(level + 1 for level in stacks)])
        step = STEP if most <= TALL else STEP * TALL / most
        floor = bottom + 9 + step * (most - 1) + RADIUS
        parts.append(
            f'<text x="0" y="{floor + 4:.1f}" font-size="11" fill="#5a6573">{escape(row.name)}'
            "</text>"
            f'<line x1="{LABEL}" y1="{floor + 5:.1f}" x2="{WIDTH}" y2="{floor + 5:.1f}" '
            'stroke="#d8dee6"/>'
        )
        for x, level in zip(places, stacks, strict=True):
            parts.append(_dot(x, floor - step * level, row.hollow))
        if places:
            mean = sum(places) / len(places)
            parts.append(
                f'<line x1="{mean:.1f}" x2="{mean:.1f}" y1="{floor + 2.5:.1f}" '
                f'y2="{floor + 10:.1f}" '
                'stroke="#1f2933" stroke-width="2.4"/>'
            )
        bottom = floor + 11
    ends = (
        f'<text x="{LABEL}" y="{bottom + 10:.1f}" font-size="10" fill="#5a6573">{low:.3g}</text>'
        f'<text x="{WIDTH}" y="{bottom + 10:.1f}" font-size="10" fill="#5a6573" '
        f'text-anchor="end">{high:.3g}</text>'
    )
    height = bottom + 14
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}">{"".join(parts)}{ends}</svg>'
    )


def _dot(x: float, y: float, hollow: bool) -> str:
    if hollow:
        side = 2 * RADIUS - 1
        return (
            f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" '
            f'height="{side:.1f}" fill="#ffffff" stroke="#c2571a" stroke-width="1.4"/>'
        )
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS - 0.4:.1f}" fill="#0b6fa4"/>'


def _stacks(places: Sequence[float]) -> list[int]:
    """How high each dot stands: above all earlier ones that it would cover."""
    stood: list[tuple[float, int]] = []
    result = []
    for place in places:
        near = {level for x, level in stood if abs(x - place) < 2 * RADIUS - 1}
        level = next(each for each in range(len(stood) + 1) if each not in near)
        stood.append((place, level))
        result.append(level)
    return result
