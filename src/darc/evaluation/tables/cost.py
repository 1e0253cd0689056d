"""Table 11: what the pools and the decisions cost."""

import numpy as np

from darc.evaluation.frame import Frame
from darc.evaluation.source import Source
from darc.evaluation.study import Study

SECONDS = " seconds"


def cost_table(source: Source) -> Frame:
    """The source's totals, and each per prompt."""
    prompts = len(source.prompt_ids)
    rows = [(source.name, name, total, total / prompts) for name, total in source.costs.items()]
    columns = ("source", "item", "total", "per_prompt")
    return Frame.of("cost", "What the pools cost", columns, rows)


def latency_table(source: Source) -> Frame:
    """Seconds a prompt by stage of a run, beside what N_aug = 0 would take.

    Without rewrites a run makes none, and scores the originals alone: their share of all scored
    texts is taken of the scoring time.
    """
    seconds = {
        name.removesuffix(SECONDS): total / len(source.prompt_ids)
        for name, total in source.costs.items()
        if name.endswith(SECONDS)
    }
    there = ~np.isnan(source.samples[:, 0])
    share = there[:, :, 0].sum() / max(1, there.sum())
    plain = {
        stage: {"rewrite": 0.0, "score": spent * share}.get(stage, spent)
        for stage, spent in seconds.items()
    }
    rows = [(source.name, stage, seconds[stage], plain[stage]) for stage in seconds]
    rows.append((source.name, "all", sum(seconds.values()), sum(plain.values())))
    columns = ("source", "stage", "seconds_per_prompt", "at_n_aug_0")
    added = sum(seconds.values()) / (sum(plain.values()) or 1.0) - 1
    most = there.shape[2] - 1
    note = f"{source.name}: {most} rewrites asked for add {added:.1%} to the time without any."
    return Frame.of("latency", "Latency by stage", columns, rows, note)


def decision_cost_table(study: Study) -> Frame:
    """Milliseconds that each rule took to decide a prompt of the cached pools, on this machine."""
    decided = max(1, int(study.kept.sum()))
    rows = [
        (study.source.name, method, 1000 * study.seconds[method] / decided)
        for method in study.methods
    ]
    return Frame.of(
        "decision_cost",
        "Deciding from cached scores",
        ("source", "method", "milliseconds_per_prompt"),
        rows,
        "The statistics, which rules of one beta and gamma share, are counted with the first rule.",
    )
