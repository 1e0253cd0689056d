"""How a decision is printed: what people think of each answer, with the numbers on demand."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from darc.cli.output import print_table
from darc.views.terminal import bold

if TYPE_CHECKING:
    from darc.decide.decision import Decision
    from darc.decide.opinions import Opinions
    from darc.decide.standards import Standards

# The statistics that details show, and the titles of their columns.
_STATISTICS = ("value", "mean", "sigma", "risk_premium")
_STATISTIC_TITLES = ("value", "mean", "sigma", "premium")
_Row = list[object]


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
    if known_scale:
        return "unhappy"
    return "clearly lower"


def explanation_of(
    decision: "Decision", flags: Sequence[str] | None = None, details: bool = False
) -> str:
    """Why an answer was chosen, and what its flags mean.

    Why an answer is held back is left out: `print_held` says it on a line of its own.

    Args:
        decision: The decision.
        flags: The flags to explain; those of the decision by default.
        details: Whether to add the numbers that the rule compared.
    """
    from darc.decide.explanation import explain
    from darc.decide.flags import flag_words
    from darc.decide.number_words import numbers_in_words
    from darc.decide.trade_off_words import trade_off_in_words
    from darc.engine.flags import FLAG_SENTENCES

    if flags is None:
        flags = decision.flags
    sentences = [explain(decision)]
    for flag in flags:
        if flag not in ("held", "below_promise"):
            words = flag_words(flag, FLAG_SENTENCES)
            sentences.append(f"{words[0].upper()}{words[1:]}.")
    if details:
        sentences.append(f"In numbers: {numbers_in_words(decision)}.")
        trade_off = trade_off_in_words(decision)
        if trade_off:
            sentences.append(f"As a trade-off: {trade_off}.")
    return " ".join(sentences)


def print_held(decision: "Decision") -> None:
    """Print why the answer should be held back, if it should, and an empty line."""
    if decision.held:
        print(bold(decision.held_sentence))
        print()


def print_how_sure(decision: "Decision") -> None:
    """Print how sure the choice is, and what its average is expected to be, where that is known."""
    if decision.sure_sentence:
        print(decision.sure_sentence)


def print_groups(decision: "Decision") -> None:
    """Print what each group is expected to think, where the choice was made for groups."""
    from darc.decide.evidence.winner import calibration_of

    if not decision.group_means:
        return
    names = list(next(iter(decision.group_means.values())))
    rows: list[_Row] = [
        [name, *(f"{means[group]:.2f}" for group in names)]
        for name, means in decision.group_means.items()
    ]
    print("\nexpected mean of each group")
    print_table(["answer", *names], rows)
    model = calibration_of(decision.rule).groups
    if model is not None:
        print(f"{model.in_words()} (ratio of variances {min(model.ratio, 99):.2g})")


def print_answers(
    decision: "Decision",
    chosen_by: Mapping[int, Sequence[str]],
    columns: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Print the answers to one prompt with what people think of each, the highest mean first.

    Args:
        decision: The decision whose samples are shown.
        chosen_by: The names of the rules that chose a candidate, by its place.
        columns: Further columns by their titles, with a text for each candidate.
    """
    columns = columns or {}
    rows = []
    for candidate in in_order(decision):
        remarks = list(chosen_by.get(candidate, ()))
        status = status_of(decision, candidate)
        if status:
            remarks.append(status)
        row: _Row = [decision.labels.candidate(candidate)]
        row += _opinion_cells(decision, decision.opinions, candidate)
        row.append(", ".join(remarks))
        row += [texts[candidate] for texts in columns.values()]
        rows.append(row)
    print_table([*_answers_header(decision), *columns], rows)


def _answers_header(decision: "Decision") -> list[str]:
    """The titles of the columns that every table of answers has."""
    if decision.opinions is not None:
        title = unhappy_title(decision.opinions.known_scale)
        return ["answer", "mean", title, "ratings", "chosen by"]
    if _is_about_wording(decision):
        return ["answer", "mean", "spread over wordings", "chosen by"]
    return ["answer", "mean", "spread", "chosen by"]


def print_details(decision: "Decision", reasons: Sequence[str] | None = None) -> None:
    """Print the numbers that the rule compared, the largest value first.

    Args:
        decision: The decision.
        reasons: Why each candidate was not chosen; None leaves the column out.
    """
    header = ["answer", *_STATISTIC_TITLES, f"{_sample_noun(decision)}s", "feasible"]
    if reasons is not None:
        header.append("")
    rows = []
    for candidate in _by_value(decision):
        row = _detail_cells(decision, candidate)
        if reasons is not None:
            row.append(reasons[candidate])
        rows.append(row)
    print_table(header, rows)


def _by_value(decision: "Decision") -> list[int]:
    """The candidates by their values, the largest first; those ruled out early come last."""

    def rank(candidate: int) -> tuple[bool, float]:
        return _is_ruled_out_early(decision, candidate), -_value(decision, candidate)

    return sorted(in_order(decision), key=rank)


def _detail_cells(decision: "Decision", candidate: int) -> _Row:
    """The name, the statistics, the number of samples and the feasibility of a candidate."""
    cells: _Row = [decision.labels.candidate(candidate)]
    for name in _STATISTICS:
        # The statistics of a candidate that was ruled out early are only bounds.
        if _is_ruled_out_early(decision, candidate):
            cells.append(None)
        else:
            cells.append(float(getattr(decision.statistics, name)[candidate]))
    cells.append(_sample_count(decision, candidate))
    if decision.feasible[candidate]:
        cells.append("yes")
    else:
        cells.append("no")
    return cells


def in_order(decision: "Decision") -> list[int]:
    """The candidates by their means, the highest first; those ruled out early come last."""
    means = np.nan_to_num(decision.statistics.mean, nan=-np.inf)

    def rank(candidate: int) -> tuple[bool, float]:
        return _is_ruled_out_early(decision, candidate), -means[candidate]

    return sorted(_candidates(decision), key=rank)


def _candidates(decision: "Decision") -> list[int]:
    """The places of the candidates.

    In a batch, prompts with fewer candidates are padded with some that have no name.
    """
    names = decision.labels.candidates
    present = decision.pools.present[0]
    places = range(len(present))
    if names is None:
        return list(places)
    return [place for place in places if present[place] or names[place]]


def status_of(decision: "Decision", candidate: int) -> str:
    """Why a candidate could not be chosen, in a few words; empty where it could."""
    pools = decision.pools
    if _is_ruled_out_early(decision, candidate):
        count = _sample_count(decision, candidate)
        noun = _sample_noun(decision)
        return f"ruled out early, after {count} of {pools.shape[3]} {noun}s"
    if pools.left_out[0, candidate]:
        if _is_about_wording(decision):
            return "too few rewrites"
        return "too few ratings"
    floor = pools.standards.no_rating_below
    if floor is not None and not pools.eligible[0, candidate]:
        return f"has a rating below {floor:g}"
    return ""


def _opinion_cells(decision: "Decision", opinions: "Opinions | None", candidate: int) -> _Row:
    """The cells of one candidate between its name and who chose it."""
    if opinions is not None:
        count = _sample_count(decision, candidate)
        if _is_ruled_out_early(decision, candidate) or not count:
            return [None, "", count]
        answer = opinions.answer(candidate)
        return [answer.mean, f"{answer.unhappy} of {answer.count}", answer.count]
    if _is_ruled_out_early(decision, candidate):
        return [None, None]
    statistics = decision.statistics
    return [float(statistics.mean[candidate]), float(statistics.sigma[candidate])]


def _value(decision: "Decision", candidate: int) -> float:
    """The value of a candidate, minus infinity where it has none."""
    value = float(decision.statistics.value[candidate])
    if np.isnan(value):
        return -np.inf
    return value


def _is_ruled_out_early(decision: "Decision", candidate: int) -> bool:
    """Whether a candidate was ruled out before all its samples were known."""
    if decision.bounded is None or candidate == decision.index:
        return False
    return bool(decision.bounded[candidate])


def _sample_count(decision: "Decision", candidate: int) -> int:
    """How many samples of a candidate are known."""
    has_score = ~np.isnan(decision.pools.samples[0, :, candidate]).all(axis=0)
    if decision.unseen is not None:
        has_score &= ~decision.unseen[candidate]
    return int(has_score.sum())


def _is_about_wording(decision: "Decision") -> bool:
    """Whether the samples are the scores of rewrites."""
    return decision.pools.about_wording or decision.labels.sample == "rewrite"


def _sample_noun(decision: "Decision") -> str:
    """What a sample is called."""
    if decision.opinions is None:
        return "score"
    return "rating"
