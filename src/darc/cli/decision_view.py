"""How a decision is printed: what people think of the answers first, the numbers on demand."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from darc.cli.output import print_table
from darc.views.terminal import bold

if TYPE_CHECKING:
    from darc.decide.decision import Decision
    from darc.decide.opinions import Opinions
    from darc.decide.standards import Standards

NUMBERS = ("value", "mean", "sigma", "risk_premium")
TITLES = ("value", "mean", "sigma", "premium")
HELD = "None of these answers is good."
Row = list[object]


def unhappy_definition(standards: "Standards") -> str:
    """Who counts as unhappy, and which options say otherwise."""
    if standards.threshold is not None:
        return f"unhappy: below {standards.threshold:g}"
    if standards.scale is not None:
        low, high = standards.scale
        return (
            f"unhappy: below {standards.middle:g}, the middle of the scale {low:g} to {high:g}; "
            "--scale and --threshold say otherwise"
        )
    return (
        "clearly lower: more than one standard deviation below the prompt's average rating; "
        "--scale or --threshold say who is unhappy"
    )


def unhappy_title(known_scale: bool) -> str:
    """The heading above how many people are unhappy, or rate an answer clearly lower."""
    return "unhappy" if known_scale else "clearly lower"


def explanation_of(
    decision: "Decision", flags: Sequence[str] | None = None, details: bool = False
) -> str:
    """Why an answer was chosen, and what to know about it besides that none is good.

    Args:
        decision: The decision.
        flags: What to know about it, the decision's own flags by default.
        details: Add the numbers that the rule compared.
    """
    from darc.decide.explanation import explain
    from darc.decide.flags import flag_words
    from darc.decide.number_words import numbers_in_words
    from darc.engine.flags import FLAG_SENTENCES

    sentences = [explain(decision)]
    for flag in decision.flags if flags is None else flags:
        if flag != "held":
            words = flag_words(flag, FLAG_SENTENCES)
            sentences.append(f"{words[0].upper()}{words[1:]}.")
    if details:
        sentences.append(f"In numbers: {numbers_in_words(decision)}.")
    return " ".join(sentences)


def print_held(decision: "Decision") -> None:
    """Say that none of the answers is good, where that is so, on lines of their own."""
    if decision.held:
        print(bold(HELD))
        print()


def print_answers(
    decision: "Decision",
    chosen_by: Mapping[int, Sequence[str]],
    columns: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Print the answers to one prompt with what people think of each, the best mean first.

    Args:
        decision: The decision whose samples are shown.
        chosen_by: The names of the rules that chose a candidate, by its place.
        columns: Further columns by their titles, with a text for each candidate.
    """
    opinions = decision.opinions
    if opinions is not None:
        header = ["answer", "mean", unhappy_title(opinions.known_scale), "ratings", "chosen by"]
    elif _is_about_wording(decision):
        header = ["answer", "mean", "spread over wordings", "chosen by"]
    else:
        header = ["answer", "mean", "spread", "chosen by"]
    rows = []
    for k in in_order(decision):
        remarks = [*chosen_by.get(k, ())]
        status = status_of(decision, k)
        if status:
            remarks.append(status)
        row = [*_numbers(decision, opinions, k), ", ".join(remarks)]
        further = [texts[k] for texts in (columns or {}).values()]
        rows.append([decision.labels.candidate(k), *row, *further])
    print_table([*header, *(columns or ())], rows)


def print_details(decision: "Decision", reasons: Sequence[str] | None = None) -> None:
    """Print the numbers that the rule compared, the largest value first.

    Args:
        decision: The decision.
        reasons: Why each candidate was not chosen, None where that is not told.
    """
    statistics = decision.statistics
    rows = []
    by_value = sorted(in_order(decision), key=lambda k: -_value(decision, k))
    for k in sorted(by_value, key=lambda k: _is_early(decision, k)):
        numbers: Row = [None] * len(NUMBERS)
        if not _is_early(decision, k):
            numbers = [float(getattr(statistics, name)[k]) for name in NUMBERS]
        feasible = "yes" if decision.feasible[k] else "no"
        row = [decision.labels.candidate(k), *numbers, _seen(decision, k), feasible]
        rows.append(row if reasons is None else [*row, reasons[k]])
    header = ["answer", *TITLES, f"{_noun(decision)}s", "feasible"]
    print_table(header if reasons is None else [*header, ""], rows)


def in_order(decision: "Decision") -> list[int]:
    """The candidates by their means, the highest first; those ruled out early come last."""
    names = decision.labels.candidates
    present = decision.pools.present[0]
    # In a batch, prompts with fewer candidates are padded with some that have no name.
    candidates = [k for k in range(len(present)) if present[k] or names is None or names[k]]
    mean = np.nan_to_num(decision.statistics.mean, nan=-np.inf)
    return sorted(candidates, key=lambda k: (_is_early(decision, k), -mean[k]))


def status_of(decision: "Decision", candidate: int) -> str:
    """Why a candidate could not be chosen, in a few words; empty where it could."""
    pools = decision.pools
    noun = _noun(decision)
    if _is_early(decision, candidate):
        return f"ruled out early, after {_seen(decision, candidate)} of {pools.shape[3]} {noun}s"
    if pools.left_out[0, candidate]:
        return f"too few {'rewrites' if _is_about_wording(decision) else 'ratings'}"
    floor = pools.standards.no_rating_below
    if floor is not None and not pools.eligible[0, candidate]:
        return f"has a rating below {floor:g}"
    return ""


def _numbers(decision: "Decision", opinions: "Opinions | None", candidate: int) -> Row:
    """The cells of one candidate between its name and who chose it."""
    if opinions is not None:
        seen = _seen(decision, candidate)
        if _is_early(decision, candidate) or not seen:
            return [None, "", seen]
        answer = opinions.answer(candidate)
        return [answer.mean, f"{answer.unhappy} of {answer.count}", answer.count]
    if _is_early(decision, candidate):
        return [None, None]
    statistics = decision.statistics
    return [float(statistics.mean[candidate]), float(statistics.sigma[candidate])]


def _value(decision: "Decision", candidate: int) -> float:
    value = float(decision.statistics.value[candidate])
    return -np.inf if np.isnan(value) else value


def _is_early(decision: "Decision", candidate: int) -> bool:
    """Whether a candidate was ruled out before all its samples were known."""
    if decision.bounded is None or candidate == decision.index:
        return False
    return bool(decision.bounded[candidate])


def _seen(decision: "Decision", candidate: int) -> int:
    """How many samples of a candidate are known."""
    known = ~np.isnan(decision.pools.samples[0, :, candidate]).all(axis=0)
    if decision.unseen is not None:
        known &= ~decision.unseen[candidate]
    return int(known.sum())


def _is_about_wording(decision: "Decision") -> bool:
    """Whether the samples are the scores of rewrites."""
    return decision.pools.about_wording or decision.labels.sample == "rewrite"


def _noun(decision: "Decision") -> str:
    return "score" if decision.opinions is None else "rating"
