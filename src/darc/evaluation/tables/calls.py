"""Table 11, reward calls: the lazy search beside the full one, on the cached scores."""

from typing import Any

import numpy as np

from darc.api import select_batch, select_lazily
from darc.engine.deciding import RuleSpec
from darc.evaluation.frame import Frame
from darc.evaluation.methods import clipped
from darc.evaluation.source import Source
from darc.selection.lazy import Pair
from darc.typing import Array

MOST = 10
BATCH = 4


def call_table(source: Source, specs: list[RuleSpec], most: int = MOST) -> Frame:
    """Texts that each rule scores of a prompt when it searches lazily, and when it scores all.

    Needs the scorers' bounds and, for several scorers, their constants; otherwise it is empty. At
    most `most` prompts, evenly spread, are searched; the choice is checked to be the full one's.
    """
    rows = []
    several = len(source.scorers) > 1
    able = source.bounds is not None and (source.constants is not None or not several)
    prompts = np.unique(np.linspace(0, len(source.prompt_ids) - 1, most).astype(int)).tolist()
    for spec in specs if able else ():
        if spec.rule.plan is None or spec.rule.required():
            continue
        found = [_calls(source, spec, prompt) for prompt in prompts]
        whole = sum(full for full, _, _ in found)
        lazy = sum(calls for _, calls, _ in found)
        same = sum(equal for _, _, equal in found)
        count = len(found)
        rows.append(
            (source.name, spec.label, count, whole / count, lazy / count, lazy / whole, same)
        )
    return Frame.of(
        "calls",
        "Texts scored for a prompt",
        ("source", "method", "prompts", "full", "lazy", "share", "same_choice"),
        rows,
        f"The lazy search asks for {BATCH} texts at a time. Scores are clipped to the scorers' "
        "bounds, with fixed constants for several scorers.",
    )


def _calls(source: Source, spec: RuleSpec, prompt: int) -> tuple[int, int, bool]:
    """Texts scored in full and lazily for one prompt, and whether the choices are the same.

    A sample that the search asks for and that does not exist is no text, so it is not counted.
    """
    samples = clipped(source.samples[prompt : prompt + 1], source.bounds)
    present = len(source.candidate_ids[prompt])
    samples = np.ascontiguousarray(samples[:, :, :present])
    normalize = source.constants if len(source.scorers) > 1 else "none"
    shared: dict[str, Any] = {"beta": spec.beta, "gamma": spec.gamma, "normalize": normalize}

    there = (~np.isnan(samples[0])).any(axis=0)
    scored = 0

    def score(pairs: list[Pair]) -> Array:
        nonlocal scored
        scored += sum(int(there[pair]) for pair in pairs)
        values = np.array([samples[0, :, candidate, at] for candidate, at in pairs])
        return values if values.shape[1] > 1 else values[:, 0]

    assert source.bounds is not None
    lazily = select_lazily(
        score,
        present,
        samples.shape[3],
        spec.rule,
        np.asarray(source.bounds, dtype=np.float64),
        BATCH,
        **shared,
    )
    full = select_batch(samples, spec.rule, **shared)
    return int(there.sum()), scored, bool(lazily.index == full.index[0])
