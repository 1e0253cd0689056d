"""Table 9: rewrite families side by side, overall and where Best-of-K's choice is contested."""

from collections.abc import Sequence

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.join import Joined
from darc.evaluation.study import Study
from darc.evaluation.tables.common import mean_of, prompts_in, tail_of
from darc.evaluation.tables.validity import agreement, items_of
from darc.typing import Mask

DEFAULT = "style"
Pairs = Sequence[tuple[Joined, Study]]


def family_table(studies: Sequence[Study], pairs: Pairs = ()) -> Frame:
    """Mean, risk, tradeoff and CVaR of each family and method; empty unless families differ.

    People judge where their ratings are joined to several families, and otherwise each family's
    own held-out rewrites do. A source without a family has no row.
    """
    groups = {human: [study for _, study in own] for human, own in _by_ratings(pairs).items()}
    own = [study for study in studies if study.source.family]
    if not groups and _differ(own):
        groups = {"its own rewrites": own}
    rows = []
    for judge, group in groups.items():
        for study in group:
            for part, among in _slices(study, group).items():
                columns = [mean_of(v, among) for v in (study.reward, study.risk, study.tradeoff)]
                columns.append(tail_of(study.outcome, among, study.settings.tail))
                for a, method in enumerate(study.methods):
                    head = (study.source.name, study.source.family, judge, part, method)
                    rows.append((*head, prompts_in(among), *(column[a] for column in columns)))
    names = ("source", "family", "judge", "slice", "method", "prompts")
    return Frame.of(
        "families",
        "Rewrite families",
        (*names, "reward", "risk", "tradeoff", "cvar"),
        rows,
        "The stress slice is the same prompts for all families: the fifth on which the samples of "
        f"Best-of-K's choice disagree most under the family {DEFAULT}, or else the first one.",
    )


def family_agreement_table(pairs: Pairs, draws: int, seed: int) -> Frame:
    """Agreement of each family's sigma with people's, overall and on the stress slice."""
    rows = []
    for human, own in _by_ratings(pairs).items():
        for joined, study in own:
            for part, among in _slices(study, [each for _, each in own]).items():
                wanted = np.repeat(among[0][:, None], joined.proxy.shape[2], axis=1)
                items = items_of(joined, None, wanted)
                if len(items.proxy) < 4:
                    continue
                head = (joined.proxy.name, joined.proxy.family, human, part, len(items.proxy))
                rows += [(*head, *row) for row in agreement(items, draws, seed)]
    return Frame.of(
        "family_agreement",
        "Agreement of each family's sigma with people's",
        ("source", "family", "ratings", "slice", "n", "metric", "value", "low", "high", "p"),
        rows,
    )


def _by_ratings(pairs: Pairs) -> dict[str, list[tuple[Joined, Study]]]:
    """The pairs with a family, by the ratings that judge several families."""
    found: dict[str, list[tuple[Joined, Study]]] = {}
    for joined, study in pairs:
        if joined.proxy.family:
            found.setdefault(joined.human.name, []).append((joined, study))
    return {human: own for human, own in found.items() if _differ([study for _, study in own])}


def _differ(studies: Sequence[Study]) -> bool:
    return len({study.source.family for study in studies}) > 1


def _slices(study: Study, group: Sequence[Study]) -> dict[str, Mask]:
    """The kept prompts of a study, and among them the group's stress slice, (R, P) by name."""
    reference = next((each for each in group if each.source.family == DEFAULT), group[0])
    places = {prompt: p for p, prompt in enumerate(reference.source.prompt_ids)}
    at = np.array([places.get(prompt, -1) for prompt in study.source.prompt_ids])
    stress = study.kept & (at >= 0) & reference.high[:, at]
    return {"overall": study.kept} | ({"stress": stress} if stress.any() else {})
