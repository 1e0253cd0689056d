"""A panel of raters: judges with a point of view each."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from darc.errors import InputError
from darc.models.completion import ChatModel
from darc.parts.scorers.judge import Judge, reply_form
from darc.registry import parse_spec, scorers
from darc.settings.model import SettingsModel
from darc.settings.toml_file import read_toml
from darc.settings.validation import validate_settings

ABSTAIN: Final = "abstain"
PESSIMISTIC: Final = "pessimistic"
REFUSE: Final = "refuse"
JUDGE = "judge"
MOST = 64
SHIPPED = Path(__file__).with_name("panel.toml")
# Enough for a line a criterion.
TOKENS = 16
_SEVERAL = re.compile(r",\s*(?=judge:)")
_NAME = re.compile(r"[^\s:,#|](?:[^\n:,#|]{0,58}[^\s:,#|])?")


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("a name has 1 to 60 characters, no : , # or |")
    return value


def _judge(value: str) -> str:
    if value and not value.startswith(f"{JUDGE}:"):
        raise ValueError("write judge:MODEL@URL")
    return value


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [value if isinstance(value, str) else value.name for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the name {name!r} is given twice")
    return values


Name = Annotated[str, AfterValidator(_name)]
JudgeName = Annotated[str, AfterValidator(_judge)]


class RaterSettings(SettingsModel):
    """A [[rater]] of a panel's file."""

    name: Name
    view: str = ""
    model: JudgeName = ""


class PanelSettings(SettingsModel):
    """A panel's file."""

    rater: Annotated[
        tuple[RaterSettings, ...], Field(min_length=1, max_length=MOST), AfterValidator(_once)
    ]
    repeats: Annotated[int, Field(ge=1, le=MOST, strict=True)] = 1
    criteria: Annotated[tuple[Name, ...], AfterValidator(_once)] = ()
    missing: Literal["abstain", "pessimistic", "refuse"] = ABSTAIN
    model: JudgeName = ""


@dataclass(frozen=True)
class Rater:
    """A point of view, and the judge that takes it: "judge:MODEL@URL", or the panel's if empty."""

    name: str
    view: str = ""
    model: str = ""


@dataclass(frozen=True)
class Panel:
    """Raters whose grades are the samples of an answer; those that ship with DARC by default.

    Each is asked `repeats` times, and its sample is the mean. With `criteria` a call asks for a
    grade by each of them, whose mean counts. A grade that cannot be had follows `missing`: abstain
    leaves it out, pessimistic counts it as the lowest, refuse fails. `model` is the judge of the
    raters that name none; where it is empty too, the model that writes the answers.
    """

    raters: tuple[Rater, ...] = field(default_factory=lambda: read_panel(SHIPPED).raters)
    repeats: int = 1
    criteria: tuple[str, ...] = ()
    missing: str = ABSTAIN
    model: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        object.__setattr__(self, "raters", tuple(self.raters))
        object.__setattr__(self, "criteria", tuple(self.criteria))
        validate_settings(PanelSettings, self.to_dict())

    def __len__(self) -> int:
        return len(self.raters)

    @property
    def names(self) -> tuple[str, ...]:
        """The raters' ids."""
        return tuple(rater.name for rater in self.raters)

    @property
    def needs_model(self) -> bool:
        """Whether some rater's judge is the model that writes the answers."""
        return not self.model and any(not rater.model for rater in self.raters)

    def first(self, count: int) -> "Panel":
        """The panel of the first raters."""
        if not 1 <= count <= len(self):
            raise InputError(
                f"a panel of {count} raters cannot be had of {len(self)}",
                f"give 1 to {len(self)}, or a file of your own",
            )
        return replace(self, raters=self.raters[:count])

    def to_dict(self) -> dict[str, Any]:
        """The panel as its file would say it."""
        found = asdict(self)
        raters = list(found.pop("raters"))
        return {**found, "criteria": list(self.criteria), "rater": raters}

    def judges(self, own: ChatModel | None = None, seed: int = 0) -> list[Judge]:
        """A judge for each repeat of each rater, one rater's after another's.

        They give (n,) grades, or (n, criteria). Those of the same model share its connections;
        `own` is the model that writes the answers. Without repeats it is asked at temperature 0;
        repeats are draws at temperature 1, each with a seed of its own: their spread is the
        judge's own noise.
        """
        if own is None and self.needs_model:
            raise InputError(
                "the panel has no model to judge by",
                "write --panel judge:MODEL@URL, or let a model on a server write the answers",
            )
        models = {"": (own, TOKENS)}
        result = []
        for rater in self.raters:
            text = rater.model or self.model
            if text not in models:
                made = scorers.make(text) if parse_spec(text).name == JUDGE else None
                if not isinstance(made, Judge):
                    raise InputError(f"{text!r} is no judge", "write judge:MODEL@URL")
                models[text] = (made.model, made.max_tokens)
            model, tokens = models[text]
            assert model is not None
            tokens = max(tokens, TOKENS * len(self.criteria))
            for repeat in range(self.repeats):
                name = f"{rater.name}#{repeat + 1}" if repeat else rater.name
                judge = Judge(model, name=name, max_tokens=tokens)
                judge.view, judge.criteria = rater.view, self.criteria
                if self.repeats > 1:
                    judge.temperature, judge.seed, judge.top = 1.0, (seed + repeat) % 2**31, 0
                if self.criteria:
                    judge.again, judge.top = reply_form(self.criteria), 0
                drawn = (judge.temperature, judge.seed, *self.criteria, rater.view)
                judge.version = f"{judge.version} {drawn}"
                result.append(judge)
        return result


def as_panel(given: "Panel | bool | int | str | Sequence[str]") -> Panel:
    """A panel as users write it: True, a number, a TOML file, judge:MODEL@URL, or several of these.

    A number takes the first raters. One judge takes all of them; several judges alone are a rater
    each, and with a number or a file the raters that name no judge have them in turn.
    """
    if isinstance(given, Panel):
        return given
    given = () if given is True else given
    texts = [str(given)] if isinstance(given, str | int) else given
    models, panel, count = list[str](), None, None
    for text in (part.strip() for whole in texts for part in _SEVERAL.split(whole)):
        if text.startswith(f"{JUDGE}:"):
            models.append(text)
        elif text.isdecimal():
            count = int(text)
        elif text.endswith(".toml"):
            panel = read_panel(Path(text))
        elif text:
            raise InputError(
                f"{text!r} is no panel", "write a number, FILE.toml or judge:MODEL@URL"
            )
    if len(models) > 1 and panel is None and count is None:
        return Panel(raters=tuple(_named(models)))
    panel = Panel() if panel is None else panel
    panel = panel if count is None else panel.first(count)
    if len(models) == 1:
        return replace(panel, model=models[0])
    free = [rater for rater in panel.raters if not rater.model]
    turn = {r.name: models[i % len(models)] for i, r in enumerate(free)} if models else {}
    own = (replace(rater, model=turn.get(rater.name, rater.model)) for rater in panel.raters)
    return replace(panel, raters=tuple(own))


def read_panel(path: Path) -> Panel:
    """The panel of a TOML file; what is wrong is told by the path of its field."""
    found = validate_settings(PanelSettings, read_toml(path), str(path)).model_dump()
    return Panel(raters=tuple(Rater(**rater) for rater in found.pop("rater")), **found)


def _named(models: Sequence[str]) -> list[Rater]:
    """A rater for each judge, by its model's name; a second one of the same has its place too."""
    raters: list[Rater] = []
    for place, text in enumerate(models):
        name = re.sub(r"[\s:,#|]", "-", parse_spec(text).argument.partition("@")[0])[:50] or JUDGE
        taken = any(rater.name == name for rater in raters)
        raters.append(Rater(f"{name}-{place + 1}" if taken else name, model=text))
    return raters
