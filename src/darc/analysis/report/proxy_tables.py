"""The tables that compare a proxy's sigma with people's."""

import numpy as np

from darc.analysis import ranks
from darc.analysis.frame import Frame, Record, table
from darc.analysis.report.sigma_agreement import (
    SigmaPairs,
    agreement_rows,
    pairs_by_items,
    sigma_pairs,
)
from darc.errors import InputError
from darc.ratings.joining import JoinedRatings
from darc.typing import Array, Integers

# The top shares of which the overlap is measured.
TOP_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 11))
# How many candidates of each kind of mismatch are shown.
MAX_MISMATCHES = 5


def validity_table(
    joined: JoinedRatings, best_of_k: Integers, draws: int = 2000, seed: int = 0
) -> Frame:
    """The agreement of the proxy's sigma with people's, for all scorers together and for each.

    Args:
        joined: A proxy's scores and people's ratings of the same candidates.
        best_of_k: Best-of-K's choices (P,).
        draws: The number of resamples of whole prompts.
        seed: Their seed.

    Returns:
        The table.

    Raises:
        InputError: If too few candidates have both sigmas.
    """
    proxy = joined.proxy
    scorers: dict[str, int | None] = {"all": None}
    if len(proxy.scorers) > 1:
        scorers |= {name: place for place, name in enumerate(proxy.scorers)}
    rows: list[Record] = []
    for name, scorer in scorers.items():
        for items, pairs in pairs_by_items(joined, best_of_k, scorer):
            head: Record = {
                "source": proxy.name,
                "ratings": joined.human.name,
                "scorer": name,
                "items": items,
                "n": len(pairs),
            }
            rows += [head | row for row in agreement_rows(pairs, draws, seed)]
    if not rows:
        raise InputError(f"{proxy.name} and {joined.human.name} share too few sigmas to compare")
    return table("validity", rows, draws=draws)


def overlap_table(joined: JoinedRatings, best_of_k: Integers | None = None) -> Frame:
    """The share of the top q by the proxy's sigma that is in the top q by people's, q to 50 %."""
    rows = []
    for items, pairs in pairs_by_items(joined, best_of_k):
        for share in TOP_SHARES:
            proxy_top = ranks.top(pairs.proxy, share)
            human_top = ranks.top(pairs.human, share)
            if not proxy_top.any():
                continue
            row: Record = {
                "source": joined.proxy.name,
                "ratings": joined.human.name,
                "items": items,
                "share": share,
                "overlap": (proxy_top & human_top).sum() / proxy_top.sum(),
                "by_chance": proxy_top.mean(),
            }
            rows.append(row)
    return table("overlap", rows)


def points_table(joined: JoinedRatings, best_of_k: Integers | None = None) -> Frame:
    """Both sigmas of every candidate, and whether it is Best-of-K's choice, `best_of_k` (P,)."""
    pairs = sigma_pairs(joined)
    rows = []
    for place in range(len(pairs)):
        is_best_of_k = ""
        if best_of_k is not None:
            chosen = best_of_k[pairs.prompt[place]] == pairs.candidate[place]
            is_best_of_k = "yes" if chosen else "no"
        row: Record = {
            **_id_cells(joined, pairs, place),
            "ratings": joined.human.name,
            "best_of_k": is_best_of_k,
            **_sigma_cells(pairs, place),
        }
        rows.append(row)
    return table("points", rows)


def mismatch_table(joined: JoinedRatings, best_of_k: Integers | None = None) -> Frame:
    """The candidates whose ranks by the two sigmas differ most, in both directions, with texts."""
    proxy = joined.proxy
    rows = []
    for items, pairs in pairs_by_items(joined, best_of_k):
        gap = ranks.ranks(pairs.proxy) - ranks.ranks(pairs.human)
        for kind, signed_gap in (
            ("proxy high, people agree", gap),
            ("proxy low, people disagree", -gap),
        ):
            for place in _largest_positive(signed_gap):
                prompt = int(pairs.prompt[place])
                candidate = int(pairs.candidate[place])
                row: Record = {
                    "kind": kind,
                    "items": items,
                    **_id_cells(joined, pairs, place),
                    **_sigma_cells(pairs, place),
                    "prompt": proxy.questions[prompt] if proxy.questions else "",
                    "response": proxy.texts[prompt][candidate] if proxy.texts else "",
                }
                rows.append(row)
    return table("mismatches", rows)


def _largest_positive(values: Array) -> list[int]:
    """The places of the largest values, as far as they are positive."""
    order = np.argsort(-values, kind="stable")[:MAX_MISMATCHES].tolist()
    return [place for place in order if values[place] > 0]


def _id_cells(joined: JoinedRatings, pairs: SigmaPairs, place: int) -> Record:
    """The names of the source, the prompt and the candidate."""
    proxy = joined.proxy
    prompt = int(pairs.prompt[place])
    return {
        "source": proxy.name,
        "prompt_id": proxy.prompt_ids[prompt],
        "candidate_id": proxy.candidate_ids[prompt][int(pairs.candidate[place])],
    }


def _sigma_cells(pairs: SigmaPairs, place: int) -> Record:
    return {"sigma_proxy": pairs.proxy[place], "sigma_human": pairs.human[place]}
