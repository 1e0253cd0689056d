"""Cases where another rule chose differently from Best-of-K."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.evaluation.figures.picture import few
from darc.evaluation.split import Halves
from darc.evaluation.study import Study

SHOWN = 3


@dataclass(frozen=True, eq=False)
class Pick:
    """A chosen candidate with its selecting and judging samples, a list a scorer."""

    candidate_id: str
    text: str
    select: list[list[float]]
    judge: list[list[float]]


@dataclass(frozen=True, eq=False)
class Case:
    """A prompt on which a rule left Best-of-K; `gain` is what the held-out half says of it."""

    prompt_id: str
    question: str
    base: Pick
    ours: Pick
    gain: float


@dataclass(frozen=True, eq=False)
class Gallery:
    """The largest gains and losses of one rule in one split, and how many changes there were."""

    source: str
    rule: str
    measure: str
    scorers: list[str]
    judges: list[str]
    changed: int
    prompts: int
    gains: list[Case]
    losses: list[Case]


def gallery(study: Study, halves: Halves, judges: Sequence[str], shown: int = SHOWN) -> Gallery:
    """The gallery of the study's first split, whose halves are given; `judges` name its scorers.

    The rule is epsilon, or else the first that was run. Gains are by tradeoff where it is known of
    all changed prompts, otherwise by reward.
    """
    rule = next(iter(few(study.methods, 1)), study.methods[0])
    place = study.methods.index(rule)
    base, ours = study.choice[0, 0], study.choice[0, place]
    changed = np.flatnonzero((base >= 0) & (ours >= 0) & (base != ours))
    gain, measure = study.tradeoff[0, place] - study.tradeoff[0, 0], "tradeoff"
    if np.isnan(gain[changed]).any():
        gain, measure = study.reward[0, place] - study.reward[0, 0], "mean"
    order = changed[np.argsort(-gain[changed], kind="stable")]
    cases = [
        Case(
            study.source.prompt_ids[p],
            study.source.questions[p] if study.source.questions else "",
            _pick(study, halves, p, int(base[p])),
            _pick(study, halves, p, int(ours[p])),
            float(gain[p]),
        )
        for p in dict.fromkeys([*order[:shown].tolist(), *order[::-1][:shown].tolist()])
    ]
    return Gallery(
        study.source.name,
        rule,
        measure,
        list(study.source.scorers),
        list(judges),
        len(changed),
        int((base >= 0).sum()),
        [case for case in cases if case.gain > 0],
        sorted((case for case in cases if not case.gain > 0), key=lambda case: case.gain),
    )


def _pick(study: Study, halves: Halves, prompt: int, candidate: int) -> Pick:
    source = study.source
    return Pick(
        source.candidate_ids[prompt][candidate],
        source.texts[prompt][candidate] if source.texts else "",
        _known(halves.select[prompt, :, candidate]),
        _known(halves.judge[prompt, :, candidate]),
    )


def _known(samples: np.ndarray) -> list[list[float]]:
    """The samples of each scorer, (M, n), without the missing ones."""
    return [[float(value) for value in row if not np.isnan(value)] for row in samples]
