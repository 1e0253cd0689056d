"""The page as Markdown; every claim in it is made by the numbers beside it."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.results.measure import (
    FAMILIES,
    KINDS,
    POOL,
    Findings,
    Found,
    PoolFound,
    Ratings,
    Size,
)
from darc.decide.registry import DEFAULT_RULE

MEASURES = {"mean": "mean", "tradeoff": "tradeoff", "cvar_10": "CVaR 10 %"}
PAPER_CORRELATION = 0.65
VALIDITY = ("spearman", "partial spearman", "jaccard@20%")
FAMILY_COLUMNS = ("family", "slice", "method", "reward", "risk", "tradeoff", "cvar")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

Record = dict[str, Any]


def page(found: Findings, command: str, place: str, quick: bool) -> str:
    """The whole page; `command` makes it, and the commands' outputs are in `place`."""
    parts = ["# Results", _intro(found, command, place)]
    if quick:
        parts.append("**A quick page, of small samples: it shows that everything runs, no more.**")
    parts += ["## Rules on people's ratings", *_rules(found.sets)]
    parts += ["## Is the disagreement signal, and does any setting help?", *_signal(found.sets)]
    parts.append("## Does sensitivity to rewrites track people's disagreement?")
    whose = "of the embedded model" if found.pool.embedded else f"by {found.pool.generator}"
    parts += [*_tracking(found.sets, found.size), f"## A pool {whose}"]
    parts += [*_pool(found.pool, found.size), "### Families of rewrites", *_families(found.pool)]
    return "\n\n".join(parts) + "\n"


def _intro(found: Findings, command: str, place: str) -> str:
    return (
        f"What DARC's own commands say of {_count(len(found.sets), 'set')} of human ratings, and of"
        f" a pool of answers by a small model. `{command}` makes this page; every measurement on it"
        f" was printed by a `darc` command, whose output stays in `{place}`. A star marks a change"
        " against Best-of-K whose 95 % interval (paired resamples of the prompts) excludes 0."
        " Nothing that selected is judged: half of the raters, or of the rewrites, selects and the"
        f" other half judges, averaged over {found.size.repeats} splits."
    )


def _rules(sets: Sequence[Ratings]) -> Iterable[str]:
    rows = []
    seen: dict[str, list[int]] = {measure: [] for measure in MEASURES}
    default: list[int] = []
    for one in sets:
        for subset in _unique(row["subset"] for row in _rows(one.evaluation, "human")):
            changes = _changes(one.evaluation, subset)
            cells = []
            for measure in MEASURES:
                if measure == "tradeoff" and not one.tradeoff_known:
                    cells.append("cannot be judged")
                    continue
                cells.append(_moved(changes, measure))
                for row in changes:
                    (default if row["method"] == DEFAULT_RULE else seen[measure]).append(
                        _sign(row, measure)
                    )
            rows.append([one.name, subset, *cells])
    yield _table(["set", "prompts", "held-out mean", "tradeoff", "CVaR 10 %"], rows)
    said = [
        f"the {MEASURES[measure]} is raised in {signs.count(1)} and lowered in {signs.count(-1)} of"
        f" {len(signs)} comparisons"
        for measure, signs in seen.items()
        if signs
    ]
    total = [sign for signs in seen.values() for sign in signs]
    better = total.count(1)
    worse = total.count(-1)
    verdict = "cost more often than they help" if worse > better else "neither cost nor help more"
    verdict = "help more often than they cost" if better > worse else verdict
    text = (
        f"The paper reports gains of all three on its own ratings. Here {'; '.join(said)}: beyond"
    )
    text += f" noise the paper's rules {verdict}. `{DEFAULT_RULE}`, the default, raises"
    text += f" {default.count(1)} and lowers {default.count(-1)} of its {len(default)}."
    text += " Where nothing differs, one interval in twenty excludes"
    text += " 0 by luck."
    if blind := [one.name for one in sets if not one.tradeoff_known]:
        text += f" On {_listed(blind)} no split both selects and judges with a sigma, for there are"
        text += " too few raters, so the tradeoff cannot be judged."
    yield text
    for one in sets:
        yield f"### {one.name}"
        left_out = () if one.tradeoff_known else ("tradeoff",)
        yield from _change_table(one.evaluation, one.name, left_out)


def _signal(sets: Sequence[Ratings]) -> Iterable[str]:
    rows = []
    cautions = []
    leaving = []
    for one in sets:
        best = next(iter(one.tuning["rules"]), None)
        cell = "nothing could be tuned"
        if best is not None:
            low, high = best["interval"]
            cell = f"{best['setting']}: {best['gain']:+.3f} ({low:+.3f} to {high:+.3f})"
        recommended = one.tuning["recommended"]
        rows.append([one.name, one.diagnosis["sentences"][0], cell, recommended])
        if one.tuning["beyond_noise"]:
            leaving.append(one.name)
        care = " Take its gain with care." if one.name in leaving else ""
        copied = [note for note in one.diagnosis["notes"] if "copied rows" in note]
        cautions += [f"{one.name}: {note}{care}" for note in copied]
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


def _tracking(sets: Sequence[Ratings], size: Size) -> Iterable[str]:
    compared = [(one, one.validity) for one in sets if one.validity is not None]
    if without := [one.name for one in sets if one.validity is None]:
        yield f"No texts are there for {_listed(without)}."
    if not compared:
        return
    related = [one.name for one, _ in compared if "relevance" in one.scorers]
    scorers = f"`relevance` is used on {_listed(related)} alone, for it needs prompts in English."
    yield (
        f"The paper's central empirical claim. Each text gets up to {size.rewrites} rewrites by"
        " rule; the proxy's sigma over them is compared with the raters' sigma. The scorers are"
        f" `fluency` and `form`; {scorers if related else '`relevance` needs prompts in English.'}"
        f" Samples are seeded and of at most about {size.texts} texts a set."
    )
    rows = []
    all_scorers = []
    for one, validity in compared:
        frame = [r for r in _rows(validity, "validity") if r["items"] == "all candidates"]
        for scorer in _unique(row["scorer"] for row in frame):
            cells = {row["metric"]: row for row in frame if row["scorer"] == scorer}
            shown = [_with_interval(cells[metric]) for metric in VALIDITY]
            rows.append([one.name, scorer, cells["spearman"]["n"], *shown])
            if scorer == "all":
                all_scorers.append(cells["spearman"])
    header = ["set", "scorer", "texts", "Spearman", "partial Spearman", "Jaccard at 20 %"]
    yield _table(header, rows)
    yield tracked(all_scorers, [one.name for one, _ in compared])


def tracked(found: Sequence[Record], names: Sequence[str]) -> str:
    """What the rank correlations of all scorers together say."""
    values = [row["value"] for row in found if row["value"] is not None]
    if not values:
        return "No rank correlation could be computed."
    highest = max([row["high"] for row in found if row["high"] is not None], default=1.0)
    text = "With all scorers together the rank correlation lies between"
    text += f" {min(values):.2f} and {max(values):.2f}. The paper reports {PAPER_CORRELATION:g} for"
    text += " a learned reward model and its own raters; "
    if highest < PAPER_CORRELATION:
        text += "every interval here lies below that: it does not reproduce here."
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
    text += f" Of the texts, {_listed(about)}." if about else ""
    return f"{text} Check before taking rewrites for raters (`darc eval RUN RATINGS`)."


def _pool(pool: PoolFound, size: Size) -> Iterable[str]:
    turns = pool.run["prompts"]
    whose = "that come with DARC" if pool.own_prompts else "of a file"
    more = f" ({turns} with second turns)" if turns > pool.questions else ""
    scorers = _listed(pool.scorers)
    answers = f"K = {size.k} answers of up to {size.tokens} tokens"
    answers = answers if pool.embedded else f"up to {size.k} answers to each"
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


def _families(pool: PoolFound) -> Iterable[str]:
    frame = pool.families["frames"].get("families", {"rows": [], "note": ""})
    rows = [
        [f"{row[c]:.3f}" if isinstance(row[c], float) else _dash(row[c]) for c in FAMILY_COLUMNS]
        for row in frame["rows"]
    ]
    shown = _unique(row["family"] for row in frame["rows"])
    if shown:
        yield _table(FAMILY_COLUMNS, rows)
        yield f"The same answers, rewritten by {_listed(shown)}. {frame['note']}"
    if missing := [family for family in FAMILIES if family not in shown]:
        yield f"Rewriting by {_listed(missing)} left nothing to compare."
    refused = [one for one in pool.families["warnings"] if "rewrites were refused" in one]
    yield from [f"{one.replace(POOL, FAMILIES[0], 1)}." for one in refused]


def _change_table(evaluation: Found, source: str, left_out: Sequence[str] = ()) -> Iterable[str]:
    """Best-of-K's mean, and a table of the changes of all other rules on all prompts."""
    base = next(row for row in _rows(evaluation, "human") if row["source"] == source)
    yield f"Best-of-K: mean {base['mean']:.3f}. Changes against it:"
    shown = [measure for measure in MEASURES if measure not in left_out]
    rows = [
        [row["method"], *(_change(row, measure) for measure in shown)]
        for row in _changes(evaluation, "overall")
    ]
    yield _table(["rule", *(MEASURES[measure] for measure in shown)], rows)


def _changes(evaluation: Found, subset: str) -> list[Record]:
    """The rows of the rules other than Best-of-K, by name."""
    rows = [
        r for r in _rows(evaluation, "human") if r["subset"] == subset and r["method"] != "mean"
    ]
    return sorted(rows, key=lambda row: str(row["method"]))


def _rows(output: Found, frame: str) -> list[Record]:
    return list(output["frames"][frame]["rows"])


def _sign(row: Record, measure: str) -> int:
    """1 or -1 where the change's interval excludes 0, else 0."""
    low = row[f"low_{measure}"]
    high = row[f"high_{measure}"]
    if low is None or high is None:
        return 0
    return int(low > 0) - int(high < 0)


def _moved(changes: Sequence[Record], measure: str) -> str:
    """Which rules raise and lower a measure beyond noise."""
    if all(row[f"delta_{measure}"] is None for row in changes):
        return "not known"
    parts = []
    for word, sign in (("raised", 1), ("lowered", -1)):
        found = [row["method"] for row in changes if _sign(row, measure) == sign]
        parts += [f"{word} by {', '.join(found)}"] if found else []
    return "; ".join(parts) or "changed by none beyond noise"


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
    span = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    return f"{row['value']:.2f}{span}"


def _dash(cell: object) -> str:
    return "-" if cell is None else str(cell)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |"
        for line in lines
    )


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _count(number: int, noun: str) -> str:
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{word} {noun}{'s' * (number != 1)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else ""]))
