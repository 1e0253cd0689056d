"""Answers with the same text or the same JSON, which are merged into one candidate."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from darc.types import Candidate

_JSON_STARTS = ("{", "[")
_MAX_JSON_CHARACTERS = 100_000


@dataclass(frozen=True)
class MergedCandidates:
    """Candidates with different texts, and where they come from."""

    #: The first of each group of equal answers, numbered in their order.
    candidates: list[Candidate]
    #: The place of each one in the list that was merged.
    places: list[int]
    #: For each entry of that list, the merged candidate that it belongs to.
    owners: list[int]


def copy_key(text: str) -> str:
    """What copies of a text have in common: all but the white space around it.

    Of JSON it is the value, however its fields are ordered and spaced.
    """
    stripped = text.strip()
    if stripped[:1] not in _JSON_STARTS or len(stripped) > _MAX_JSON_CHARACTERS:
        return stripped
    try:
        return json.dumps(json.loads(stripped), sort_keys=True)
    except (ValueError, RecursionError):
        return stripped


def merge_copies(candidates: Sequence[Candidate]) -> MergedCandidates:
    """Merge candidates with the same text.

    Args:
        candidates: The candidates of one prompt, in order. Some may be merged already.

    Returns:
        The first candidate of each text. Its `copies` is the sum over its group, and its
        `other_names` has the different names of the rest of the group.
    """
    groups: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        groups.setdefault(copy_key(candidate.text), []).append(place)
    owners = [0] * len(candidates)
    merged = []
    for index, places in enumerate(groups.values()):
        for place in places:
            owners[place] = index
        group = [candidates[place] for place in places]
        merged.append(_merge_group(group, index))
    return MergedCandidates(merged, [places[0] for places in groups.values()], owners)


def _merge_group(group: Sequence[Candidate], index: int) -> Candidate:
    first = group[0]
    if len(group) == 1:
        return replace(first, index=index)
    names: dict[str, None] = {}
    for candidate in group:
        for name in (candidate.name, *candidate.other_names):
            if name:
                names[name] = None
    first_name, *other_names = names or [""]
    return replace(
        first,
        index=index,
        name=first_name,
        copies=sum(candidate.copies for candidate in group),
        other_names=tuple(other_names),
    )


def copy_flags(candidates: Sequence[Candidate], n: int = 1) -> list[str]:
    """The flags that say which answers were merged.

    Args:
        candidates: Merged candidates.
        n: How many choices are wanted.

    Returns:
        `one_answer:8` where all 8 answers are the same, else `copies:3` where 3 answers repeat
        another; `same_text:a and b` for each group of names; `fewer_choices:2` where there are
        only 2 different answers to choose from and more are wanted.
    """
    written = sum(candidate.copies for candidate in candidates)
    if written == len(candidates):
        return []
    flags = []
    unnamed = written - sum(1 + len(candidate.other_names) for candidate in candidates)
    if len(candidates) == 1:
        flags.append(f"one_answer:{written}")
    elif unnamed:
        flags.append(f"copies:{unnamed}")
    for candidate in candidates:
        if candidate.other_names:
            names = (candidate.name, *candidate.other_names)
            flags.append(f"same_text:{' and '.join(names)}")
    if n > len(candidates):
        flags.append(f"fewer_choices:{len(candidates)}")
    return flags


def copies_input(candidates: Sequence[Candidate]) -> dict[str, list[int]]:
    """The side input `copies`, how often each candidate was written; none where all were once."""
    copies = [candidate.copies for candidate in candidates]
    if max(copies, default=1) == 1:
        return {}
    return {"copies": copies}
