"""A panel of raters: judges with one point of view each, whose grades are the samples."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from darc.errors import InputError
from darc.models.completion import ChatModel
from darc.parts.scorers.judge import Judge, JudgeTask, PanelJudge
from darc.parts.scorers.list_judge import ListJudge
from darc.parts.scorers.pair_judge import PairJudge
from darc.parts.scorers.panel_settings import (
    ABSTAIN,
    JUDGE,
    LISTWISE,
    PAIRWISE,
    PanelSettings,
)
from darc.registry import parse_spec, scorers
from darc.settings.sampling import PanelMode
from darc.settings.toml_file import read_toml
from darc.settings.validation import validate_settings

#: The file of the raters that come with DARC.
SHIPPED_PANEL = Path(__file__).with_name("panel.toml")
# Enough tokens for one line per criterion.
_TOKENS_PER_GRADE = 16
_SEED_LIMIT = 2**31


@dataclass(frozen=True)
class Rater:
    """A point of view, and the judge that takes it."""

    name: str
    #: The description of the rater; empty for a careful reader.
    view: str = ""
    #: The judge, as "judge:MODEL@URL"; empty for the panel's.
    model: str = ""


@dataclass(frozen=True)
class _JudgingModel:
    model: ChatModel
    max_tokens: int


@dataclass(frozen=True)
class Panel:
    """Raters whose grades are the samples of an answer; by default those that ship with DARC."""

    raters: tuple[Rater, ...] = field(default_factory=lambda: read_panel(SHIPPED_PANEL).raters)
    #: How often each rater is asked; its sample is the mean of the grades.
    repeats: int = 1
    #: The criteria by which a call asks for one grade each; their mean counts.
    criteria: tuple[str, ...] = ()
    #: What to do when a rater returns no grade: "abstain" (leave it out and flag it), "pessimistic"
    #: (count it as the lowest grade) or "refuse" (fail the request).
    missing: str = ABSTAIN
    #: The judge of the raters that name none, as "judge:MODEL@URL"; empty for the model that writes
    #: the answers.
    model: str = ""
    #: How raters judge: "listwise" (one call per rater, who grades all answers), "separate" (one
    #: call per rater and answer) or "pairwise" (comparisons of two answers in both orders).
    mode: PanelMode = LISTWISE
    #: In how many waves raters who see all answers are asked; with 2, the second half only if its
    #: grades are worth asking for.
    waves: Literal[1, 2] = 1

    def __post_init__(self) -> None:
        """Check the panel as its file would be checked."""
        object.__setattr__(self, "raters", tuple(self.raters))
        object.__setattr__(self, "criteria", tuple(self.criteria))
        validate_settings(PanelSettings, self.to_dict())
        if self.mode == PAIRWISE and self.criteria:
            raise InputError(
                "raters who compare pairs give no grades by criteria",
                "leave out the criteria, or take --panel-mode listwise",
            )

    def __len__(self) -> int:
        return len(self.raters)

    @property
    def names(self) -> tuple[str, ...]:
        """The raters' ids."""
        return tuple(rater.name for rater in self.raters)

    @property
    def needs_model(self) -> bool:
        """Whether some rater is judged by the model that writes the answers."""
        return not self.model and any(not rater.model for rater in self.raters)

    @property
    def orders(self) -> tuple[int, ...]:
        """In which order each rater sees the answers: 0 as they are, 1 reversed; empty if alone."""
        if self.mode != LISTWISE:
            return ()
        return tuple(place % 2 for place in range(len(self)))

    def first(self, count: int) -> "Panel":
        """Take the first raters of the panel.

        Args:
            count: How many raters to take.

        Raises:
            InputError: If the panel has fewer raters.
        """
        if not 1 <= count <= len(self):
            raise InputError(
                f"a panel of {count} raters cannot be taken from {len(self)}",
                f"give 1 to {len(self)}, or a file of your own",
            )
        return replace(self, raters=self.raters[:count])

    def to_dict(self) -> dict[str, Any]:
        """Write the panel as the content of its file."""
        content = asdict(self)
        content["rater"] = list(content.pop("raters"))
        content["criteria"] = list(self.criteria)
        return content

    def judges(self, own_model: ChatModel | None = None, seed: int = 0) -> list[PanelJudge]:
        """Make one judge per rater and repeat, in the order of the raters.

        Judges of the same model share its connections. Without repeats they are asked at
        temperature 0. Repeats are draws at temperature 1 with different seeds: their spread is the
        judge's own noise.

        Args:
            own_model: The model that writes the answers, if it is known.
            seed: The seed of repeated draws.

        Returns:
            Judges that give grades of shape (pairs,) or (pairs, criteria).

        Raises:
            InputError: If a rater has no judge.
        """
        models = self._judging_models(own_model)
        judges: list[PanelJudge] = []
        for place, rater in enumerate(self.raters):
            judging_model = models[rater.model or self.model]
            max_tokens = max(judging_model.max_tokens, _TOKENS_PER_GRADE * len(self.criteria))
            for name, draw_seed in self._repeats_of(rater, seed):
                task = JudgeTask(
                    name=name,
                    max_tokens=max_tokens,
                    view=rater.view,
                    criteria=self.criteria,
                    draw_seed=draw_seed,
                )
                if self.mode == LISTWISE:
                    is_reversed = self.orders[place] == 1
                    judges.append(ListJudge(judging_model.model, task, is_reversed=is_reversed))
                elif self.mode == PAIRWISE:
                    judges.append(PairJudge(judging_model.model, task))
                else:
                    judges.append(PanelJudge(judging_model.model, task))
        return judges

    def _judging_models(self, own_model: ChatModel | None) -> dict[str, _JudgingModel]:
        """The model of each judge that raters name; "" is the model that writes the answers."""
        models: dict[str, _JudgingModel] = {}
        if own_model is not None:
            models[""] = _JudgingModel(own_model, _TOKENS_PER_GRADE)
        elif self.needs_model:
            raise InputError(
                "the panel has no model to judge by",
                "write --panel judge:MODEL@URL, or let a model on a server write the answers",
            )
        for rater in self.raters:
            text = rater.model or self.model
            if text not in models:
                models[text] = _make_judging_model(text)
        return models

    def _repeats_of(self, rater: Rater, seed: int) -> Iterator[tuple[str, int | None]]:
        """The name and the seed of each of a rater's judges."""
        if self.repeats == 1:
            yield rater.name, None
            return
        for repeat in range(self.repeats):
            draw_seed = (seed + repeat) % _SEED_LIMIT
            if repeat:
                yield f"{rater.name}#{repeat + 1}", draw_seed
            else:
                yield rater.name, draw_seed


def _make_judging_model(text: str) -> _JudgingModel:
    if parse_spec(text).name == JUDGE:
        judge = scorers.make(text)
        if isinstance(judge, Judge):
            return _JudgingModel(judge.model, judge.max_tokens)
    raise InputError(f"{text!r} is not a judge", "write judge:MODEL@URL")


def read_panel(path: Path) -> Panel:
    """Read a panel from a TOML file.

    Args:
        path: The file, with one [[rater]] per rater.

    Returns:
        The panel.

    Raises:
        InputError: If something is wrong with the file; the error names the field.
    """
    settings = validate_settings(PanelSettings, read_toml(path), str(path))
    raters = tuple(Rater(rater.name, rater.view, rater.model) for rater in settings.rater)
    return Panel(
        raters=raters,
        repeats=settings.repeats,
        criteria=settings.criteria,
        missing=settings.missing,
        model=settings.model,
        mode=settings.mode,
        waves=settings.waves,
    )
