"""Runs the commands whose outputs the page of results shows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import darc.decide.rules  # noqa: F401  (registers the rules)
from benchmarks.results.equal_terms import EqualTerms, measure_equal_terms
from benchmarks.results.output_cache import OutputCache
from darc.analysis.run_ratings import load_run
from darc.decide.registry import rules
from darc.errors import InputError
from darc.models.catalogue import DEFAULT
from darc.ratings.ratings import Ratings
from darc.ratings.texts import read_texts, stem, texts_beside
from darc.runs.questions import EXAMPLES, find_questions

CommandOutput = Mapping[str, Any]

# What the texts of well-known sets are; these sets come first, in this order.
KINDS = {
    "summeval": "summaries",
    "realsumm": "summaries",
    "squality": "summaries",
    "mqm_zhen": "translations",
    "recipe": "recipes",
}
RULES = ("auto", "cvar", "entropic", "epsilon", "lcb", "penalty", "tau")
FAMILY_RULES = ("entropic", "epsilon", "lcb")
FAMILIES = ("style", "targeted", "hybrid")
POOL = "pool"
READABLE = 0.8


@dataclass(frozen=True)
class Size:
    """How much is computed."""

    #: Splits of the raters in `darc eval`.
    splits: int = 20
    #: Bootstrap draws per interval.
    draws: int = 2000
    #: Halvings and permutations of `darc diagnose`.
    halves: int = 200
    permutations: int = 500
    #: Splits of the prompts in `darc tune`.
    tune_repeats: int = 10
    #: About how many texts per set are rewritten.
    texts: int = 500
    #: Prompts of the pool; None takes all.
    prompts: int | None = None
    #: Candidates per prompt of the pool.
    k: int = 8
    #: The longest answer, in tokens.
    tokens: int = 96
    #: Rewrites per candidate.
    rewrites: int = 8

    @property
    def measuring(self) -> tuple[str, ...]:
        """The options of `darc eval`."""
        return ("--splits", str(self.splits), "--draws", str(self.draws), "--json")


FULL = Size()
QUICK = Size(
    splits=4,
    draws=200,
    halves=20,
    permutations=50,
    tune_repeats=2,
    texts=60,
    prompts=4,
    k=4,
    tokens=16,
    rewrites=4,
)


@dataclass(frozen=True)
class SetFindings:
    """What the commands say of one set of ratings."""

    name: str
    evaluation: CommandOutput
    diagnosis: CommandOutput
    tuning: CommandOutput
    #: How rewrites compare with raters; None where the set has no texts.
    validity: CommandOutput | None
    #: The scorers of the rewrites.
    scorers: tuple[str, ...]
    #: The default rule and the paper's rules without ids.
    equal_terms: EqualTerms

    @property
    def tradeoff_known(self) -> bool:
        """Whether some split both selects and judges with a sigma."""
        return not any("no split both selects and judges" in w for w in self.evaluation["warnings"])


@dataclass(frozen=True)
class PoolFindings:
    """What the commands say of a pool of answers, and of the same answers rewritten otherwise."""

    generator: str
    embedded: bool
    questions: int
    own_prompts: bool
    scorers: Sequence[str]
    run: CommandOutput
    evaluation: CommandOutput
    families: CommandOutput
    not_run: Mapping[str, str]


@dataclass(frozen=True)
class Findings:
    """All that the page shows."""

    size: Size
    sets: list[SetFindings]
    pool: PoolFindings


def measure(
    data: Path, cache: OutputCache, size: Size, generator: str, prompts: str, seed: int
) -> Findings:
    """Everything, by running the commands whose outputs are not there yet."""
    paths = {stem(path): path for path in sorted((data / "ratings").glob("*.csv*"))}
    if not paths:
        raise InputError(f"{data} has no ratings/NAME.csv or .csv.gz", "name the folder with them")
    names = [name for name in KINDS if name in paths]
    names += [name for name in paths if name not in KINDS]
    sets = [_measure_set(paths[name], cache, size, str(seed)) for name in names]
    return Findings(size, sets, _pool(cache, size, generator, prompts, str(seed)))


def _measure_set(path: Path, cache: OutputCache, size: Size, seed: str) -> SetFindings:
    name = stem(path)
    measuring = (*_rule_options(RULES), *size.measuring, "--seed", seed)
    evaluation = cache.output(f"{name}-eval", "eval", path, *measuring)
    draws = ("--halves", str(size.halves), "--permutations", str(size.permutations))
    diagnosis = cache.output(f"{name}-diagnose", "diagnose", path, *draws, "--seed", seed, "--json")
    splits = ("--splits", str(size.tune_repeats))
    tuning = cache.output(f"{name}-tune", "tune", path, *splits, "--seed", seed, "--json")
    texts = texts_beside(path)
    scorers: tuple[str, ...] = ()
    validity = None
    if texts is not None:
        scorers, validity = _validity(path, texts, cache, size, seed)
    return SetFindings(
        name=name,
        evaluation=evaluation,
        diagnosis=diagnosis,
        tuning=tuning,
        validity=validity,
        scorers=scorers,
        equal_terms=measure_equal_terms(path, name, cache, size.measuring, size.tune_repeats, seed),
    )


def _rule_options(names: Iterable[str]) -> list[str]:
    """The options that name rules."""
    return [word for name in names for word in ("--rule", name)]


STATIC = "relevance,embeddings=static"


def _validity(
    path: Path, texts: Path, cache: OutputCache, size: Size, seed: str
) -> tuple[tuple[str, ...], CommandOutput]:
    """The scorers used on a set's texts, and `darc eval RUN RATINGS` of their rewrites."""
    texts_by_id = read_texts(texts)
    most = max(Counter(prompt for prompt, _ in texts_by_id).values())
    questions = [question for question, _ in texts_by_id.values()]
    scorers: tuple[str, ...] = ("fluency", "form")
    scorer_options = ["--scorer", "fluency", "--scorer", "form"]
    if _share_of_latin(questions) >= READABLE:
        scorers = ("relevance", *scorers)
        scorer_options = ["--scorer", STATIC, *scorer_options]
    run = f"{stem(path)}-rewrites"
    cache.output(
        run,
        *("run", "--prompts", texts, "--generator", f"given:{texts}", "--out", cache.folder / run),
        *("-k", str(most), "--sample", str(max(2, size.texts // most))),
        *scorer_options,
        *("--n-aug", str(size.rewrites), "--seed", seed, "--no-cache", "--json"),
    )
    return scorers, cache.output(
        *(f"{stem(path)}-validity", "eval", cache.folder / run, path, "--rule", "epsilon"),
        *(*size.measuring, "--seed", seed),
    )


def _share_of_latin(texts: list[str]) -> float:
    """The share of Latin letters in texts, 0 where one is empty: the embeddings read English."""
    if not all(texts):
        return 0.0
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    return sum(letter.isascii() for letter in letters) / max(1, len(letters))


def _pool(cache: OutputCache, size: Size, generator: str, prompts: str, seed: str) -> PoolFindings:
    sample: tuple[str, ...] = ()
    if size.prompts is not None:
        sample = ("--sample", str(size.prompts))
    command = (
        *("run", "--prompts", prompts, "--generator", generator, "-k", str(size.k)),
        *("--max-tokens", str(size.tokens), "--n-aug", str(size.rewrites)),
        *sample,
        *("--seed", seed, "--no-cache", "--json"),
    )
    folders = {FAMILIES[0]: cache.folder / POOL}
    run = cache.output(POOL, *command, "--family", FAMILIES[0], "--out", folders[FAMILIES[0]])
    for family in FAMILIES[1:]:
        folders[family] = cache.folder / family
        again = ("--family", family, "--out", folders[family], "--from", "variants")
        cache.output(family, *command, *again, start=folders[FAMILIES[0]])
    source = load_run(folders[FAMILIES[0]])
    usable, not_run = _usable(source)
    measuring = (*size.measuring, "--seed", seed)
    options = (*_rule_options(usable), *measuring)
    evaluation = cache.output(f"{POOL}-eval", "eval", folders[FAMILIES[0]], *options)
    options = (*_rule_options(FAMILY_RULES), *measuring)
    families = cache.output("families-eval", "eval", *folders.values(), *options)
    for warning in evaluation["warnings"]:
        about, _, reason = warning.removeprefix(f"{POOL}: ").partition(" was not run: ")
        if reason:
            not_run[about] = reason.removeprefix(f"{about} ")
    embedded = generator == "embedded"
    return PoolFindings(
        generator=DEFAULT if embedded else generator.partition(":")[0],
        embedded=embedded,
        questions=min(find_questions(prompts).count, size.prompts or 10**9),
        own_prompts=prompts == EXAMPLES,
        scorers=source.scorers,
        run=run,
        evaluation=evaluation,
        families=families,
        not_run=not_run,
    )


def _usable(source: Ratings) -> tuple[list[str], dict[str, str]]:
    """The rules that come with DARC, and a reason for each that the side inputs do not allow."""
    shipped = [
        name
        for name in rules
        if rules.get(name).evaluated_by_default
        and rules.get(name).function.__module__.startswith("darc.")
    ]
    # Without its passes this rule would be another one under its name.
    not_run = {
        name: "needs dropout passes"
        for name in shipped
        if "dropout" in rules.get(name).inputs.takes and "dropout" not in source.side
    }
    return [name for name in shipped if name not in not_run and name != "mean"], not_run
