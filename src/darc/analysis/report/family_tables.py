"""The tables that compare rewrite families."""

from collections.abc import Collection, Sequence

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import WORDS, Frame, Record, table
from darc.analysis.report.contest_columns import method_rows, outcome_columns
from darc.analysis.report.sigma_agreement import agreement_rows, sigma_pairs
from darc.ratings.joining import JoinedRatings
from darc.typing import Mask

# The family by which the stress slice is chosen.
DEFAULT_FAMILY = "style"
# Proxies judged by people, each with its contest.
JudgedPairs = Sequence[tuple[JoinedRatings, Contest]]


def family_table(
    contests: Sequence[Contest], pairs: JudgedPairs = (), stress: Collection[str] = ()
) -> Frame:
    """Mean, risk, tradeoff and CVaR of each family and method; empty unless families differ.

    People judge if their ratings are joined to several families, and otherwise each family's own
    held-out rewrites do. A source without a family has no row.

    Args:
        contests: The contests of all sources.
        pairs: Proxies that people judge.
        stress: The ids of the prompts of the stress slice; without any, those are in it on which
            the samples disagree most under the family `style`.

    Returns:
        The table.
    """
    rows: list[Record] = []
    for judge, group in _contests_by_judge(contests, pairs).items():
        for contest in group:
            for name, among in _slices(contest, group, stress).items():
                head: Record = {
                    "family": contest.ratings.family,
                    "judge": judge,
                    "slice": name,
                }
                rows += method_rows(contest, among, outcome_columns(contest, among), **head)
    words = WORDS["tables"]["families"]
    description = words["by_family"].format(default=DEFAULT_FAMILY)
    if stress:
        description = words["by_ids"].format(count=len(stress))
    return table("families", rows, stress=description)


def _contests_by_judge(contests: Sequence[Contest], pairs: JudgedPairs) -> dict[str, list[Contest]]:
    """The contests of several families, by what judges them."""
    by_people = {
        human: [contest for _, contest in human_pairs]
        for human, human_pairs in _pairs_by_human(pairs).items()
    }
    if by_people:
        return by_people
    with_family = [contest for contest in contests if contest.ratings.family]
    if len({contest.ratings.family for contest in with_family}) > 1:
        return {"its own rewrites": with_family}
    return {}


def family_agreement_table(
    pairs: JudgedPairs, draws: int, seed: int, stress: Collection[str] = ()
) -> Frame:
    """Agreement of each family's sigma with people's, overall and on the stress slice."""
    rows: list[Record] = []
    for human, human_pairs in _pairs_by_human(pairs).items():
        group = [contest for _, contest in human_pairs]
        for joined, contest in human_pairs:
            for name, among in _slices(contest, group, stress).items():
                candidates = sigma_pairs(joined, None, among[0][:, None])
                head: Record = {
                    "source": joined.proxy.name,
                    "family": joined.proxy.family,
                    "ratings": human,
                    "slice": name,
                    "n": len(candidates),
                }
                rows += [head | row for row in agreement_rows(candidates, draws, seed)]
    return table("family_agreement", rows)


def _pairs_by_human(pairs: JudgedPairs) -> dict[str, list[tuple[JoinedRatings, Contest]]]:
    """The pairs with a family, by the ratings of people that judge several families."""
    groups: dict[str, list[tuple[JoinedRatings, Contest]]] = {}
    for joined, contest in pairs:
        if joined.proxy.family:
            groups.setdefault(joined.human.name, []).append((joined, contest))
    return {
        human: group
        for human, group in groups.items()
        if len({joined.proxy.family for joined, _ in group}) > 1
    }


def _slices(contest: Contest, group: Sequence[Contest], stress: Collection[str]) -> dict[str, Mask]:
    """The usable prompts of a contest, and the group's stress slice among them, (R, P) by name."""
    slices = {"overall": contest.usable}
    if stress:
        listed = np.array([prompt in stress for prompt in contest.ratings.prompt_ids])
        in_slice = contest.usable & listed
    else:
        in_slice = contest.usable & _contested(contest, group)
    if in_slice.any():
        slices["stress"] = in_slice
    return slices


def _contested(contest: Contest, group: Sequence[Contest]) -> Mask:
    """The high-variance prompts of the default family among the prompts of a contest, (R, P)."""
    defaults = [other for other in group if other.ratings.family == DEFAULT_FAMILY]
    reference = (defaults or group)[0]
    places = {prompt: place for place, prompt in enumerate(reference.ratings.prompt_ids)}
    place = np.array([places.get(prompt, -1) for prompt in contest.ratings.prompt_ids])
    return np.asarray((place >= 0) & reference.high[:, place])
