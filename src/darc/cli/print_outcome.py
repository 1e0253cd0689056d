"""An outcome on a terminal, as a page and as a picture."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.engine.outcome import Outcome

NUMBERS = ("value", "mean", "sigma", "risk_premium")


def print_outcome(outcome: "Outcome") -> None:
    """Print the answer, then the candidates and why they were not chosen."""
    print(outcome.answer)
    print()
    decision = outcome.decision
    assert decision is not None
    statistics = decision.statistics
    order = np.argsort(-np.nan_to_num(statistics.value), kind="stable").tolist()
    rows: list[list[object]] = []
    for k in order:
        seen = int((~np.isnan(outcome.scores.values[:, k])).all(axis=0).sum())
        own = [float(getattr(statistics, name)[k]) for name in NUMBERS]
        numbers: list[object] = ["" if np.isnan(number) else f"{number:.3f}" for number in own]
        if decision.bounded is not None and decision.bounded[k]:
            numbers = [f"<{numbers[0]}", "", "", ""]
        opening = " ".join(outcome.candidates[k].text.split())[:34]
        name = outcome.candidates[k].name or k
        rows.append([name, *numbers, seen, outcome.why_not(k) or "chosen", opening])
    print(text_table(["", "value", "mean", "sigma", "premium", "scored", "", "begins"], rows))
    print()
    print(outcome.explain())
    if outcome.best_of_k is not None:
        print(outcome.beside_best_of_k())
    if outcome.limits:
        print(outcome.limits, file=sys.stderr)
    if "stopped_early" in outcome.flags:
        written, saved = len(outcome.candidates), outcome.saved
        told = f"wrote {written} of {written + saved} answers; {saved} were not worth their cost"
        print(told, file=sys.stderr)
    spent = ", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in outcome.milliseconds.items())
    if outcome.rated:
        print(_differing(outcome), file=sys.stderr)
    did = ("asked for", "grades") if outcome.rated else ("scored", "texts")
    print(f"{did[0]} {outcome.calls} of {outcome.most} {did[1]}; {spent}", file=sys.stderr)


def _differing(outcome: "Outcome") -> str:
    """How much raters differ on the choice, and from themselves."""
    told = outcome.panel()
    between, noise = told["disagreement"][outcome.index], told["noise"]
    words = "" if between is None else f"raters differ by {between:.2f} on the choice"
    own = "" if noise is None else f"each differs by {noise:.2f} from itself"
    return "; ".join(each for each in (words, own) if each) or "one grade each: nothing to compare"


def page_of(outcome: "Outcome", path: Path) -> None:
    """Write the outcome as a self-contained page."""
    from darc.files import atomic_writer

    with atomic_writer(path) as file:
        file.write(outcome.to_html())
    print(f"the page is {path}", file=sys.stderr)


def picture_of(outcome: "Outcome", path: Path) -> None:
    """Draw the decision to a file."""
    from darc.files import atomic_path
    from darc.views import check_picture, draw_plane, plane, save_figure

    check_picture(path)
    assert outcome.decision is not None
    figure = draw_plane(plane(outcome.decision, (), outcome.prompt.question[:70]))
    with atomic_path(path) as temporary:
        save_figure(figure, temporary)
    print(f"the picture is {path}", file=sys.stderr)
