"""Disjoint selection and evaluation halves, drawn from who gave a sample and never from its value.

Where the same raters come back over the prompts, raters are split; otherwise the samples of each
candidate are, and rewrites by their number, the same numbers for all candidates of a prompt.
"""

from dataclasses import dataclass, replace

import numpy as np

from darc.errors import InputError, UnknownName
from darc.ratings.ratings import NOBODY, Source, restrict
from darc.typing import Array, Integers, Mask

SPLITS = ("auto", "rater", "sample")


@dataclass(frozen=True, eq=False)
class Halves:
    """What selects, (P, M, K, n), and what judges, (P, M', K, n'), each packed to the left.

    `givers` are those of the judging samples, `select_givers` those of the others. A candidate
    without samples in both halves has none in either, and `kept` (P,) marks the prompts with a
    candidate left. `left_out` counts the others among the candidates of the kept prompts.
    """

    select: Array
    judge: Array
    select_givers: Integers
    givers: Integers
    kept: Mask
    left_out: int = 0


def choose_split(source: Source, split: str = "auto") -> str:
    """How a source is split: "rater", "sample" or, for rewrites, "rewrite"."""
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if split == "rater" and not source.rated:
        raise InputError(f"{source.name} has no raters to split", "use --split sample")
    if not source.rated:
        return "rewrite"
    if split != "auto":
        return split
    return "rater" if has_stable_raters(source) else "sample"


def has_stable_raters(source: Source) -> bool:
    """Whether most samples come from raters who rate several prompts (candidates, if just one)."""
    prompts, _, candidates, _ = source.shape
    known = source.givers != NOBODY
    if not known.any():
        return False
    place = np.arange(prompts)[:, None, None, None]
    if prompts == 1:
        place = np.arange(candidates)[None, None, :, None]
    where = np.broadcast_to(place, source.givers.shape)[known]
    givers = source.givers[known]
    pairs = np.unique(np.stack([givers, where]), axis=1)
    places = np.bincount(pairs[0], minlength=len(source.giver_names))
    return bool((places[givers] > 1).mean() >= 0.5)


def draw_halves(source: Source, split: str, seed: int) -> Halves:
    """The halves of one seed; `split` is what `choose_split` says.

    A random half of the raters selects, or of each prompt's rewrite numbers, the same ones for all
    its candidates and scorers, or of each candidate's samples. Of an odd number either half may be
    the larger one; among samples it is the same for all candidates of a prompt.
    """
    generator = np.random.default_rng([seed, 0x5B117])
    there = ~np.isnan(source.samples)
    prompts, _, candidates, size = source.shape
    used = np.unique(source.givers[source.givers != NOBODY])
    names, half, odd = max(1, len(source.giver_names)), len(used) // 2, len(used) % 2
    if split == "rater":
        half += int(generator.integers(2)) if odd else 0
        side = np.isin(np.arange(names), generator.permutation(used)[:half])
        selects = side[source.givers]
    elif split == "rewrite":
        order = np.argsort(generator.random((prompts, len(used))), axis=1)
        halves = half + (generator.integers(2, size=(prompts, 1)) if odd else 0)
        side = np.zeros((prompts, names), dtype=bool)
        np.put_along_axis(side, used[order], np.arange(len(used)) < halves, axis=1)
        selects = side[np.arange(prompts)[:, None, None, None], source.givers]
    else:
        keys = generator.random((prompts, 1, candidates, size))
        extra = generator.integers(2, size=(prompts, 1, 1, 1))
        order = np.argsort(np.where(there, keys, np.inf), axis=3, kind="stable")
        count = there.sum(axis=3, keepdims=True)
        selects = np.argsort(order, axis=3, kind="stable") < count // 2 + extra * (count % 2)
    return halves_of(source, there & selects, there & ~selects)


def halves_of(source: Source, selects: Mask, judges: Mask) -> Halves:
    """The halves of given masks (P, M, K, n)."""
    both = np.all(np.any(selects, axis=3) & np.any(judges, axis=3), axis=1)
    rated = np.any(selects | judges, axis=(1, 3))
    kept = np.asarray(np.any(both, axis=1))
    able = both[:, None, :, None]
    select, select_givers = pack(source.samples, source.givers, selects & able)
    judge, givers = pack(source.samples, source.givers, judges & able)
    return Halves(select, judge, select_givers, givers, kept, int((rated & ~both)[kept].sum()))


def pack(samples: Array, givers: Integers, wanted: Mask) -> tuple[Array, Integers]:
    """The wanted samples and their givers, moved to the left, at least one column."""
    most = max(1, int(wanted.sum(axis=3).max(initial=0)))
    order = np.argsort(~wanted, axis=3, kind="stable")[..., :most]
    there = np.take_along_axis(wanted, order, axis=3)
    values = np.where(there, np.take_along_axis(samples, order, axis=3), np.nan)
    return values, np.where(there, np.take_along_axis(givers, order, axis=3), NOBODY)


@dataclass(frozen=True, eq=False)
class Joined:
    """A proxy and the ratings of people, cut to the same prompts and candidates in one order."""

    proxy: Source
    human: Source
    unmatched: tuple[int, int]

    @property
    def halves(self) -> Halves:
        """All proxy samples select and all ratings judge, of candidates that have both."""
        select, judge = self.proxy.samples, self.human.samples
        one, other = (np.all(np.any(~np.isnan(x), axis=3), axis=1) for x in (select, judge))
        both = np.asarray(one & other)
        able = both[:, None, :, None]
        return Halves(
            np.where(able, select, np.nan),
            np.where(able, judge, np.nan),
            self.proxy.givers,
            np.where(able, self.human.givers, NOBODY),
            np.asarray(both.any(axis=1)),
            int((one ^ other).sum()),
        )


def join(proxy: Source, human: Source) -> Joined:
    """Two sources joined by prompt and candidate ids; raises `InputError` where none are shared.

    `unmatched` counts the candidates of each source that the other lacks.
    """
    places = {prompt: row for row, prompt in enumerate(human.prompt_ids)}
    pairs = []
    for row, prompt in enumerate(proxy.prompt_ids):
        if prompt not in places:
            continue
        theirs = {c: k for k, c in enumerate(human.candidate_ids[places[prompt]])}
        ours = [(k, theirs[c]) for k, c in enumerate(proxy.candidate_ids[row]) if c in theirs]
        if ours:
            pairs.append((row, places[prompt], ours))
    if not pairs:
        examples = [
            f"{each.name} has prompt {each.prompt_ids[0]!r} with candidate "
            f"{each.candidate_ids[0][0]!r}"
            for each in (proxy, human)
        ]
        raise InputError(
            f"{proxy.name} and {human.name} share no candidate ({', '.join(examples)})",
            "give both the same prompt_id and candidate_id",
        )
    left = restrict(proxy, [row for row, _, _ in pairs], [[a for a, _ in k] for _, _, k in pairs])
    right = restrict(human, [row for _, row, _ in pairs], [[b for _, b in k] for _, _, k in pairs])
    shared = sum(len(k) for _, _, k in pairs)
    lost, missed = (sum(map(len, each.candidate_ids)) - shared for each in (proxy, human))
    sized = right if np.isnan(left.tokens).all() else left
    left = replace(
        left,
        tokens=sized.tokens,
        length_unit=sized.length_unit,
        texts=left.texts or right.texts,
        questions=left.questions or right.questions,
    )
    return Joined(left, right, (lost, missed))
