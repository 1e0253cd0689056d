"""What a study is made of: `study.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from darc.errors import InputError, nearest
from darc.study.words import CONSENT, INSTRUCTIONS, RUBRIC

SCALE = (0, 10)


@dataclass(frozen=True)
class Study:
    """The section [study].

    `ratings` valid ratings an item; `annotators` people, or "open" for whoever comes by the
    enrolment link, up to `most`; `items_each` caps what one of them rates (0: no cap).
    """

    title: str = "Rating answers"
    mode: str = "scalar"
    tie: bool = True
    ratings: int = 5
    annotators: int | str = 5
    most: int = 1000
    items_each: int = 0
    lease_minutes: float = 30.0
    completion_code: str = ""
    completion_url: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Items:
    """The section [items]: JSON lines, run folders or alpaca_eval outputs; files as lists of names.

    `pairs` is "all", or the name of the system that every other one is compared with.
    """

    jsonl: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    alpaca: tuple[str, ...] = ()
    pairs: str = "all"


@dataclass(frozen=True)
class Quality:
    """The section [quality].

    A `share` of what is shown are checks: attention ones ("auto": made from the items; "": none;
    else a file) and gold ones (a file). An annotator is excluded with more than
    `attention_failures`, or when more than `gold_share` of at least `gold_minimum` gold answers are
    off by more than `tolerance`; with `automatic` off they are only flagged. Flagged for review:
    more than `fast_share` of the answers within `fast_seconds`, and answers of a deviation below
    `constant_deviation` (pairs: one side in more than `one_side`), from `flag_minimum` answers on.
    """

    share: float = 0.10
    attention: str = "auto"
    gold: str = ""
    tolerance: float = 1.0
    attention_failures: int = 2
    gold_share: float = 0.20
    gold_minimum: int = 4
    automatic: bool = True
    fast_seconds: float = 2.0
    fast_share: float = 0.3
    constant_deviation: float = 0.5
    one_side: float = 0.9
    flag_minimum: int = 10


@dataclass(frozen=True)
class Training:
    """The section [training]: files of items with reference and rationale."""

    training: str = ""
    calibration: str = ""
    calibration_share: float = 0.5


@dataclass(frozen=True)
class Texts:
    """The section [texts]: Markdown, or the name of a file that ends in .md."""

    consent: str = CONSENT
    instructions: str = INSTRUCTIONS
    rubric: str = RUBRIC


@dataclass(frozen=True)
class Config:
    """A whole `study.toml`, its texts read and its file names resolved."""

    study: Study = field(default_factory=Study)
    items: Items = field(default_factory=Items)
    quality: Quality = field(default_factory=Quality)
    training: Training = field(default_factory=Training)
    texts: Texts = field(default_factory=Texts)

    @property
    def pairwise(self) -> bool:
        """Whether two answers are compared."""
        return self.study.mode == "pairwise"

    @property
    def panel(self) -> int | None:
        """How many annotators there are, None under open enrolment."""
        return None if isinstance(self.study.annotators, str) else self.study.annotators

    def plain(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        return asdict(self)


SECTIONS: dict[str, type[Any]] = {
    "study": Study,
    "items": Items,
    "quality": Quality,
    "training": Training,
    "texts": Texts,
}
FILES = {"items": ("jsonl", "run", "alpaca"), "training": ("training", "calibration")}


def read_config(path: Path) -> Config:
    """The settings of a file, checked; file names are relative to its folder."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(
            f"{path} cannot be read ({problem.strerror})",
            "check the path, or let darc study init --items FILE write it",
        ) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not valid TOML: {problem}", "mend the file") from None
    return config_of(data, str(path), path.parent)


def config_of(
    data: Mapping[str, Any], where: str = "study.toml", folder: Path | None = None
) -> Config:
    """The settings of a mapping of sections; unknown and impossible ones are refused."""
    unknown = sorted(set(data) - set(SECTIONS))
    if unknown:
        raise InputError(f"{where}: [{unknown[0]}] is unknown", nearest(unknown[0], SECTIONS))
    parts = {}
    for name, kind in SECTIONS.items():
        given = data.get(name, {})
        if not isinstance(given, Mapping):
            raise InputError(f"{where}: {name} is not a section", f"write [{name}]")
        parts[name] = kind(**_section(where, name, kind, given, folder))
    config = Config(**parts)
    _check(where, config)
    return config


def _section(
    where: str, name: str, kind: type[Any], given: Mapping[str, Any], folder: Path | None
) -> dict[str, Any]:
    known = {each.name: each for each in fields(kind)}
    result: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise InputError(f"{where}: {name}.{key} is unknown", nearest(key, known))
        wanted = known[key].type
        if wanted == tuple[str, ...]:
            value = (value,) if isinstance(value, str) else value
            fine = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
            value = tuple(value) if fine else value
        else:
            kinds = get_args(wanted) or (wanted,)
            fine = isinstance(value, kinds) or (float in kinds and type(value) is int)
            fine = fine and (bool in kinds or not isinstance(value, bool))
        if not fine:
            raise InputError(f"{where}: {name}.{key} is {value!r}", "that is no value of its kind")
        result[key] = value
    if folder is not None:
        _resolve(name, result, folder)
    return result


def _resolve(name: str, values: dict[str, Any], folder: Path) -> None:
    """Put file names under the folder, and read the texts that are named by one."""
    for key in FILES.get(name, ()):
        if isinstance(values.get(key), tuple):
            values[key] = tuple(str(folder / each) for each in values[key])
        elif values.get(key):
            values[key] = str(folder / values[key])
    if name == "quality":
        for key in ("attention", "gold"):
            if values.get(key) not in (None, "", "auto"):
                values[key] = str(folder / values[key])
    if name == "texts":
        for key, text in values.items():
            if text.endswith(".md") and "\n" not in text:
                values[key] = _read(folder / text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read as text", "check texts in study.toml") from None


def _check(where: str, config: Config) -> None:
    study, quality = config.study, config.quality
    wrong = {
        "study.mode must be scalar or pairwise": study.mode not in ("scalar", "pairwise"),
        "study.ratings must be at least 1": study.ratings < 1,
        'study.annotators must be a number or "open"': study.annotators != "open"
        and isinstance(study.annotators, str),
        "study.annotators must be at least study.ratings, or an item never gets that many": (
            not isinstance(study.annotators, str) and study.annotators < study.ratings
        ),
        "study.items_each must not be negative": study.items_each < 0,
        "study.lease_minutes must be positive": not study.lease_minutes > 0,
        "study.seed must not be negative": study.seed < 0,
        "quality.share must be in [0, 0.5]": not 0 <= quality.share <= 0.5,
        "quality.gold_share must be in [0, 1]": not 0 <= quality.gold_share <= 1,
        "quality.tolerance must not be negative": not quality.tolerance >= 0,
        "study.completion_url must begin with https://": bool(study.completion_url)
        and not study.completion_url.startswith("https://"),
    }
    for sentence, holds in wrong.items():
        if holds:
            raise InputError(f"{where}: {sentence}", "mend the file")
