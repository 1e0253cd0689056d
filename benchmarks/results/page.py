"""The page as Markdown; every claim in it is made by the numbers beside it."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.results.equal_terms import equal_terms_section
from benchmarks.results.measure import (
    FAMILIES,
    KINDS,
    POOL,
    CommandOutput,
    Findings,
    PoolFindings,
    SetFindings,
    Size,
)
from darc.decide.registry import DEFAULT_RULE

MEASURES = {"mean": "mean", "tradeoff": "tradeoff", "cvar_10": "CVaR 10 %"}
PAPER_CORRELATION = 0.65
VALIDITY = ("spearman", "partial spearman", "jaccard@20%")
FAMILY_COLUMNS = ("family", "slice", "method", "reward", "risk", "tradeoff", "cvar")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

Record = dict[str, Any]


def page(findings: Findings, command: str, place: str, quick: bool) -> str:
    """The whole page; `command` makes it, and the commands' outputs are in `place`."""
    parts = ["# Results", _intro(findings, command, place)]
    if quick:
        parts.append("**A quick page, of small samples: it shows that everything runs, no more.**")
    parts += ["## Rules on people's ratings", *_rules(findings.sets)]
    equal_terms = [rated_set.equal_terms for rated_set in findings.sets]
    parts += ["### On equal terms", *equal_terms_section(equal_terms)]
    parts += ["## Is the disagreement signal, and does any setting help?", *_signal(findings.sets)]
    parts.append("## Does sensitivity to rewrites track people's disagreement?")
    parts += _tracking(findings.sets, findings.size)
    if findings.pool.embedded:
        parts.append("## A pool of the embedded model")
    else:
        parts.append(f"## A pool by {findings.pool.generator}")
    parts += _pool(findings.pool, findings.size)
    parts.append("### Families of rewrites")
    parts += _families(findings.pool)
    return "\n\n".join(parts) + "\n"


def _intro(findings: Findings, command: str, place: str) -> str:
    return (
        f"What DARC's own commands say of {_count(len(findings.sets), 'set')} of human ratings, and"
        f" of a pool of answers by a small model. `{command}` makes this page; every measurement on"
        f" it was printed by a `darc` command, whose output stays in `{place}`. A star marks a"
        " change against Best-of-K whose 95 % interval (paired resamples of the prompts) excludes"
        " 0. Nothing that selected is judged: half of the raters, or of the rewrites, selects and"
        f" the other half judges, averaged over {findings.size.splits} splits."
    )


def _rules(sets: Sequence[SetFindings]) -> Iterable[str]:
    rows = []
    paper_signs: dict[str, list[int]] = {measure: [] for measure in MEASURES}
    default_signs: list[int] = []
    for rated_set in sets:
        for subset in _unique(row["subset"] for row in _rows(rated_set.evaluation, "human")):
            changes = _changes(rated_set.evaluation, subset)
            cells = []
            for measure in MEASURES:
                if measure == "tradeoff" and not rated_set.tradeoff_known:
                    cells.append("cannot be judged")
                    continue
                cells.append(_moved(changes, measure))
                for row in changes:
                    sign = _sign(row, measure)
                    if row["method"] == DEFAULT_RULE:
                        default_signs.append(sign)
                    else:
                        paper_signs[measure].append(sign)
            rows.append([rated_set.name, subset, *cells])
    yield _table(["set", "prompts", "held-out mean", "tradeoff", "CVaR 10 %"], rows)
    counts = [
        f"the {MEASURES[measure]} is raised in {signs.count(1)} and lowered in {signs.count(-1)} of"
        f" {len(signs)} comparisons"
        for measure, signs in paper_signs.items()
        if signs
    ]
    all_signs = [sign for signs in paper_signs.values() for sign in signs]
    text = (
        f"The paper reports gains of all three on its own ratings. Here {'; '.join(counts)}: at"
        f" these settings six rules of the paper {_verdict(all_signs)}, counted by single"
        " intervals."
        f" `{DEFAULT_RULE}`, the default, raises {default_signs.count(1)} and lowers"
        f" {default_signs.count(-1)} of its {len(default_signs)}. Where nothing differs, one"
        " interval in twenty excludes 0 by luck; the simultaneous band of `darc eval` is wider,"
        " so fewer changes are beyond noise by it. The terms are not equal: only"
        f" `{DEFAULT_RULE}` uses the ids of raters and systems, and the six rules, of which"
        " `cvar`, `lcb` and `penalty` are"
        " the paper's baselines or variants, run at their defaults. They are neither tuned on a"
        " development split, as in the paper, nor scaled to the rating scale, and `tau` ranks by"
        " the entropic value, where the paper's experiments ranked by the mean. Below they are"
        " compared [on equal terms](#on-equal-terms)."
    )
    blind = [rated_set.name for rated_set in sets if not rated_set.tradeoff_known]
    if blind:
        text += f" On {_listed(blind)} no split both selects and judges with a sigma, for there are"
        text += " too few raters, so the tradeoff cannot be judged."
    yield text
    for rated_set in sets:
        yield f"### {rated_set.name}"
        left_out = () if rated_set.tradeoff_known else ("tradeoff",)
        yield from _change_table(rated_set.evaluation, rated_set.name, left_out)


def _verdict(signs: Sequence[int]) -> str:
    """Whether changes are more often gains or losses."""
    better = signs.count(1)
    worse = signs.count(-1)
    if better > worse:
        return "help more often than they cost"
    if worse > better:
        return "cost more often than they help"
    return "neither cost nor help more"


def _signal(sets: Sequence[SetFindings]) -> Iterable[str]:
    rows = []
    cautions = []
    leaving = []
    for rated_set in sets:
        best = next(iter(rated_set.tuning["rules"]), None)
        cell = "nothing could be tuned"
        if best is not None:
            low, high = best["interval"]
            cell = f"{best['setting']}: {best['gain']:+.3f} ({low:+.3f} to {high:+.3f})"
        recommended = rated_set.tuning["recommended"]
        rows.append([rated_set.name, rated_set.diagnosis["sentences"][0], cell, recommended])
        care = ""
        if rated_set.tuning["beyond_noise"]:
            leaving.append(rated_set.name)
            care = " Take its gain with care."
        copied = [note for note in rated_set.diagnosis["notes"] if "copied rows" in note]
        cautions += [f"{rated_set.name}: {note}{care}" for note in copied]
    header = [
        "set",
        "`darc diagnose`, first sentence",
        "best cross-fitted gain",
        "`darc tune` says",
    ]
    yield _table(header, rows)
    where = f"on {_listed(leaving)}" if leaving else "on none of the sets"
    yield (
        "Gains are of mean - 2 sigma on prompts that had no part in choosing the setting; the"
        " intervals allow for the best of all rules being shown. `darc tune` recommends to leave"
        f" Best-of-K {where}."
    )
    yield from cautions


def _tracking(sets: Sequence[SetFindings], size: Size) -> Iterable[str]:
    compared = [
        (rated_set, rated_set.validity) for rated_set in sets if rated_set.validity is not None
    ]
    without = [rated_set.name for rated_set in sets if rated_set.validity is None]
    if without:
        yield f"No texts are there for {_listed(without)}."
    if not compared:
        return
    related = [rated_set.name for rated_set, _ in compared if "relevance" in rated_set.scorers]
    relevance = "`relevance` needs prompts in English."
    if related:
        relevance = (
            f"`relevance` is used on {_listed(related)} alone, for it needs prompts in English."
        )
    yield (
        f"The paper's central empirical claim. Each text gets up to {size.rewrites} rewrites by"
        " rule; the proxy's sigma over them is compared with the raters' sigma. The scorers are"
        f" `fluency` and `form`; {relevance}"
        f" Samples are seeded and of at most about {size.texts} texts per set."
    )
    rows = []
    all_scorers = []
    for rated_set, validity in compared:
        frame = [r for r in _rows(validity, "validity") if r["items"] == "all candidates"]
        for scorer in _unique(row["scorer"] for row in frame):
            cells = {row["metric"]: row for row in frame if row["scorer"] == scorer}
            intervals = [_with_interval(cells[metric]) for metric in VALIDITY]
            rows.append([rated_set.name, scorer, cells["spearman"]["n"], *intervals])
            if scorer == "all":
                all_scorers.append(cells["spearman"])
    header = ["set", "scorer", "texts", "Spearman", "partial Spearman", "Jaccard at 20 %"]
    yield _table(header, rows)
    yield tracked(all_scorers, [rated_set.name for rated_set, _ in compared])


def tracked(correlations: Sequence[Record], names: Sequence[str]) -> str:
    """What the rank correlations of all scorers together say."""
    values = [row["value"] for row in correlations if row["value"] is not None]
    if not values:
        return "No rank correlation could be computed."
    highest = max([row["high"] for row in correlations if row["high"] is not None], default=1.0)
    text = (
        f"With all scorers together the rank correlation lies between {min(values):.2f} and"
        f" {max(values):.2f}. The paper reports {PAPER_CORRELATION:g} for a learned reward model"
        " and its own raters; "
    )
    if highest < PAPER_CORRELATION:
        text += "every interval here lies below that. The claim was not tested"
        text += " under the paper's conditions: there is no reward model,"
        text += " LLM rewriter or chat answer here."
    elif max(values) < PAPER_CORRELATION:
        text += "every number here is below that, though not every interval."
    else:
        text += "some sets reach that here."
    text += " These scorers are not reward models: they see wording and form, not truth."
    kinds = _unique(KINDS[name] for name in names if name in KINDS)
    about = [
        f"those of {_listed([name for name in names if KINDS.get(name) == kind])} are {kind}"
        for kind in kinds
    ]
    if about:
        text += f" Of the texts, {_listed(about)}."
    return f"{text} Check before taking rewrites for raters (`darc eval RUN RATINGS`)."


def _pool(pool: PoolFindings, size: Size) -> Iterable[str]:
    turns = pool.run["prompts"]
    whose = "that come with DARC" if pool.own_prompts else "of a file"
    more = f" ({turns} with second turns)" if turns > pool.questions else ""
    scorers = _listed(pool.scorers)
    if pool.embedded:
        answers = f"K = {size.k} answers of up to {size.tokens} tokens"
    else:
        answers = f"up to {size.k} answers to each"
    yield (
        f"{pool.generator}, {pool.questions} prompts {whose}{more}, {answers},"
        f" {size.rewrites} rewrites by rule, the scorers {scorers}."
        " Half of the rewrites selects, the other half judges: this says how rules behave under the"
        " proxy, not what people would say."
    )
    yield from _change_table(pool.evaluation, POOL)
    changes = _changes(pool.evaluation, "overall")
    yield " ".join(
        f"The {name} is {_moved(changes, measure)}." for measure, name in MEASURES.items()
    )
    if pool.not_run:
        reasons = ", ".join(f"{name} ({reason})" for name, reason in sorted(pool.not_run.items()))
        yield f"Not run: {reasons}."
    yield f"{pool.evaluation['frames']['latency']['note']} Times are of the machine that made it."


def _families(pool: PoolFindings) -> Iterable[str]:
    frame = pool.families["frames"].get("families", {"rows": [], "note": ""})
    rows = [[_cell(row[column]) for column in FAMILY_COLUMNS] for row in frame["rows"]]
    families = _unique(row["family"] for row in frame["rows"])
    if families:
        yield _table(FAMILY_COLUMNS, rows)
        yield f"The same answers, rewritten by {_listed(families)}. {frame['note']}"
    missing = [family for family in FAMILIES if family not in families]
    if missing:
        yield f"Rewriting by {_listed(missing)} left nothing to compare."
    for warning in pool.families["warnings"]:
        if "rewrites were refused" in warning:
            yield f"{warning.replace(POOL, FAMILIES[0], 1)}."


def _change_table(
    evaluation: CommandOutput, source: str, left_out: Sequence[str] = ()
) -> Iterable[str]:
    """Best-of-K's mean, and a table of the changes of all other rules on all prompts."""
    base = next(row for row in _rows(evaluation, "human") if row["source"] == source)
    yield f"Best-of-K: mean {base['mean']:.3f}. Changes against it:"
    measures = [measure for measure in MEASURES if measure not in left_out]
    rows = [
        [row["method"], *(_change(row, measure) for measure in measures)]
        for row in _changes(evaluation, "overall")
    ]
    yield _table(["rule", *(MEASURES[measure] for measure in measures)], rows)


def _changes(evaluation: CommandOutput, subset: str) -> list[Record]:
    """The rows of the rules other than Best-of-K, by name."""
    rows = [
        row
        for row in _rows(evaluation, "human")
        if row["subset"] == subset and row["method"] != "mean"
    ]
    return sorted(rows, key=lambda row: str(row["method"]))


def _rows(output: CommandOutput, frame: str) -> list[Record]:
    return list(output["frames"][frame]["rows"])


def _sign(row: Record, measure: str) -> int:
    """1 or -1 where the change's interval excludes 0, else 0."""
    low = row[f"low_{measure}"]
    high = row[f"high_{measure}"]
    if low is None or high is None:
        return 0
    return int(low > 0) - int(high < 0)


def _moved(changes: Sequence[Record], measure: str) -> str:
    """Which rules raise and lower a measure, by single intervals."""
    if all(row[f"delta_{measure}"] is None for row in changes):
        return "not known"
    parts = []
    for word, sign in (("raised", 1), ("lowered", -1)):
        rules = [row["method"] for row in changes if _sign(row, measure) == sign]
        if rules:
            parts.append(f"{word} by {', '.join(rules)}")
    return "; ".join(parts) or "changed by none"


def _change(row: Record, measure: str) -> str:
    delta, low, high = (row[f"{part}_{measure}"] for part in ("delta", "low", "high"))
    if delta is None:
        return "-"
    if low is None or high is None:
        return f"{delta:+.3f}"
    star = "\\*" if _sign(row, measure) else ""
    return f"{delta:+.3f}{star} ({low:+.3f} to {high:+.3f})"


def _with_interval(row: Record) -> str:
    if row["value"] is None:
        return "-"
    if row["low"] is None:
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(_table_line(line) for line in lines)


def _table_line(cells: Sequence[object]) -> str:
    escaped = [str(cell).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _count(number: int, noun: str) -> str:
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{word} {noun}" if number == 1 else f"{word} {noun}s"


def _listed(words: Sequence[str]) -> str:
    """The words with commas, and the last one after "and"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
