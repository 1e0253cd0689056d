"""Where the dots and the axis ticks of a dot picture stand."""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence

# Piles of dots do not become wider than this many dots.
MAX_COLUMNS = 4
MAX_TICKS = 8


def stack_dots(
    positions: Sequence[float], width: float, max_height: int
) -> tuple[list[float], list[int]]:
    """Place dots so that none covers another.

    Piles of equal values become several dots wide if they would be too tall and there is room
    between the values.

    Args:
        positions: The dots' positions along the axis, in rising order.
        width: The width of a dot.
        max_height: How many dots high a pile may be before it becomes wider.

    Returns:
        The positions along the axis, and the levels above it (0 is on the axis).
    """
    piles = Counter(positions)
    columns = _count_columns(piles, width, max_height)
    if columns == 1:
        return list(positions), _free_levels(positions, width)
    placed: Counter[float] = Counter()
    shifted = []
    levels = []
    for position in positions:
        level, column = divmod(placed[position], columns)
        dots_in_level = min(columns, piles[position] - level * columns)
        shifted.append(position + width * (column - (dots_in_level - 1) / 2))
        levels.append(level)
        placed[position] += 1
    return shifted, levels


def _count_columns(piles: Mapping[float, int], width: float, max_height: int) -> int:
    """How many dots wide the piles are."""
    distinct = sorted(piles)
    gaps = (right - left for left, right in itertools.pairwise(distinct))
    narrowest_gap = min(gaps, default=MAX_COLUMNS * width)
    room = int(0.75 * narrowest_gap / width)
    needed = math.ceil(max(piles.values(), default=0) / max_height)
    return max(1, min(room, needed, MAX_COLUMNS))


def _free_levels(positions: Sequence[float], width: float) -> list[int]:
    """The lowest level for each dot on which it covers no other."""
    # The last dot on each level; since positions rise, no earlier one is closer.
    last_positions: list[float] = []
    levels = []
    for position in positions:
        level = len(last_positions)
        for candidate, last in enumerate(last_positions):
            if position - last >= width * (1 - 1e-9):
                level = candidate
                break
        if level == len(last_positions):
            last_positions.append(position)
        last_positions[level] = position
        levels.append(level)
    return levels


def axis_ticks(low: float, high: float) -> list[float]:
    """At most `MAX_TICKS` round numbers along an axis from `low` to `high`."""
    smallest_step = (high - low) / (MAX_TICKS - 1)
    magnitude = 10.0 ** math.floor(math.log10(smallest_step))
    round_steps = (size * magnitude for size in (1, 2, 5, 10))
    step = next(step for step in round_steps if step >= smallest_step * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = [number * step for number in range(first, last + 1)]
    if len(ticks) < 2:
        return [low, high]
    return ticks
