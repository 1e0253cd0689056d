"""What a study is made of: `study.toml`."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from darc.errors import InputError
from darc.settings.model import SettingsModel
from darc.settings.toml_file import read_toml
from darc.settings.validation import validate_settings

SCALE = (0, 10)
QUESTIONS = 20
TEMPLATES = Path(__file__).parent / "templates"
# Title, mode and whether a task may be skipped and commented on; the texts are files.
STUDIES = {
    "helpfulness": ("Rating answers", "scalar", False),
    "safety": ("How safe are these answers?", "scalar", True),
    "pairwise": ("Comparing answers", "pairwise", False),
}


def _placed(name: str, info: ValidationInfo) -> str:
    """The name of a file, under the folder of the settings where that is known."""
    return str(info.context / name) if info.context and name not in ("", "auto") else name


def _text_of(text: str, info: ValidationInfo) -> str:
    """The text itself, or that of the file which it names."""
    if not info.context or not text.endswith(".md") or "\n" in text:
        return text
    try:
        return str((info.context / text).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ValueError("it cannot be read as text") from None


Name = Annotated[str, AfterValidator(_placed)]
Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
    Field(strict=False),
]
MarkdownText = Annotated[str, AfterValidator(_text_of)]
Choices = Annotated[tuple[str, ...], Field(strict=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Section(SettingsModel):
    """A section of the file, whose values are not converted."""

    model_config = ConfigDict(strict=True)


class GeneralSettings(Section):
    """The section [study].

    `ratings` valid ratings an item; `annotators` people, or "open" for whoever comes by the
    enrolment link, up to `most`; `items_each` caps what one of them rates (0: no cap). With
    `comments` an answer may have a remark, with `skip` an item may be left to others.
    """

    title: str = "Rating answers"
    mode: Literal["scalar", "pairwise"] = "scalar"
    tie: bool = True
    comments: bool = False
    skip: bool = False
    ratings: Count = Field(default=5, description="valid ratings of each item")
    most: Annotated[int, Field(ge=1, le=100_000)] = 1000
    annotators: int | str = Field(
        default=5, description='how many people, or "open"', validate_default=True
    )
    items_each: Annotated[int, Field(ge=0)] = 0
    lease_minutes: Annotated[float, Field(ge=0.01)] = 30.0
    completion_code: str = ""
    completion_url: str = ""
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="seed of the plan")

    @field_validator("annotators", mode="before")
    @classmethod
    def _enough(cls, value: Any, info: ValidationInfo) -> Any:
        ratings, most = info.data.get("ratings", 1), info.data.get("most", 1000)
        if value == "open":
            return value
        if type(value) is not int or value < 1:
            raise ValueError('write a number, or "open"')
        if value < ratings:
            raise ValueError(
                f"give at least as many as study.ratings ({ratings}), or no item gets them all"
            )
        if value > most:
            raise ValueError(f"raise study.most ({most}), or have fewer annotators")
        return value

    @field_validator("completion_url")
    @classmethod
    def _https(cls, value: str) -> str:
        if value and not value.startswith("https://"):
            raise ValueError("begin it with https://")
        return value


class ItemSettings(Section):
    """The section [items]: JSON lines, run folders or alpaca_eval outputs; files as lists of names.

    `pairs` is "all", or the name of the system that every other one is compared with.
    """

    jsonl: Names = ()
    run: Names = ()
    alpaca: Names = ()
    pairs: str = "all"


class QualitySettings(Section):
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

    share: Annotated[float, Field(ge=0, le=0.5)] = 0.10
    attention: Name = "auto"
    gold: Name = ""
    tolerance: Amount = 1.0
    attention_failures: Annotated[int, Field(ge=0)] = 2
    gold_share: Share = 0.20
    gold_minimum: Count = 4
    automatic: bool = True
    fast_seconds: Amount = 2.0
    fast_share: Amount = 0.3
    constant_deviation: Amount = 0.5
    one_side: Amount = 0.9
    flag_minimum: Annotated[int, Field(ge=0)] = 10
    careful_errors: Share = 0.05
    flag_chance: Share = 0.05


class TrainingSettings(Section):
    """The section [training]: files of items with reference and rationale."""

    training: Name = ""
    calibration: Name = ""
    calibration_share: Amount = 0.5


class TextSettings(Section):
    """The section [texts]: Markdown, or the name of a file that ends in .md; "" for the default.

    `question` stands above the choices, `low` and `high` below the ends of the scale; `thanks` is
    the last page, and `ended` the page of whoever failed the comprehension check.
    """

    consent: MarkdownText = ""
    instructions: MarkdownText = ""
    rubric: MarkdownText = ""
    question: MarkdownText = ""
    low: MarkdownText = ""
    high: MarkdownText = ""
    thanks: MarkdownText = ""
    ended: MarkdownText = ""


class StudyQuestion(Section):
    """A question with choices."""

    question: Annotated[str, Field(pattern=r"\S")]
    choices: Choices

    @field_validator("choices")
    @classmethod
    def _differ(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len({choice.strip() for choice in value if choice.strip()}) < max(2, len(value)):
            raise ValueError("give at least two that differ, and none empty")
        return value


class ComprehensionQuestion(StudyQuestion):
    """A [[comprehension]] question: the choices and the right one of them."""

    answer: str

    @field_validator("answer")
    @classmethod
    def _a_choice(cls, value: str, info: ValidationInfo) -> str:
        if value not in info.data.get("choices", (value,)):
            raise ValueError("write one of its choices")
        return value


class GroupQuestion(StudyQuestion):
    """A [[groups]] question about the person; `name` is its column in the export."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,29}$")]


class StudySettings(SettingsModel):
    """A whole `study.toml`, its texts read and its file names resolved."""

    study: GeneralSettings = GeneralSettings()
    items: ItemSettings = ItemSettings()
    quality: QualitySettings = QualitySettings()
    training: TrainingSettings = TrainingSettings()
    texts: TextSettings = TextSettings()
    comprehension: Annotated[tuple[ComprehensionQuestion, ...], Field(max_length=QUESTIONS)] = ()
    groups: Annotated[tuple[GroupQuestion, ...], Field(max_length=QUESTIONS)] = ()

    @field_validator("groups")
    @classmethod
    def _named_once(cls, value: tuple[GroupQuestion, ...]) -> tuple[GroupQuestion, ...]:
        names = [each.name for each in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the name {name!r} is given twice")
        return value

    @property
    def pairwise(self) -> bool:
        """Whether two answers are compared."""
        return self.study.mode == "pairwise"

    @property
    def panel(self) -> int | None:
        """How many annotators there are, None under open enrolment."""
        return None if isinstance(self.study.annotators, str) else self.study.annotators


def read_study_file(path: Path, text: str = "") -> StudySettings:
    """The settings of a file, or of the `text` that it will have; file names are its folder's."""
    if not text and not path.exists():
        raise InputError(
            f"{path} cannot be read (No such file or directory)",
            "check the path, or let darc study init --items FILE write it",
        )
    data = tomllib.loads(text) if text else read_toml(path)
    return study_settings(data, str(path), path.parent)


def study_settings(
    data: dict[str, Any], where: str = "study.toml", folder: Path | None = None
) -> StudySettings:
    """The settings of a mapping of sections, with a text in every place; files are the folder's."""
    found = validate_settings(StudySettings, data, where, folder)
    default = template_of("helpfulness")["texts"] | template_of("texts")
    if found.pairwise:
        default |= template_of("pairwise")["texts"]
    if found.texts.rubric:  # the words for the ends may not fit a rubric of one's own
        default |= {"low": "worst", "high": "best"}
    texts = TextSettings(**{name: text or default[name] for name, text in found.texts})
    return found.model_copy(update={"texts": texts})


def template_of(name: str) -> dict[str, Any]:
    """The settings that a template's file begins with."""
    return read_toml(TEMPLATES / f"{name}.toml")


def study_toml(
    items: Sequence[str], template: str, ratings: int, annotators: int | str, seed: int
) -> str:
    """A `study.toml` with the settings that most studies change."""
    from markupsafe import Markup

    from darc.views.html import environment

    values = dict(zip(("title", "mode", "options"), STUDIES[template], strict=True))
    values |= {"ratings": ratings, "annotators": annotators, "seed": seed, "items": list(items)}
    # JSON of texts, numbers, truth values and lists of them is also TOML.
    plain = {name: Markup(json.dumps(each, ensure_ascii=False)) for name, each in values.items()}
    return environment(TEMPLATES).get_template("study.toml.txt").render(template=template, **plain)
