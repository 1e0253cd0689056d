"""Table 2: mean, sigma, tradeoff and CVaR with paired intervals against Best-of-K."""

from darc.evaluation.frame import Frame
from darc.evaluation.study import Study
from darc.evaluation.tables.common import compared, compared_tail, described, prompts_in


def human_table(study: Study) -> Frame:
    """Each metric, its difference to Best-of-K, and the difference's 95 % bootstrap interval."""
    names = ("mean", "sigma", "tradeoff", study.settings.tail_name)
    deltas = [f"{part}{name}" for name in names for part in ("delta_", "low_", "high_")]
    rows = []
    for subset, among in study.subsets.items():
        metrics = [
            *(compared(study, v, among) for v in (study.reward, study.risk, study.tradeoff)),
            compared_tail(study, among),
        ]
        for a, method in enumerate(study.methods):
            values = [float(metric.value[a]) for metric in metrics]
            changes = [cell for metric in metrics for cell in metric.cells(a)]
            rows.append((study.source.name, subset, method, prompts_in(among), *values, *changes))
    return Frame.of(
        "human",
        "Mean, sigma, tradeoff and CVaR over prompts, against Best-of-K",
        ("source", "subset", "method", "prompts", *names, *deltas),
        rows,
        f"{described(study)} CVaR is the mean of the lowest {study.settings.tail:.0%} of prompts by"
        f" held-out {study.settings.outcome}. Intervals: {study.settings.draws} paired resamples"
        " of the prompts.",
    )
