"""Table 11: what the pools and the decisions cost."""

from darc.evaluation.frame import Frame
from darc.evaluation.source import Source
from darc.evaluation.study import Study


def cost_table(source: Source) -> Frame:
    """The source's totals, and each per prompt."""
    prompts = len(source.prompt_ids)
    rows = [(source.name, name, total, total / prompts) for name, total in source.costs.items()]
    columns = ("source", "item", "total", "per_prompt")
    return Frame.of("cost", "What the pools cost", columns, rows)


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
