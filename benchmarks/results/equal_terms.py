"""The default rule and the paper's three rules on equal terms, as a section of the results.

No rule learns who rated or which system wrote: every rating counts as that of another person, and
systems are left out. The paper's rules run at their defaults, with parameters that are scaled to
the ratings, and tuned on prompts that do not judge.
"""

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results.output_cache import OutputCache
from darc.decide.registry import DEFAULT_RULE

# The paper rates from 0 to 10, with these parameters.
PAPER_WIDTH = 10.0
BETA = 1.0
EPSILON = 0.25
#: The paper's experiments ranked by the mean among the candidates of low risk.
TAU = "tau:quantile=0.25,objective=mean"
DEFAULTS = ("entropic", TAU, "epsilon")
TUNED = (DEFAULT_RULE, "entropic", "tau", "epsilon")
MEASURES = {"tradeoff": "tradeoff", "cvar_10": "CVaR 10 %"}

Record = dict[str, Any]


@dataclass(frozen=True)
class EqualTerms:
    """What the commands say of one set of ratings without ids."""

    name: str
    #: The paper's rules with parameters scaled to the ratings.
    scaled: tuple[str, ...]
    #: What `darc eval` prints.
    evaluation: Record
    #: What `darc tune` prints.
    tuning: Record

    @property
    def tradeoff_known(self) -> bool:
        """Whether some split both selects and judges with a sigma."""
        return not any("no split both selects and judges" in w for w in self.evaluation["warnings"])

    @property
    def verdicts(self) -> list[Record]:
        """What the band says of each rule, without tradeoffs that cannot be judged."""
        return [
            row
            for row in self.evaluation["verdicts"]
            if self.tradeoff_known or row["measure"] != "tradeoff"
        ]


def measure_equal_terms(
    path: Path, name: str, cache: OutputCache, measuring: Sequence[str], splits: int, seed: str
) -> EqualTerms:
    """Evaluate and tune the rules on ratings without ids.

    Args:
        path: The ratings, CSV or gzipped CSV.
        name: The name of the set.
        cache: Runs commands and keeps their outputs.
        measuring: The options of `darc eval`.
        splits: How many splits `darc tune` makes.
        seed: The seed.

    Returns:
        What the commands printed.
    """
    target = cache.folder / f"{name}-no-ids.csv"
    cache.folder.mkdir(parents=True, exist_ok=True)
    width = _write_without_ids(path, target)
    scaled = scaled_rules(width)
    rules = dict.fromkeys((DEFAULT_RULE, *DEFAULTS, *scaled))
    options = [word for rule in rules for word in ("--rule", rule)]
    evaluation = cache.output(
        f"{name}-equal-eval",
        *("eval", target, "--system", "none"),
        *options,
        *measuring,
        *("--seed", seed),
    )
    options = [word for rule in TUNED for word in ("--rule", rule)]
    tuning = cache.output(
        f"{name}-equal-tune",
        *("tune", target, "--system", "none"),
        *options,
        *("--splits", str(splits), "--seed", seed, "--json"),
    )
    return EqualTerms(name, scaled, evaluation, tuning)


def scaled_rules(width: float) -> tuple[str, ...]:
    """The paper's rules with parameters that mean the same on a scale of another width."""
    beta = BETA * PAPER_WIDTH / width
    epsilon = EPSILON * width / PAPER_WIDTH
    return (
        f"entropic:beta={beta:g}",
        f"{TAU},beta={beta:g}",
        f"epsilon:epsilon={epsilon:g},beta={beta:g}",
    )


def _write_without_ids(path: Path, target: Path) -> float:
    """Write the ratings with another person for each; the width of their range."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    values = []
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        for number, row in enumerate(csv.DictReader(io.StringIO(content.decode("utf-8-sig")))):
            if row["rating"]:
                values.append(float(row["rating"]))
                writer.writerow([row["prompt_id"], row["candidate_id"], number, row["rating"]])
    return max(values) - min(values)


def equal_terms_section(sets: Sequence[EqualTerms]) -> Iterable[str]:
    """The section, as parts of Markdown.

    Args:
        sets: What the commands say of each set.

    Yields:
        Paragraphs and tables.
    """
    yield (
        "Every rating counts as that of another person and systems are left out, so that no rule"
        " has ids; half of the ratings of each answer selects and the other half judges. The"
        " paper's three rules run at their defaults, `tau` with the objective of the paper's"
        " experiments, and with parameters scaled from the paper's ratings of 0 to 10 to the range"
        " of each set. Beyond noise is what `darc eval` calls so: outside a 95 % band, one for"
        " `auto` alone and one over all other rules and both measures of a set and subset."
    )
    yield _table(["set", "prompts", "measure", "better", "worse"], _verdict_table(sets))
    yield _counts_sentence(sets)
    yield (
        "Tuned by cross-fitting, the parameters for each fifth of the prompts chosen on the others"
        " (`darc tune`; the interval of `auto` is its own, the others hold together):"
    )
    yield _table(["set", "objective", *TUNED], [_tuning_row(terms) for terms in sets])
    blind = [terms.name for terms in sets if not terms.tradeoff_known]
    if blind:
        yield (
            f"Without ids no split of {', '.join(blind)} both selects and judges with a sigma, so"
            " tradeoffs and tuning for them are left out there."
        )


def _verdict_table(sets: Sequence[EqualTerms]) -> list[list[str]]:
    rows = []
    for terms in sets:
        groups: dict[tuple[str, str], dict[str, list[str]]] = {}
        for row in terms.verdicts:
            words = groups.setdefault((row["subset"], row["measure"]), {})
            words.setdefault(row["verdict"], []).append(f"`{row['method']}` {row['delta']:+.3f}")
        for (subset, measure), words in groups.items():
            better = ", ".join(words.get("better", ["none"]))
            worse = ", ".join(words.get("worse", ["none"]))
            rows.append([terms.name, subset, MEASURES[measure], better, worse])
    return rows


def _counts_sentence(sets: Sequence[EqualTerms]) -> str:
    names = (f"`{DEFAULT_RULE}`", "the paper's rules at their defaults", "the same, scaled")
    verdicts: dict[str, list[str]] = {name: [] for name in names}
    for terms in sets:
        for row in terms.verdicts:
            if row["method"] == DEFAULT_RULE:
                verdicts[names[0]].append(row["verdict"])
            elif row["method"] in DEFAULTS:
                verdicts[names[1]].append(row["verdict"])
            elif row["method"] in terms.scaled:
                verdicts[names[2]].append(row["verdict"])
    counts = []
    for name, words in verdicts.items():
        better = words.count("better")
        worse = words.count("worse")
        counts.append(f"{name}: better in {better}, worse in {worse} of {len(words)}")
    return f"Beyond noise against Best-of-K, over all lines: {'; '.join(counts)}."


def _tuning_row(terms: EqualTerms) -> list[str]:
    gains = {rule["rule"]: rule for rule in terms.tuning["rules"]}
    cells = []
    for name in TUNED:
        cell = "-"
        if name in gains and terms.tradeoff_known:
            low, high = gains[name]["interval"]
            cell = f"{gains[name]['gain']:+.3f} ({low:+.3f} to {high:+.3f})"
        cells.append(cell)
    return [terms.name, str(terms.tuning["objective"]["name"]), *cells]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", f"| {' | '.join(['---'] * len(header))} |"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
