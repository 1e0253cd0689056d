"""A proxy's scores and people's ratings of the same candidates, joined by their ids."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.errors import InputError
from darc.ratings.ratings import Halves, Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Mask


@dataclass(frozen=True, eq=False)
class JoinedRatings:
    """A proxy and the ratings of people, cut to the same prompts and candidates in one order."""

    #: The scores of a run.
    proxy: Ratings
    #: People's ratings of the same candidates.
    human: Ratings
    #: How many candidates of the proxy have no ratings, and of the ratings no scores.
    unmatched: tuple[int, int] = (0, 0)

    @property
    def halves(self) -> Halves:
        """All proxy samples select and all ratings judge, of the candidates that have both."""
        scored = _has_every_scorer(self.proxy)
        rated = _has_every_scorer(self.human)
        in_both = scored & rated
        mask = in_both[:, None, :, None]
        return Halves(
            select=replace(self.proxy, samples=np.where(mask, self.proxy.samples, np.nan)),
            judge=replace(
                self.human,
                samples=np.where(mask, self.human.samples, np.nan),
                raters=np.where(mask, self.human.raters, NOBODY),
            ),
            usable=np.asarray(in_both.any(axis=1)),
            left_out=int((scored ^ rated).sum()),
        )


def _has_every_scorer(ratings: Ratings) -> Mask:
    """The candidates with a sample from every scorer, (P, K)."""
    return np.asarray(np.all(np.any(ratings.present, axis=3), axis=1))


@dataclass(frozen=True)
class _SharedPrompt:
    """A prompt of both sides: its index in each, and the indices of the shared candidates."""

    proxy_prompt: int
    human_prompt: int
    proxy_candidates: list[int]
    human_candidates: list[int]


def join(proxy: Ratings, human: Ratings) -> JoinedRatings:
    """Join two sets of ratings by prompt and candidate ids.

    Lengths and texts are the proxy's, or people's where the proxy has none.

    Raises:
        InputError: They share no candidate.
    """
    shared = _shared_prompts(proxy, human)
    if not shared:
        raise InputError(
            f"{proxy.name} and {human.name} share no candidate ({_example(proxy)}, "
            f"{_example(human)})",
            "give both the same prompt_id and candidate_id",
        )
    proxy_part = proxy.subset(
        [prompt.proxy_prompt for prompt in shared],
        [prompt.proxy_candidates for prompt in shared],
    )
    human_part = human.subset(
        [prompt.human_prompt for prompt in shared],
        [prompt.human_candidates for prompt in shared],
    )
    with_lengths = proxy_part
    if np.isnan(proxy_part.lengths).all():
        with_lengths = human_part
    proxy_part = replace(
        proxy_part,
        lengths=with_lengths.lengths,
        length_unit=with_lengths.length_unit,
        texts=proxy_part.texts or human_part.texts,
        questions=proxy_part.questions or human_part.questions,
    )
    matched = sum(len(prompt.proxy_candidates) for prompt in shared)
    unmatched = (_candidate_count(proxy) - matched, _candidate_count(human) - matched)
    return JoinedRatings(proxy_part, human_part, unmatched)


def _shared_prompts(proxy: Ratings, human: Ratings) -> list[_SharedPrompt]:
    """The prompts that share a candidate, in the order of the proxy."""
    human_index = {prompt_id: index for index, prompt_id in enumerate(human.prompt_ids)}
    shared = []
    for proxy_prompt, prompt_id in enumerate(proxy.prompt_ids):
        human_prompt = human_index.get(prompt_id)
        if human_prompt is None:
            continue
        prompt = _SharedPrompt(proxy_prompt, human_prompt, [], [])
        human_candidates = _index_by_id(human.candidate_ids[human_prompt])
        for candidate, candidate_id in enumerate(proxy.candidate_ids[proxy_prompt]):
            if candidate_id in human_candidates:
                prompt.proxy_candidates.append(candidate)
                prompt.human_candidates.append(human_candidates[candidate_id])
        if prompt.proxy_candidates:
            shared.append(prompt)
    return shared


def _index_by_id(ids: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(ids)}


def _candidate_count(ratings: Ratings) -> int:
    return sum(len(candidate_ids) for candidate_ids in ratings.candidate_ids)


def _example(ratings: Ratings) -> str:
    prompt_id = ratings.prompt_ids[0]
    candidate_id = ratings.candidate_ids[0][0]
    return f"{ratings.name} has prompt {prompt_id!r} with candidate {candidate_id!r}"
