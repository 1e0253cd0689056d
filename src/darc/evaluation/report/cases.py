"""The gallery as HTML."""

from darc.evaluation.report.gallery import Case, Gallery, Pick
from darc.views.page import element
from darc.views.strip import Row, strip

CLIP = 700
MOST_SCORERS = 4


def gallery_section(gallery: Gallery) -> str:
    """The cases of one source, gains first."""
    parts = [element("h3", f"{gallery.source}: {gallery.rule} against Best-of-K")]
    said = (
        f"In the first split {gallery.rule} chose differently on {gallery.changed} of "
        f"{gallery.prompts} prompts."
    )
    if gallery.changed:
        said += (
            f" Below are the largest gains and the largest losses by held-out {gallery.measure}. "
            "Dots are the samples that selected, open squares those that judged; the bar is "
            "their mean."
        )
    parts.append(element("p", said))
    for title, cases in (("Gains", gallery.gains), ("Losses", gallery.losses)):
        if cases:
            parts.append(element("h4", title))
            parts += [_case(gallery, case) for case in cases]
    return "".join(parts)


def _case(gallery: Gallery, case: Case) -> str:
    question = element("p", _clipped(case.question), kind="text") if case.question else ""
    sides = "".join(
        f'<div class="pick">{element("p", f"{who}: {pick.candidate_id}", kind="who")}'
        f"{_strips(gallery, case, pick)}"
        f"{element('p', _clipped(pick.text), kind='text') if pick.text else ''}</div>"
        for who, pick in (("Best-of-K", case.base), (gallery.rule, case.ours))
    )
    head = element(
        "p", f"{case.prompt_id}: {gallery.measure} {_change(case.gain)}", kind="case-head"
    )
    return f'<div class="case">{head}{question}<div class="pair">{sides}</div></div>'


def _change(gain: float) -> str:
    return f"{gain:+.3f}" if gain == gain else "unknown"


def _strips(gallery: Gallery, case: Case, pick: Pick) -> str:
    """A strip a scorer; selection and evaluation share a strip where they share the scale."""
    if gallery.scorers == gallery.judges:
        names = gallery.scorers[:MOST_SCORERS]
        strips = []
        for m, name in enumerate(names):
            every = [
                value
                for each in (case.base, case.ours)
                for value in (*each.select[m], *each.judge[m])
            ]
            rows = [Row("selects", pick.select[m]), Row("judges", pick.judge[m], hollow=True)]
            strips.append(_strip(name, rows, every))
        return "".join(strips)
    return "".join(
        _side(case, pick, names[:MOST_SCORERS], judges)
        for names, judges in ((gallery.scorers, False), (gallery.judges, True))
    )


def _side(case: Case, pick: Pick, names: list[str], judges: bool) -> str:
    strips = []
    for m, name in enumerate(names):
        both = [(each.judge if judges else each.select)[m] for each in (case.base, case.ours)]
        own = (pick.judge if judges else pick.select)[m]
        row = Row("judges" if judges else "selects", own, hollow=judges)
        strips.append(_strip(name, [row], [value for each in both for value in each]))
    return "".join(strips)


def _strip(name: str, rows: list[Row], every: list[float]) -> str:
    if not every:
        return ""
    label = "; ".join(f"{row.name}: {_numbers(row)}" for row in rows)
    title = element("p", name, kind="pale scorer") if name else ""
    return title + strip(rows, min(every), max(every), f"{name} {label}".strip())


def _numbers(row: Row) -> str:
    return ", ".join(f"{value:.3g}" for value in row.values)


def _clipped(text: str) -> str:
    return text if len(text) <= CLIP else f"{text[:CLIP]}… ({len(text) - CLIP} more characters)"
