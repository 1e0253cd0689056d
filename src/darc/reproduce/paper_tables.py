"""The paper's tables, filled with the evaluated numbers of an experiment."""

from collections.abc import Callable, Sequence

from darc.analysis.evaluate.methods import BASELINE
from darc.reproduce.experiment import BASE, DEAL, Experiment, MethodConfig
from darc.reproduce.layout import Block, Cell, Column, PaperTable, Row
from darc.reproduce.printed import printed_main, printed_outcomes, printed_row
from darc.reproduce.results import Record, Results, judged, method_text

# The subsets as evaluations call them, and as the paper does.
_SUBSETS = {"overall": "Overall", "high-variance": "High-Variance"}
_TOP = " (Top 20%)"
_STRESS_SUBSETS = ("overall", "stress")
_DARC = "DARC"
_EPSILON = "DARC-epsilon"
_MAX_TEXT = 60
_METRICS = {
    "spearman": "Spearman",
    "kendall": "Kendall",
    "partial spearman": "partial Spearman",
    "precision@20%": "precision@20%",
    "recall@20%": "recall@20%",
    "jaccard@20%": "Jaccard@20%",
    "overlap@20%": "overlap@20%",
}


def main_table(results: Results) -> PaperTable:
    """Reward, risk, tradeoff and length by method, for every model and benchmark."""
    cells = list(results.main_cells())
    columns = []
    for generator, benchmark in cells:
        groups = (generator.name, benchmark)
        columns += [
            Column("Reward", groups),
            Column("Risk", groups, "low"),
            Column("Tradeoff", groups, "high"),
            Column("Len(tok)", groups, digits=0),
        ]
    blocks = []
    for subset, title in _SUBSETS.items():
        rows = []
        for method in results.experiment.methods_of("main"):
            values: list[Cell] = []
            printed: list[Cell] = []
            for generator, benchmark in cells:
                record = _method_record(
                    results, (generator.name, benchmark), "main", method, subset, method.source
                )
                values += [record.get(n) for n in ("reward", "risk", "tradeoff", "length")]
                paper_column = f"{generator.paper}/{results.experiment.benchmark(benchmark).paper}"
                printed += printed_main(title, paper_column, method.label)
            rows.append(_row((method.type, method.label), values, printed, method))
        blocks.append(Block(_block_title(title), tuple(rows)))
    return PaperTable(
        "main",
        "Reward, risk, tradeoff and length of each method by model and benchmark",
        ("Type", "Method"),
        tuple(columns),
        tuple(blocks),
        "Best in bold and second best underlined, among the rows of type Inference.",
    )


def change_table(results: Results) -> PaperTable:
    """The change of each method against the base's Best-of-K, by model and benchmark."""
    cells = list(results.main_cells())
    columns = []
    for generator, benchmark in cells:
        groups = (generator.name, benchmark)
        columns += [
            Column("Reward", groups, "high"),
            Column("Risk", groups, "low"),
            Column("Tradeoff", groups, "high"),
        ]
    blocks = []
    for subset, title in _SUBSETS.items():
        rows = []
        for method in results.experiment.methods_of("main"):
            values: list[Cell] = []
            for generator, benchmark in cells:
                values += _changes(results, (generator.name, benchmark), method, subset)
            rows.append(Row((method.type, method.label), tuple(values)))
        blocks.append(Block(_block_title(title), tuple(rows)))
    return PaperTable(
        "changes",
        "Change of each method against the base's Best-of-K",
        ("Type", "Method"),
        tuple(columns),
        tuple(blocks),
        "All methods are on the same prompts. The paper prints no such table.",
    )


def _changes(
    results: Results, cell: tuple[str, str], method: MethodConfig, subset: str
) -> list[Cell]:
    """The change of reward, risk and tradeoff of a method."""
    names = ("reward", "risk", "tradeoff")
    if method.source != BASE:
        record = _method_record(results, cell, "base_changes", method, subset, method.source)
        return [record.get(f"delta_{name}") for name in names]
    record = _method_record(results, cell, "main", method, subset, BASE)
    base = results.record(cell, "main", source=BASE, subset=subset, method=BASELINE)
    changes: list[Cell] = []
    for name in names:
        value = record.get(name)
        base_value = base.get(name)
        if isinstance(value, float) and isinstance(base_value, float):
            changes.append(value - base_value)
        else:
            changes.append(None)
    return changes


def scaling_table(results: Results) -> PaperTable:
    """The larger generator: reward, risk, tradeoff and CVaR."""
    cell = None
    for generator in results.experiment.generators:
        if not generator.full:
            cell = (generator.name, generator.benchmarks[0])
    return _outcome_table(
        results,
        "scaling",
        f"Rules on the pools of {cell[0]}" if cell else "Rules on the pools of a larger generator",
        cell,
        "Qwen2.5-14B table",
        lambda method: method.source,
    )


def human_table(results: Results) -> PaperTable:
    """Score, risk, tradeoff and CVaR by people's ratings."""
    return _outcome_table(
        results,
        "human",
        "Methods judged by people",
        results.human_cell,
        "human table",
        lambda method: judged(method.source),
    )


def _outcome_table(
    results: Results,
    name: str,
    title: str,
    cell: tuple[str, str] | None,
    paper_table: str,
    source_of: Callable[[MethodConfig], str],
) -> PaperTable:
    columns = (
        Column("Mean", best="high"),
        Column("Risk", best="low"),
        Column("Tradeoff", best="high"),
        Column("CVaR 10%", best="high"),
    )
    blocks = []
    for subset, block_name in _SUBSETS.items():
        if name == "human" and subset != "overall":
            block_name = "High-Disagreement"
        rows = []
        for method in results.experiment.methods_of(name):
            record: Record = {}
            if cell is not None:
                record = _method_record(results, cell, "human", method, subset, source_of(method))
            values = [record.get(n) for n in ("mean", "sigma", "tradeoff", "cvar_10")]
            printed = printed_outcomes(paper_table, block_name, method.label)
            rows.append(_row((method.label,), values, printed, method))
        blocks.append(Block(_block_title(block_name), tuple(rows)))
    return PaperTable(name, title, ("Method",), columns, tuple(blocks))


def bucket_table(results: Results) -> PaperTable:
    """Gains of DARC-epsilon by fifths of people's disagreement on the base's answer."""
    rows = []
    for number in range(1, 6):
        record = _human_record(results, "buckets", by="people", bucket=f"Q{number}")
        cells = (record.get("delta"), _counts(record))
        rows.append(Row((f"Q{number}",), cells, printed_row("buckets", "", f"Q{number}", 2)))
    columns = (Column("Score delta", digits=3), Column("W / T / L"))
    title = f"{_EPSILON} against the base by fifths of the disagreement on the base's answer"
    return PaperTable("buckets", title, ("Bucket",), columns, (Block("", tuple(rows)),))


def validity_table(results: Results) -> PaperTable:
    """Agreement of the proxy's sigma with people's, on the base's answers."""
    rows = []
    for metric, label in _METRICS.items():
        record: Record = {}
        if results.human_cell is not None:
            record = results.record(
                results.human_cell,
                "validity",
                source=BASE,
                scorer="all",
                items="Best-of-K's choice",
                metric=metric,
            )
        p = record.get("p")
        cells: tuple[Cell, ...] = (
            record.get("value"),
            record.get("low"),
            record.get("high"),
            None if p is None else f"{p:.1e}",
        )
        rows.append(Row((label,), cells, printed_row("validity", "", label, 4)))
    columns = (
        Column("Value", digits=4),
        Column("low"),
        Column("high"),
        Column("p"),
    )
    title = "Agreement of the proxy's disagreement with people's"
    return PaperTable("validity", title, ("Metric",), columns, (Block("", tuple(rows)),))


def multi_scorer_table(results: Results) -> PaperTable:
    """Gains over the base, aggregated over the reward models."""
    cell = _scorer_cell(results)
    aggregates = ("mean", "min", "mean - 1 std")
    blocks = []
    for aggregate in aggregates:
        rows = []
        for method in results.experiment.methods_of("scorers"):
            cells: list[Cell] = []
            for subset in _SUBSETS:
                record = _scorer_record(results, cell, method, subset, f"all: {aggregate}")
                cells += [_counts(record), record.get("delta")]
            printed = printed_row("multi_scorer", aggregate, method.label, 4)
            rows.append(Row((method.label,), tuple(cells), printed))
        blocks.append(Block(aggregate, tuple(rows)))
    columns = []
    for group in ("Overall", "High-sigma"):
        columns += [Column("W/T/L", (group,)), Column("Mean delta", (group,), digits=3)]
    return PaperTable(
        "multi_scorer",
        "Selection by all reward models, the change aggregated over them",
        ("Method",),
        tuple(columns),
        tuple(blocks),
        "The paper's numbers stand beside the mean; it does not say which aggregate it prints. "
        "Ours are in pooled deviations of each reward model.",
    )


def per_scorer_table(results: Results) -> PaperTable:
    """Gains over the base by each reward model, on its own scale."""
    cell = _scorer_cell(results)
    scorers: Sequence[str] = ()
    if cell is not None:
        scorers = results.experiment.generator(cell[0]).scorers
    columns = []
    for group in ("Overall", "High-sigma"):
        for scorer in scorers:
            columns += [
                Column("W/T/L", (group, scorer)),
                Column("Mean delta", (group, scorer), digits=3),
            ]
    rows = []
    for method in results.experiment.methods_of("scorers"):
        cells: list[Cell] = []
        for subset in _SUBSETS:
            for scorer in scorers:
                record = _scorer_record(results, cell, method, subset, scorer)
                cells += [_counts(record), record.get("delta")]
        printed = printed_row("per_scorer", "", method.label, len(cells))
        rows.append(Row((method.label,), tuple(cells), printed))
    title = "Selection by all reward models, judged by each"
    return PaperTable("per_scorer", title, ("Method",), tuple(columns), (Block("", tuple(rows)),))


def pool_table(results: Results) -> PaperTable:
    """The largest variance of people's ratings in a prompt's pool."""
    cell = results.human_cell
    rows = []
    for benchmark in results.experiment.benchmarks:
        record: Record = {}
        if cell is not None and cell[1] == benchmark.name:
            record = results.record(cell, "pool", source="people")
        cells = tuple(record.get(name) for name in ("mean", "q80", "q90", "share_from_q80"))
        printed = printed_row("pool", "", benchmark.paper, 4)
        rows.append(Row((benchmark.name,), cells, printed))
    columns = tuple(Column(label) for label in ("Mean D", "Q80", "Q90", "Share from Q80"))
    title = "Disagreement of people in the raw pool, D: the largest variance of a candidate"
    return PaperTable("pool", title, ("Dataset",), columns, (Block("", tuple(rows)),))


def error_table(results: Results) -> PaperTable:
    """Tradeoff by fifths of the distance between the proxy's sigma and people's."""
    labels = ("RBoN", _EPSILON)
    rows = []
    for number in range(1, 6):
        bucket = f"Q{number}"
        records = {
            label: _human_record(results, "errors", label, form="raw", bucket=bucket)
            for label in labels
        }
        first = records[_EPSILON]
        base: Cell = None
        if first.get("tradeoff") is not None and first.get("delta_tradeoff") is not None:
            base = first["tradeoff"] - first["delta_tradeoff"]
        deal = _human_record(results, "error_sources", source=DEAL, bucket=bucket)
        cells: tuple[Cell, ...] = (
            first.get("prompts"),
            first.get("error"),
            base,
            deal.get("delta_tradeoff"),
            *(records[label].get("delta_tradeoff") for label in labels),
        )
        rows.append(Row((bucket,), cells, printed_row("errors", "", bucket, 6)))
    columns = (
        Column("n", digits=0),
        Column("Mean error", digits=4),
        Column("Tradeoff of the base", digits=4),
        Column("delta DeAL", digits=4),
        Column("delta RBoN", digits=4),
        Column(f"delta {_EPSILON}", digits=4),
    )
    title = "Tradeoff by fifths of the error of the proxy's disagreement"
    return PaperTable("errors", title, ("Error bucket",), columns, (Block("", tuple(rows)),))


def scalarisation_table(results: Results) -> PaperTable:
    """Absolute ratings (S0) and wins per annotator (S1)."""
    blocks = []
    for subset, block_name in (
        ("overall", "Overall"),
        ("high-variance", "High-Disagreement (Top 20%)"),
    ):
        rows = []
        for label in (_DARC, _EPSILON):
            for form in ("S0", "S1"):
                record = _human_record(results, "scalarisation", label, subset=subset, form=form)
                cells = (_counts(record), record.get("delta"), record.get("spearman"))
                printed = printed_row("scalarisation", block_name, f"{label} {form}", 3)
                rows.append(Row((label, form), cells, printed))
        blocks.append(Block(block_name, tuple(rows)))
    columns = (
        Column("W / T / L"),
        Column("Mean delta", digits=3),
        Column("Spearman of S0 and S1", digits=3),
    )
    title = "Absolute ratings (S0) and pairwise preferences (S1)"
    return PaperTable("scalarisation", title, ("Method", "Scalarisation"), columns, tuple(blocks))


def family_alignment_table(results: Results) -> PaperTable:
    """Agreement with people's disagreement by family of rewrites."""
    metrics = {
        "overall": ("spearman", "partial spearman", "jaccard@20%"),
        "stress": ("spearman", "jaccard@20%"),
    }
    names = {"spearman": "rho", "partial spearman": "partial rho", "jaccard@20%": "Jaccard@20"}
    columns = [
        Column(names[metric], (part.capitalize(),), "high", 4)
        for part, part_metrics in metrics.items()
        for metric in part_metrics
    ]
    rows = []
    for family in results.experiment.rewrites.families:
        cells: list[Cell] = []
        for part, part_metrics in metrics.items():
            for metric in part_metrics:
                record: Record = {}
                if results.human_cell is not None:
                    record = results.record(
                        results.human_cell,
                        "family_agreement",
                        family=family,
                        slice=part,
                        metric=metric,
                    )
                cells.append(record.get("value"))
        printed = printed_row("family_alignment", "", family, 5)
        rows.append(Row((family,), tuple(cells), printed))
    title = "Agreement of the proxy with people by family of rewrites"
    return PaperTable(
        "family_alignment", title, ("Family",), tuple(columns), (Block("", tuple(rows)),)
    )


def family_downstream_table(results: Results) -> PaperTable:
    """DARC-epsilon by the proxies of the families, judged by people."""
    columns = (
        Column("Mean", ("Overall",), "high"),
        Column("Risk", ("Overall",), "low"),
        Column("Tradeoff", ("Overall",), "high"),
        Column("CVaR 10%", ("Overall",), "high"),
        Column("Tradeoff", ("Stress",), "high"),
        Column("CVaR 10%", ("Stress",), "high"),
    )
    base = method_text("mean")
    epsilon = _rule_of(results.experiment, _EPSILON)
    families = results.experiment.rewrites.families
    choices = [("Base", results.experiment.rewrites.family, base)]
    choices += [(f"{_EPSILON} + {family}", family, epsilon) for family in families]
    rows = []
    for label, family, method in choices:
        values: dict[str, Record] = {}
        for part in _STRESS_SUBSETS:
            record: Record = {}
            if results.human_cell is not None:
                record = results.record(
                    results.human_cell, "families", family=family, slice=part, method=method
                )
            values[part] = record
        overall = [values["overall"].get(n) for n in ("reward", "risk", "tradeoff", "cvar")]
        stress = [values["stress"].get(n) for n in ("tradeoff", "cvar")]
        printed = printed_row("family_downstream", "", label, 6)
        rows.append(Row((label,), (*overall, *stress), printed))
    title = "DARC-epsilon by family of rewrites, judged by people"
    return PaperTable("family_downstream", title, ("Method",), columns, (Block("", tuple(rows)),))


def sensitivity_table(results: Results) -> PaperTable:
    """Ranks by tradeoff as its weight changes."""
    factors = (0.5, 1.0, 2.0)
    cell = results.experiment.rated_cell
    source = judged()
    if results.human_cell is None:
        source = BASE
    rows = []
    for method in results.experiment.methods_of("main"):
        if method.source != BASE:
            continue
        cells: list[Cell] = []
        for factor in factors:
            record = results.record(
                cell,
                "sensitivity",
                source=source,
                subset="overall",
                method=method_text(method.rule),
                factor=factor,
            )
            cells.append(record.get("rank"))
        printed = printed_row("sensitivity", "", method.label, 3)
        rows.append(Row((method.label,), tuple(cells), printed))
    columns = tuple(Column(f"Rank at {factor:g} lambda", digits=0) for factor in factors)
    title = "Rank of each method by tradeoff at multiples of lambda"
    return PaperTable("sensitivity", title, ("Method",), columns, (Block("", tuple(rows)),))


def latency_table(results: Results) -> PaperTable:
    """Seconds per prompt of measured runs by the number of rewrites."""
    latency = results.experiment.latency
    rows = []
    if latency is not None:
        totals: dict[int, float] = {}
        for n_aug in latency.n_aug:
            stages = results.stage_seconds(n_aug)
            total = sum(stages.values())
            cells: list[Cell] = [None, None, None, None]
            if total:
                totals[n_aug] = total
                without = totals.get(0)
                cells[0] = total
                if n_aug and without:
                    cells[1] = 100 * (total / without - 1)
                cells[2] = 100 * stages.get("generate", 0.0) / total
                added = stages.get("rewrite", 0.0) + stages.get("score", 0.0)
                cells[3] = 100 * added / total
            printed = printed_row("latency", "", str(n_aug), 4)
            rows.append(Row((str(n_aug),), tuple(cells), printed))
    columns = (
        Column("Total (s)", digits=4),
        Column("Over N_aug 0 (%)"),
        Column("Generation (%)", digits=1),
        Column("Rewriting and scoring (%)", digits=1),
    )
    return PaperTable(
        "latency",
        "Seconds per prompt of measured runs, one prompt at a time",
        ("N_aug",),
        columns,
        (Block("", tuple(rows)),),
        "The paper's last column is the share of scoring alone.",
    )


def hyperparameter_table(results: Results) -> PaperTable:
    """What the experiment was run with."""
    experiment = results.experiment
    sampling = experiment.sampling
    lines = {
        "Generators": ", ".join(generator.model for generator in experiment.generators),
        "Candidates": f"K {sampling.k}, temperature {sampling.temperature:g}, "
        f"top-p {sampling.top_p:g}, {sampling.max_tokens} tokens",
        "Reward models": ", ".join(
            f"{model.name} {model.model} ({model.max_length} tokens)"
            for model in experiment.reward_models
        ),
        "Rewrites": f"{experiment.rewrites.n_aug} by {experiment.rewrites.rewriter}, "
        f"family {experiment.rewrites.family}",
        "Rules": ", ".join(
            dict.fromkeys(method.rule for method in experiment.methods if method.rule)
        ),
        "Tradeoff": f"lambda {experiment.evaluation.lam:g}, sigma of the "
        f"{experiment.evaluation.sigma} half",
    }
    if experiment.deal is not None:
        values = ", ".join(f"{name} {value}" for name, value in experiment.deal)
        lines["DeAL"] = values
    if experiment.dropout is not None:
        lines["MC dropout"] = f"{experiment.dropout.passes} passes"
    for policy in experiment.policies:
        lines[policy.name] = f"{policy.loss}, label noise {policy.label_noise:g}"
    rows = tuple(Row((name,), (text,)) for name, text in lines.items())
    title = "What the experiment was run with"
    return PaperTable("hyperparameters", title, ("Part",), (Column("Value"),), (Block("", rows),))


def mismatch_table(results: Results) -> PaperTable:
    """The base's answers on which the proxy and people differ most, in both directions."""
    records: list[Record] = []
    if results.human_cell is not None:
        records = results.records(
            results.human_cell, "mismatches", source=BASE, items="Best-of-K's choice"
        )
    kinds = dict.fromkeys(record["kind"] for record in records)
    blocks = []
    for kind in kinds:
        rows = [
            Row(
                (str(record["prompt_id"]),),
                (
                    record["sigma_proxy"],
                    record["sigma_human"],
                    _abridged(record["prompt"]),
                    _abridged(record["response"]),
                ),
            )
            for record in records
            if record["kind"] == kind
        ]
        blocks.append(Block(kind, tuple(rows)))
    columns = (
        Column("sigma of the proxy", digits=3),
        Column("sigma of people", digits=3),
        Column("Prompt (abridged)"),
        Column("Answer (abridged)"),
    )
    title = "Answers on which the proxy and people differ most"
    return PaperTable("mismatches", title, ("Prompt",), columns, tuple(blocks))


def _abridged(text: object) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(str(text or "").split())
    if len(words) <= _MAX_TEXT:
        return words
    return words[: _MAX_TEXT - 3] + "..."


def _method_record(
    results: Results,
    cell: tuple[str, str],
    frame: str,
    method: MethodConfig,
    subset: str,
    source: str,
) -> Record:
    """The row of a method in a frame of an evaluation."""
    return results.record(
        cell, frame, source=source, subset=subset, method=method_text(method.rule)
    )


def _human_record(
    results: Results, frame: str, label: str = _EPSILON, source: str = "", **cells: str
) -> Record:
    """The row of a method of the base in a frame that people judge."""
    if results.human_cell is None:
        return {}
    return results.record(
        results.human_cell,
        frame,
        source=judged(source or BASE),
        method=_rule_of(results.experiment, label if not source else "Base"),
        **cells,
    )


def _scorer_cell(results: Results) -> tuple[str, str] | None:
    """The first generator and benchmark that several reward models scored."""
    for generator in results.experiment.generators:
        if len(generator.scorers) > 1:
            return generator.name, generator.benchmarks[-1]
    return None


def _scorer_record(
    results: Results,
    cell: tuple[str, str] | None,
    method: MethodConfig,
    subset: str,
    scorer: str,
) -> Record:
    if cell is None:
        return {}
    return results.record(
        cell, "scorers", subset=subset, method=method_text(method.rule), scorer=scorer
    )


def _rule_of(experiment: Experiment, label: str) -> str:
    """What evaluations call the rule of a label."""
    for method in experiment.methods:
        if method.label == label and method.source == BASE:
            return method_text(method.rule)
    return method_text("mean")


def _row(
    labels: tuple[str, ...],
    values: Sequence[Cell],
    printed: Sequence[Cell],
    method: MethodConfig,
) -> Row:
    return Row(labels, tuple(values), tuple(printed), ranked=method.type == "Inference")


def _counts(record: Record) -> Cell:
    """Wins, ties and losses, averaged over splits."""
    if record.get("win") is None:
        return None
    return " / ".join(f"{record[name]:.0f}" for name in ("win", "tie", "loss"))


def _block_title(name: str) -> str:
    if name == "Overall":
        return name
    return name + _TOP


#: The tables by name, in the order of the paper.
TABLES: dict[str, Callable[[Results], PaperTable]] = {
    "main": main_table,
    "changes": change_table,
    "human": human_table,
    "buckets": bucket_table,
    "validity": validity_table,
    "multi_scorer": multi_scorer_table,
    "pool": pool_table,
    "hyperparameters": hyperparameter_table,
    "scalarisation": scalarisation_table,
    "latency": latency_table,
    "errors": error_table,
    "per_scorer": per_scorer_table,
    "mismatches": mismatch_table,
    "scaling": scaling_table,
    "family_alignment": family_alignment_table,
    "family_downstream": family_downstream_table,
    "sensitivity": sensitivity_table,
}
