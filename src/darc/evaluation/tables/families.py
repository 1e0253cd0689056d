"""Table 9: rewrite families side by side, overall and where Best-of-K's choice is contested."""

from collections.abc import Sequence

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.join import Joined
from darc.evaluation.study import Study
from darc.evaluation.tables.common import mean_of, prompts_in, tail_of
from darc.evaluation.tables.validity import agreement, items_of

SLICES = {"overall": "overall", "high-variance": "stress"}


def family_table(studies: Sequence[Study]) -> Frame:
    """Mean, risk, tradeoff and CVaR of each family and method; empty unless families differ."""
    families = {study.source.family for study in studies if study.source.family}
    rows = []
    for study in studies if len(families) > 1 else ():
        for subset, among in study.subsets.items():
            columns = [mean_of(v, among) for v in (study.reward, study.risk, study.tradeoff)]
            columns.append(tail_of(study.outcome, among, study.settings.tail))
            for a, method in enumerate(study.methods):
                head = (study.source.name, study.source.family, SLICES[subset], method)
                rows.append((*head, prompts_in(among), *(column[a] for column in columns)))
    return Frame.of(
        "families",
        "Rewrite families",
        ("source", "family", "slice", "method", "prompts", "reward", "risk", "tradeoff", "cvar"),
        rows,
        "The stress slice is the fifth of the prompts where Best-of-K's choice is most contested.",
    )


def family_agreement_table(pairs: Sequence[tuple[Joined, Study]], draws: int, seed: int) -> Frame:
    """Agreement of each family's sigma with people's, overall and on the stress slice."""
    rows = []
    families = {joined.proxy.family for joined, _ in pairs if joined.proxy.family}
    for joined, study in pairs if len(families) > 1 else ():
        for subset, among in study.subsets.items():
            wanted = np.repeat(among[0][:, None], joined.proxy.shape[2], axis=1)
            items = items_of(joined, None, wanted)
            if len(items.proxy) < 4:
                continue
            head = (joined.proxy.name, joined.proxy.family, SLICES[subset], len(items.proxy))
            rows += [(*head, *row) for row in agreement(items, draws, seed)]
    return Frame.of(
        "family_agreement",
        "Agreement of each family's sigma with people's",
        ("source", "family", "slice", "n", "metric", "value", "low", "high", "p"),
        rows,
    )
