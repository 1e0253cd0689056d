"""The commands behind the page: which they are, how large, and what they found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import darc.decide.rules  # noqa: F401  (registers the rules)
from benchmarks.results.kept import Kept
from darc.analysis.run_ratings import load_run
from darc.decide.registry import rules
from darc.errors import InputError
from darc.models.catalogue import DEFAULT
from darc.ratings import ratings as loaded
from darc.ratings.texts import read_texts, stem, texts_beside
from darc.runs.questions import EXAMPLES, find_questions

Found = Mapping[str, Any]

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
    """How much is computed: splits, draws, texts a set, and the pool's prompts, K and tokens."""

    repeats: int = 20
    draws: int = 2000
    halves: int = 200
    permutations: int = 500
    tune_repeats: int = 10
    texts: int = 500
    prompts: int | None = None
    k: int = 8
    tokens: int = 96
    rewrites: int = 8

    @property
    def measuring(self) -> tuple[str, ...]:
        """The options of `darc eval`."""
        return ("--splits", str(self.repeats), "--draws", str(self.draws), "--json")


FULL = Size()
QUICK = Size(4, 200, 20, 50, 2, texts=60, prompts=4, k=4, tokens=16, rewrites=4)


@dataclass(frozen=True)
class Ratings:
    """What the commands say of one set of ratings; `validity` is None where it has no texts."""

    name: str
    evaluation: Found
    diagnosis: Found
    tuning: Found
    validity: Found | None
    scorers: tuple[str, ...]

    @property
    def tradeoff_known(self) -> bool:
        """Whether some split both selects and judges with a sigma."""
        return not any("no split both selects and judges" in w for w in self.evaluation["warnings"])


@dataclass(frozen=True)
class PoolFound:
    """What the commands say of a pool of answers, and of the same answers rewritten otherwise."""

    generator: str
    embedded: bool
    questions: int
    own_prompts: bool
    scorers: Sequence[str]
    run: Found
    evaluation: Found
    families: Found
    not_run: Mapping[str, str]


@dataclass(frozen=True)
class Findings:
    """All that the page shows."""

    size: Size
    sets: list[Ratings]
    pool: PoolFound


def measure(
    data: Path, kept: Kept, size: Size, generator: str, prompts: str, seed: int
) -> Findings:
    """Everything, by running the commands whose outputs are not there yet."""
    found = {stem(path): path for path in sorted((data / "ratings").glob("*.csv*"))}
    if not found:
        raise InputError(f"{data} has no ratings/NAME.csv or .csv.gz", "name the folder with them")
    names = [name for name in KINDS if name in found] + [n for n in found if n not in KINDS]
    sets = [_ratings(found[name], kept, size, str(seed)) for name in names]
    return Findings(size, sets, _pool(kept, size, generator, prompts, str(seed)))


def _ratings(path: Path, kept: Kept, size: Size, seed: str) -> Ratings:
    name = stem(path)
    wanted = [word for rule in RULES for word in ("--rule", rule)]
    evaluation = kept.output(f"{name}-eval", "eval", path, *wanted, *size.measuring, "--seed", seed)
    drawn = ("--halves", str(size.halves), "--permutations", str(size.permutations))
    diagnosis = kept.output(f"{name}-diagnose", "diagnose", path, *drawn, "--seed", seed, "--json")
    repeats = ("--splits", str(size.tune_repeats))
    tuning = kept.output(f"{name}-tune", "tune", path, *repeats, "--seed", seed, "--json")
    texts = texts_beside(path)
    scorers: tuple[str, ...] = ()
    validity = None
    if texts is not None:
        scorers, validity = _validity(path, texts, kept, size, seed)
    return Ratings(name, evaluation, diagnosis, tuning, validity, scorers)


STATIC = "relevance,embeddings=static"


def _validity(
    path: Path, texts: Path, kept: Kept, size: Size, seed: str
) -> tuple[tuple[str, ...], Found]:
    """The scorers used on a set's texts, and `darc eval RUN RATINGS` of their rewrites."""
    known = read_texts(texts)
    most = max(Counter(prompt for prompt, _ in known).values())
    readable = _share_of_latin([question for question, _ in known.values()]) >= READABLE
    scorers = ("relevance",) * readable + ("fluency", "form")
    run = f"{stem(path)}-rewrites"
    kept.output(
        run,
        *("run", "--prompts", texts, "--generator", f"given:{texts}", "--out", kept.folder / run),
        *("-k", str(most), "--sample", str(max(2, size.texts // most))),
        *(w for s in scorers for w in ("--scorer", STATIC if s == "relevance" else s)),
        *("--n-aug", str(size.rewrites), "--seed", seed, "--no-cache", "--json"),
    )
    return scorers, kept.output(
        *(f"{stem(path)}-validity", "eval", kept.folder / run, path, "--rule", "epsilon"),
        *(*size.measuring, "--seed", seed),
    )


def _share_of_latin(texts: list[str]) -> float:
    """The share of Latin letters in texts, 0 where one is empty: the embeddings read English."""
    if not all(texts):
        return 0.0
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    return sum(letter.isascii() for letter in letters) / max(1, len(letters))


def _pool(kept: Kept, size: Size, generator: str, prompts: str, seed: str) -> PoolFound:
    asked = (
        *("run", "--prompts", prompts, "--generator", generator, "-k", str(size.k)),
        *("--max-tokens", str(size.tokens), "--n-aug", str(size.rewrites)),
        *(() if size.prompts is None else ("--sample", str(size.prompts))),
        *("--seed", seed, "--no-cache", "--json"),
    )
    folders = {FAMILIES[0]: kept.folder / POOL}
    run = kept.output(POOL, *asked, "--family", FAMILIES[0], "--out", folders[FAMILIES[0]])
    for family in FAMILIES[1:]:
        folders[family] = kept.folder / family
        again = ("--family", family, "--out", folders[family], "--from", "variants")
        kept.output(family, *asked, *again, start=folders[FAMILIES[0]])
    source = load_run(folders[FAMILIES[0]])
    usable, not_run = _usable(source)
    wanted = [word for rule in usable for word in ("--rule", rule)]
    measuring = (*size.measuring, "--seed", seed)
    evaluation = kept.output(f"{POOL}-eval", "eval", folders[FAMILIES[0]], *wanted, *measuring)
    wanted = [word for rule in FAMILY_RULES for word in ("--rule", rule)]
    families = kept.output("families-eval", "eval", *folders.values(), *wanted, *measuring)
    for warning in evaluation["warnings"]:
        about, _, reason = warning.removeprefix(f"{POOL}: ").partition(" was not run: ")
        if reason:
            not_run[about] = reason.removeprefix(f"{about} ")
    embedded = generator == "embedded"
    return PoolFound(
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


def _usable(source: loaded.Ratings) -> tuple[list[str], dict[str, str]]:
    """The rules that come with DARC, and a reason for each that the side inputs do not allow."""
    usual = [name for name in rules if rules.get(name).evaluated_by_default]
    own = [name for name in usual if rules.get(name).function.__module__.startswith("darc.")]
    # Without its passes this rule would be another one under its name.
    not_run = {
        name: "needs dropout passes"
        for name in own
        if "dropout" in rules.get(name).inputs.takes and "dropout" not in source.side
    }
    return [name for name in own if name not in not_run and name != "mean"], not_run
