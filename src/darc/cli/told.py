"""A story told on a terminal, as a page and as a picture."""

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.pipeline.story import Story

NUMBERS = ("value", "mean", "sigma", "risk_premium")


def print_story(story: "Story") -> None:
    """Print the answer, then the candidates and why they were not chosen."""
    print(story.answer)
    print()
    decision, statistics = story.decision, story.decision.statistics
    order = sorted(range(len(story.candidates)), key=lambda k: -np.nan_to_num(statistics.value[k]))
    rows: list[list[object]] = []
    for k in order:
        seen = int((~np.isnan(story.scores[:, k])).all(axis=0).sum())
        own = [float(getattr(statistics, name)[k]) for name in NUMBERS]
        numbers: list[object] = ["" if np.isnan(number) else f"{number:.3f}" for number in own]
        if decision.bounded is not None and decision.bounded[k]:
            numbers = [f"<{numbers[0]}", "", "", ""]
        opening = " ".join(story.candidates[k].text.split())[:34]
        rows.append([k, *numbers, seen, story.why_not(k) or "chosen", opening])
    print(text_table(["", "value", "mean", "sigma", "premium", "scored", "", "begins"], rows))
    print()
    print(decision.explain())
    spent = ", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in story.milliseconds.items())
    print(f"scored {story.calls} of {story.most} texts; {spent}", file=sys.stderr)


def page_of(story: "Story", path: Path) -> None:
    """Write the story as a self-contained page."""
    from darc.tables import atomic_writer
    from darc.views.decision_page import Shown, decision_page

    shown = []
    for k, candidate in enumerate(story.candidates):
        texts = [candidate.text, *(variant.text for variant in story.variants[k])]
        scores = [
            [None if np.isnan(x) else float(x) for x in story.scores[:, k, place]]
            for place in range(len(texts))
        ]
        refused = [(r.reason, r.text) for r in story.rejections if r.candidate == k]
        samples = list(zip(texts, scores, strict=True))
        shown.append(Shown(candidate.text, candidate.truncated, story.why_not(k), samples, refused))
    notes = [f"{story.calls} of {story.most} texts were scored; the others could not matter."]
    content = decision_page(
        story.prompt.question, story.decision, shown, story.scorers, _svg(story), notes
    )
    with atomic_writer(path) as file:
        file.write(content)
    print(f"the page is {path}", file=sys.stderr)


def picture_of(story: "Story", path: Path) -> None:
    """Draw the decision to a file."""
    from darc.tables.write import atomic_path
    from darc.views import check_picture, draw_plane, plane, save_figure

    check_picture(path)
    figure = draw_plane(plane(story.decision, (), story.prompt.question[:70]))
    with atomic_path(path) as temporary:
        save_figure(figure, temporary)
    print(f"the picture is {path}", file=sys.stderr)


def _svg(story: "Story") -> str:
    """The picture as an SVG element, or nothing without matplotlib."""
    from darc.errors import DarcError
    from darc.views import draw_plane, plane

    try:
        figure = draw_plane(plane(story.decision, (), ""))
    except DarcError:
        return ""
    file = io.StringIO()
    figure.savefig(file, format="svg")
    text = file.getvalue()
    return text[text.index("<svg") :]
