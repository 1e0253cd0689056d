"""Small charts as SVG inside a page; their colours are the page's own, by day and by night."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from darc.study.agreement import Alpha

WIDTH, LEFT, RIGHT, TOP = 380, 40, 368, 14
POINTS = 400


def progress_chart(times: Sequence[float], total: int, now: float) -> str:
    """Valid ratings by time, up to how many are wanted."""
    height, base = 190, 158
    begin = min(times, default=now)
    end = max(now, begin + 1)

    def place(at: float, count: float) -> str:
        across = LEFT + (at - begin) / (end - begin) * (RIGHT - LEFT)
        return f"{across:.1f} {base - count / max(1, total) * (base - TOP):.1f}"

    ordered = sorted(times)
    every = max(1, len(ordered) // POINTS)
    steps = [f"M{place(begin, 0)}"]
    steps += [f"L{place(at, count)}" for count, at in enumerate(ordered, 1) if count % every == 0]
    steps.append(f"L{place(end, len(ordered))}")
    marks = "".join(
        _text(LEFT - 6, base - share * (base - TOP) + 4, f"{round(share * total)}", "end")
        + _grid(f"M{LEFT} {base - share * (base - TOP):.1f}H{RIGHT}")
        for share in (0.0, 0.5, 1.0)
    )
    drawn = (
        f'{marks}<path class="curve" d="{"".join(steps)}"/>'
        + _text(LEFT, base + 20, _clock(begin), "start")
        + _text(RIGHT, base + 20, _clock(end), "end")
    )
    return _figure(drawn, height, "Valid ratings by time", f"{len(times)} of {total} valid ratings")


def agreement_chart(rows: Mapping[str, Alpha]) -> str:
    """Krippendorff's alpha of each set of ratings, with its interval and customary limits."""
    height, least = 190, -0.2
    known = [alpha.low for alpha in rows.values() if alpha.alpha == alpha.alpha]
    least = min([least, *known])

    def across(value: float) -> float:
        return LEFT + (value - least) / (1 - least) * (RIGHT - LEFT)

    drawn = ""
    for value, name in (
        (0.0, "0: chance"),
        (0.667, "0.67: tentative"),
        (0.8, "0.8: reliable"),
        (1.0, "1"),
    ):
        drawn += _grid(f"M{across(value):.1f} {TOP}V150")
        drawn += _text(across(value), 168 if value != 0.8 else 184, name, "middle")
    for row, (name, alpha) in enumerate(rows.items()):
        level = 58 + 62 * row
        drawn += _text(8, level - 18, f"{name}: {alpha.words}", "start")
        if alpha.alpha == alpha.alpha:
            ends = across(alpha.low), across(alpha.high)
            drawn += f'<path class="curve" d="M{ends[0]:.1f} {level}H{ends[1]:.1f}"/>'
            drawn += f'<circle class="dot" cx="{across(alpha.alpha):.1f}" cy="{level}" r="6"/>'
    told = "; ".join(f"{name}: {alpha.words}" for name, alpha in rows.items())
    return _figure(drawn, height, "Krippendorff's alpha", told)


def bars(counts: Counter[float], values: Sequence[float], names: Sequence[str]) -> str:
    """A tiny bar for each of some values, read out by their names."""
    most = max([counts[value] for value in values], default=0)
    if not most:
        return ""
    drawn = "".join(
        f'<rect class="bar" x="{8 * place}" y="{24 - high:.1f}" width="6" height="{high:.1f}"/>'
        for place, value in enumerate(values)
        if (high := max(1.0, 24 * counts[value] / most))
    )
    told = ", ".join(
        f"{name}: {counts[value]}"
        for value, name in zip(values, names, strict=True)
        if counts[value]
    )
    size = 8 * len(values)
    return (
        f'<svg class="bars" viewBox="0 0 {size} 24" width="{size}" height="24" role="img" '
        f'aria-label="{escape(told)}"><title>{escape(told)}</title>{drawn}</svg>'
    )


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%d %b %H:%M")


def _figure(drawn: str, height: int, title: str, told: str) -> str:
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}: '
        f'{escape(told)}">{drawn}</svg></figure>'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _grid(path: str) -> str:
    return f'<path class="grid" d="{path}"/>'
