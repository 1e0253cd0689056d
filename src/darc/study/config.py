"""What a study is made of: `study.toml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from darc.errors import InputError, nearest
from darc.study.words import DEFAULTS, PAIRWISE

SCALE = (0, 10)
QUESTIONS = 20
NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")


def _number(default: Any, low: float, high: float = float("inf")) -> Any:
    """A field whose number must lie between two others, both included."""
    return field(default=default, metadata={"low": low, "high": high})


@dataclass(frozen=True)
class Study:
    """The section [study].

    `ratings` valid ratings an item; `annotators` people, or "open" for whoever comes by the
    enrolment link, up to `most`; `items_each` caps what one of them rates (0: no cap). With
    `comments` an answer may have a remark, with `skip` an item may be left to others.
    """

    title: str = "Rating answers"
    mode: str = "scalar"
    tie: bool = True
    comments: bool = False
    skip: bool = False
    ratings: int = _number(5, 1)
    annotators: int | str = 5
    most: int = _number(1000, 1, 100_000)
    items_each: int = _number(0, 0)
    lease_minutes: float = _number(30.0, 0.01)
    completion_code: str = ""
    completion_url: str = ""
    seed: int = _number(0, 0)


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
    more than `fast_share` of the answers within `fast_seconds`, answers of a deviation below
    `constant_deviation` (pairs: one side in more than `one_side`), and failed checks. Of fewer than
    `flag_minimum` answers, and of checks, it is also asked how often a careful person, who errs at
    the rate `careful_errors`, would do as badly by chance: in at most `flag_chance`.
    """

    share: float = _number(0.10, 0, 0.5)
    attention: str = "auto"
    gold: str = ""
    tolerance: float = _number(1.0, 0)
    attention_failures: int = _number(2, 0)
    gold_share: float = _number(0.20, 0, 1)
    gold_minimum: int = _number(4, 1)
    automatic: bool = True
    fast_seconds: float = _number(2.0, 0)
    fast_share: float = _number(0.3, 0)
    constant_deviation: float = _number(0.5, 0)
    one_side: float = _number(0.9, 0)
    flag_minimum: int = _number(10, 0)
    careful_errors: float = _number(0.05, 0, 1)
    flag_chance: float = _number(0.05, 0, 1)


@dataclass(frozen=True)
class Training:
    """The section [training]: files of items with reference and rationale."""

    training: str = ""
    calibration: str = ""
    calibration_share: float = _number(0.5, 0)


@dataclass(frozen=True)
class Texts:
    """The section [texts]: Markdown, or the name of a file that ends in .md; "" for the default.

    `question` stands above the choices, `low` and `high` below the ends of the scale; `thanks` is
    the last page, and `ended` the page of whoever failed the comprehension check.
    """

    consent: str = ""
    instructions: str = ""
    rubric: str = ""
    question: str = ""
    low: str = ""
    high: str = ""
    thanks: str = ""
    ended: str = ""


@dataclass(frozen=True)
class Comprehension:
    """A [[comprehension]] question: the choices and the right one of them."""

    question: str
    choices: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Group:
    """A [[groups]] question about the person; `name` is its column in the export."""

    name: str
    question: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """A whole `study.toml`, its texts read and its file names resolved."""

    study: Study = field(default_factory=Study)
    items: Items = field(default_factory=Items)
    quality: Quality = field(default_factory=Quality)
    training: Training = field(default_factory=Training)
    texts: Texts = field(default_factory=Texts)
    comprehension: tuple[Comprehension, ...] = ()
    groups: tuple[Group, ...] = ()

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
LISTS: dict[str, type[Any]] = {"comprehension": Comprehension, "groups": Group}
FILES = {"items": ("jsonl", "run", "alpaca"), "training": ("training", "calibration")}
KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def read_config(path: Path, text: str = "") -> Config:
    """The settings of a file, or of the `text` that it will have; file names are its folder's."""
    try:
        data = tomllib.loads(text or path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(
            f"{path} cannot be read ({problem.strerror})",
            "check the path, or let darc study init --items FILE write it",
        ) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not valid TOML: {problem}", "mend the file") from None
    config = config_of(data, str(path), path.parent)
    if (config.panel or 0) > config.study.most:
        raise InputError(
            f"{path}: study.annotators is {config.panel}, and study.most {config.study.most}",
            "raise most, or have fewer annotators",
        )
    return config


def config_of(
    data: Mapping[str, Any], where: str = "study.toml", folder: Path | None = None
) -> Config:
    """The settings of a mapping of sections; unknown and impossible ones are refused by path."""
    known = [*SECTIONS, *LISTS]
    for name in data:
        if name not in known:
            raise InputError(f"{where}: [{name}] is unknown", nearest(name, known))
    parts: dict[str, Any] = {}
    for name, kind in SECTIONS.items():
        given = data.get(name, {})
        if not isinstance(given, Mapping):
            raise InputError(f"{where}: {name} is not a section", f"write [{name}]")
        values = _section(where, name, kind, given)
        if folder is not None:
            _resolve(name, values, folder)
        parts[name] = kind(**values)
    for name, kind in LISTS.items():
        rows = data.get(name, ())
        if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
            raise InputError(f"{where}: {name} is not a list of questions", f"write [[{name}]]")
        parts[name] = tuple(
            kind(**_section(where, f"{name}[{place}]", kind, row))
            for place, row in enumerate(rows, 1)
        )
    config = Config(**parts)
    _check(where, config)
    default = DEFAULTS | (PAIRWISE if config.pairwise else {})
    if config.texts.rubric:  # the words for the ends may not fit a rubric of one's own
        default |= {"low": "worst", "high": "best"}
    written = {each.name: getattr(config.texts, each.name) for each in fields(Texts)}
    texts = {name: text or default[name] for name, text in written.items()}
    return replace(config, texts=Texts(**texts))


def _section(where: str, name: str, kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    known = {each.name: each for each in fields(kind)}
    result: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise InputError(f"{where}: {name}.{key} is unknown", nearest(key, known))
        wanted, path = known[key].type, f"{where}: {name}.{key}"
        if wanted == tuple[str, ...]:
            value = (value,) if isinstance(value, str) else value
            fine = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
            value, words = (tuple(value) if fine else value), "a list of texts"
        else:
            kinds = get_args(wanted) or (wanted,)
            fine = isinstance(value, kinds) or (float in kinds and type(value) is int)
            fine = fine and (bool in kinds or not isinstance(value, bool))
            words = " or ".join(KINDS[each] for each in kinds)
        if not fine:
            raise InputError(f"{path} is {value!r}", f"write {words}")
        low, high = (known[key].metadata.get(end) for end in ("low", "high"))
        if low is not None and not low <= value <= high:
            within = f"at least {low:g}" if high == float("inf") else f"{low:g} to {high:g}"
            raise InputError(f"{path} is {value}", f"give {within}")
        result[key] = value
    for key, each in known.items():
        if key not in result and each.default is MISSING and each.default_factory is MISSING:
            raise InputError(f"{where}: {name}.{key} is missing", f"write {key} = ...")
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
    study, people = config.study, config.study.annotators
    wrong = {
        "study.mode must be scalar or pairwise": study.mode not in ("scalar", "pairwise"),
        'study.annotators must be a number or "open"': isinstance(people, str) and people != "open",
        "study.annotators must be at least study.ratings, or an item never gets that many": (
            not isinstance(people, str) and people < study.ratings
        ),
        "study.completion_url must begin with https://": bool(study.completion_url)
        and not study.completion_url.startswith("https://"),
    }
    names: set[str] = set()
    asked: dict[str, Sequence[Comprehension | Group]] = {
        "comprehension": config.comprehension,
        "groups": config.groups,
    }
    for path, questions in asked.items():
        wrong[f"{path} has more than {QUESTIONS} questions"] = len(questions) > QUESTIONS
        for place, each in enumerate(questions, 1):
            own = f"{path}[{place}]"
            wrong[f"{own}.question is empty"] = not each.question.strip()
            wrong[f"{own}.choices must be at least two that differ, and none empty"] = (
                len(each.choices) < 2
                or len(set(each.choices)) < len(each.choices)
                or not all(choice.strip() for choice in each.choices)
            )
            if isinstance(each, Comprehension):
                sentence = f"{own}.answer is {each.answer!r}, which is none of its choices"
                wrong[sentence] = each.answer not in each.choices
            else:
                sentence = f"{own}.name is {each.name!r}, and must be a new name such as age_group"
                wrong[sentence] = NAME.fullmatch(each.name) is None or each.name in names
                names.add(each.name)
    for sentence, holds in wrong.items():
        if holds:
            raise InputError(f"{where}: {sentence}", "mend the file")
