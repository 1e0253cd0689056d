"""The format of `study.toml`, which says what a study is made of."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from darc.decide.evidence.asking import DEFAULT_PRICE
from darc.errors import InputError
from darc.settings.model import SettingsModel
from darc.settings.toml_file import read_toml
from darc.settings.validation import validate_settings

#: The lowest and the highest rating.
SCALE = (0, 10)
TEMPLATES = Path(__file__).parent / "templates"

_MAX_QUESTIONS = 20
#: The pilot of an adaptive study takes a little more than one rating per item.
FEWEST_ADAPTIVE_RATINGS = 2


class StudyTemplate(NamedTuple):
    """What a new study begins with; its texts are files."""

    title: str
    #: scalar or pairwise.
    mode: str
    #: Whether a task may be skipped and commented on.
    options: bool
    #: Which attention checks are made.
    attention: str


#: The kinds of attention checks that are made from the items, by the name that stands for them.
ATTENTION_KINDS = {
    "auto": ("instruction", "nonsense"),
    "instruction": ("instruction",),
    "nonsense": ("nonsense",),
}

STUDIES = {
    "helpfulness": StudyTemplate("Rating answers", "scalar", False, "auto"),
    # Nonsense may well be safe.
    "safety": StudyTemplate("How safe are these answers?", "scalar", True, "instruction"),
    "pairwise": StudyTemplate("Comparing answers", "pairwise", False, "auto"),
}


def _resolve_name(name: str, info: ValidationInfo) -> str:
    """The name of a file, in the folder of study.toml if that is known."""
    if info.context and name:
        return str(info.context / name)
    return name


def _resolve_attention(name: str, info: ValidationInfo) -> str:
    """A kind of attention checks, or the name of a file."""
    if name in ATTENTION_KINDS:
        return name
    return _resolve_name(name, info)


def _read_text(text: str, info: ValidationInfo) -> str:
    """The text itself, or that of the file which it names."""
    if not info.context or not text.endswith(".md") or "\n" in text:
        return text
    try:
        return str((info.context / text).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ValueError("it cannot be read as text") from None


def _as_list(names: Any) -> Any:
    """One name as a list of names."""
    if isinstance(names, str):
        return (names,)
    return names


Name = Annotated[str, AfterValidator(_resolve_name)]
AttentionName = Annotated[str, AfterValidator(_resolve_attention)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_as_list), Field(strict=False)]
MarkdownText = Annotated[str, AfterValidator(_read_text)]
Choices = Annotated[tuple[str, ...], Field(strict=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Section(SettingsModel):
    """A section of the file, whose values are not converted."""

    model_config = ConfigDict(strict=True)


class GeneralSettings(Section):
    """The section [study]."""

    title: str = "Rating answers"
    #: Whether single answers are rated, or two are compared.
    mode: Literal["scalar", "pairwise"] = "scalar"
    #: Whether a tie may be chosen.
    tie: bool = True
    #: Whether an answer may have a remark.
    comments: bool = False
    #: Whether an item may be left to others.
    skip: bool = False
    ratings: Count = Field(default=5, description="valid ratings per item")
    #: Whether every item gets `ratings` ratings ("fixed"), or ratings are asked for in waves where
    #: they help most ("adaptive"; then `ratings` is what the fixed design would take).
    design: Literal["fixed", "adaptive"] = Field(default="fixed", validate_default=True)
    #: The most annotators.
    most: Annotated[int, Field(ge=1, le=100_000)] = 1000
    #: A number, or "open" for whoever comes by the enrolment link.
    annotators: int | str = Field(
        default=5, description='how many people, or "open"', validate_default=True
    )
    #: The most items that one annotator rates; 0 for any number.
    items_each: Annotated[int, Field(ge=0)] = 0
    #: How long an item is kept for the annotator who looks at it.
    lease_minutes: Annotated[float, Field(ge=0.01)] = 30.0
    #: After how long a place of open enrolment lapses that was not used up to the end of the
    #: comprehension check.
    place_minutes: Annotated[float, Field(ge=1)] = 60.0
    #: How many unused places of open enrolment one address may have at a time.
    places_per_address: Count = 10
    #: Shown at the end, for recruiting platforms.
    completion_code: str = ""
    completion_url: str = ""
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="seed of the plan")

    @field_validator("design")
    @classmethod
    def _check_design(cls, value: str, info: ValidationInfo) -> str:
        if value != "adaptive":
            return value
        if info.data.get("mode") == "pairwise":
            raise ValueError(
                "an adaptive study rates single answers; pairs are compared in a fixed design only"
            )
        if info.data.get("ratings", FEWEST_ADAPTIVE_RATINGS) < FEWEST_ADAPTIVE_RATINGS:
            raise ValueError(
                f"plan study.ratings of {FEWEST_ADAPTIVE_RATINGS} or more, or there is nothing "
                "to save"
            )
        return value

    @field_validator("annotators", mode="before")
    @classmethod
    def _check_annotators(cls, value: Any, info: ValidationInfo) -> Any:
        ratings = info.data.get("ratings", 1)
        most = info.data.get("most", 1000)
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
    def _check_url(cls, value: str) -> str:
        if value and not value.startswith("https://"):
            raise ValueError("begin it with https://")
        return value


class ItemSettings(Section):
    """The section [items]: lists of files."""

    #: Files of JSON lines with prompts and responses.
    jsonl: Names = ()
    #: Run folders.
    run: Names = ()
    #: Outputs for alpaca_eval, one file per system.
    alpaca: Names = ()
    #: "all", or the system with which every other one is compared.
    pairs: str = "all"


class QualitySettings(Section):
    """The section [quality]: checks, and when annotators are excluded or flagged.

    Of few answers, and of checks, it is also asked how often a careful person would do as badly by
    chance.
    """

    #: The share of checks in what is shown.
    share: Annotated[float, Field(ge=0, le=0.5)] = 0.10
    #: Attention checks: "instruction" for answers that ask for a certain rating, "nonsense" for
    #: answers of mixed words, which must be rated low, "auto" for both, a file, or "" for none.
    attention: AttentionName = "auto"
    #: A file of gold items.
    gold: Name = ""
    #: How far a rating may be from the reference of a gold item.
    tolerance: Amount = 1.0
    #: An annotator with more failed attention checks is excluded.
    attention_failures: Annotated[int, Field(ge=0)] = 2
    #: An annotator who fails a larger share of gold items is excluded.
    gold_share: Share = 0.20
    #: How many gold items must be answered before somebody is excluded for them.
    gold_minimum: Count = 4
    #: Whether checks exclude annotators; otherwise they are only flagged.
    automatic: bool = True
    #: Answers within this time count as fast.
    fast_seconds: Amount = 2.0
    #: A larger share of fast answers is flagged.
    fast_share: Amount = 0.3
    #: A smaller standard deviation of ratings is flagged.
    constant_deviation: Amount = 0.5
    #: A larger share of winners on one side is flagged.
    one_side: Amount = 0.9
    #: From this many answers on it is not asked what chance would do.
    flag_minimum: Annotated[int, Field(ge=0)] = 10
    #: How often a careful person errs.
    careful_errors: Share = 0.05
    #: What a careful person would do at most this often by chance is flagged.
    flag_chance: Share = 0.05


class AdaptiveSettings(Section):
    """The section [adaptive]: how far an adaptive study goes."""

    #: What one rating must improve a choice by to be asked for, in standard deviations of an
    #: answer's ratings; 0 spends the whole budget.
    price: Annotated[float, Field(ge=0, allow_inf_nan=False)] = DEFAULT_PRICE
    #: The most ratings in all; 0 for as many as the fixed design takes.
    budget: Annotated[int, Field(ge=0)] = 0


class TrainingSettings(Section):
    """The section [training]: files of items with reference and rationale."""

    training: Name = ""
    calibration: Name = ""
    #: Whoever fails a larger share of the calibration items is flagged.
    calibration_share: Amount = 0.5


class TextSettings(Section):
    """The section [texts]: Markdown, or the name of a file that ends in .md; "" for the default."""

    consent: MarkdownText = ""
    instructions: MarkdownText = ""
    rubric: MarkdownText = ""
    #: Stands above the choices.
    question: MarkdownText = ""
    #: Stands below the lower end of the scale.
    low: MarkdownText = ""
    #: Stands below the upper end of the scale.
    high: MarkdownText = ""
    #: The last page.
    thanks: MarkdownText = ""
    #: The page of whoever failed the comprehension check.
    ended: MarkdownText = ""


class StudyQuestion(Section):
    """A question with choices."""

    question: Annotated[str, Field(pattern=r"\S")]
    choices: Choices

    @field_validator("choices")
    @classmethod
    def _check_choices(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        different = {choice.strip() for choice in value if choice.strip()}
        if len(different) < max(2, len(value)):
            raise ValueError("give at least two that differ, and none empty")
        return value


class ComprehensionQuestion(StudyQuestion):
    """A [[comprehension]] question: the choices and the right one of them."""

    answer: str

    @field_validator("answer")
    @classmethod
    def _check_answer(cls, value: str, info: ValidationInfo) -> str:
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
    adaptive: AdaptiveSettings = AdaptiveSettings()
    training: TrainingSettings = TrainingSettings()
    texts: TextSettings = TextSettings()
    comprehension: Annotated[
        tuple[ComprehensionQuestion, ...], Field(max_length=_MAX_QUESTIONS)
    ] = ()
    groups: Annotated[tuple[GroupQuestion, ...], Field(max_length=_MAX_QUESTIONS)] = ()

    @field_validator("groups")
    @classmethod
    def _check_names(cls, value: tuple[GroupQuestion, ...]) -> tuple[GroupQuestion, ...]:
        names = [question.name for question in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the name {name!r} is given twice")
        return value

    @property
    def pairwise(self) -> bool:
        """Whether two answers are compared."""
        return self.study.mode == "pairwise"

    @property
    def is_adaptive(self) -> bool:
        """Whether ratings are asked for in waves."""
        return self.study.design == "adaptive"

    @property
    def panel(self) -> int | None:
        """How many annotators there are, None under open enrolment."""
        if isinstance(self.study.annotators, str):
            return None
        return self.study.annotators


def read_study_file(path: Path, text: str = "") -> StudySettings:
    """Read the settings of a study.

    Args:
        path: The file; names of files in it are relative to its folder.
        text: The text that the file will have, if it is not written yet.

    Returns:
        The settings.

    Raises:
        InputError: The file cannot be read, or a setting is wrong.
    """
    if text:
        data = tomllib.loads(text)
    elif path.exists():
        data = read_toml(path)
    else:
        raise InputError(
            f"{path} cannot be read (No such file or directory)",
            "check the path, or let darc study init --items FILE write it",
        )
    return study_settings(data, str(path), path.parent)


def study_settings(
    data: dict[str, Any], where: str = "study.toml", folder: Path | None = None
) -> StudySettings:
    """Check the settings of a study, and add the texts that are missing.

    Args:
        data: The sections.
        where: Where they come from, for error messages.
        folder: The folder to which names of files are relative.

    Returns:
        The settings.

    Raises:
        InputError: A setting is wrong.
    """
    settings = validate_settings(StudySettings, data, where, folder)
    default_texts = template_of("helpfulness")["texts"] | template_of("texts")
    if settings.pairwise:
        default_texts |= template_of("pairwise")["texts"]
    if settings.texts.rubric:
        # The words for the ends of the scale may not fit a rubric of one's own.
        default_texts |= {"low": "worst", "high": "best"}
    texts = {name: text or default_texts[name] for name, text in settings.texts}
    return settings.model_copy(update={"texts": TextSettings(**texts)})


def template_of(name: str) -> dict[str, Any]:
    """The settings in the file of a template."""
    return read_toml(TEMPLATES / f"{name}.toml")


def study_toml(
    items: Sequence[str],
    template: str,
    ratings: int,
    annotators: int | str,
    seed: int,
    design: str = "fixed",
) -> str:
    """Write a `study.toml` with the settings that most studies change.

    Args:
        items: Files of items.
        template: One of `STUDIES`.
        ratings: The number of valid ratings per item.
        annotators: The number of annotators, or "open".
        seed: The seed of the plan.
        design: fixed or adaptive.

    Returns:
        The text of the file.
    """
    from markupsafe import Markup

    from darc.views.html import environment

    values = {
        **STUDIES[template]._asdict(),
        "ratings": ratings,
        "annotators": annotators,
        "design": design,
        "seed": seed,
        "items": list(items),
    }
    # JSON of texts, numbers, truth values and lists of them is also TOML.
    toml_values = {
        name: Markup(json.dumps(value, ensure_ascii=False)) for name, value in values.items()
    }
    page = environment(TEMPLATES).get_template("study.toml.txt")
    return page.render(template=template, **toml_values)
