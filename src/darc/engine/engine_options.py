"""The keywords of `Engine`: the settings of a choice, some of which may also be objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from darc.decide.caution import parse_caution
from darc.decide.method import Method, as_method
from darc.decide.model.calibration_file import as_calibrations
from darc.decide.standards import Standards, as_standards
from darc.engine.parts import Parts
from darc.engine.score_cache import ScoreCache
from darc.engine.scoring import ScorerRetry
from darc.engine.side_inputs import SideInputMaker, parse_side_inputs
from darc.engine.stopping import StopRule, parse_stop
from darc.errors import InputError, UnknownName
from darc.models.completion import ChatModel
from darc.parts.generators.base import SamplingParameters
from darc.parts.scorers.panel import Panel
from darc.parts.scorers.panel_argument import parse_panel
from darc.registry import split_pairs
from darc.settings.engine import EngineSettings
from darc.settings.sampling import RewriteSettings
from darc.settings.validation import validate_settings

# Keywords that are not settings, because they are always objects.
_OBJECT_OPTIONS = ("judge", "retry", "sampling", "standards")
# Settings that Python code may give in other forms than the command line.
_RAW_OPTIONS = ("caution", "panel", "side")


@dataclass(frozen=True)
class EngineOptions:
    """What an engine is made of."""

    #: The settings; those that were given as objects have their defaults here.
    settings: EngineSettings
    #: What was given as an object, by name.
    objects: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """The object or the setting of a name."""
        if name in self.objects:
            return self.objects[name]
        return getattr(self.settings, name)

    @property
    def judge(self) -> ChatModel | None:
        """The model of raters that name none."""
        judge: ChatModel | None = self.objects.get("judge")
        return judge

    @property
    def retry(self) -> ScorerRetry:
        """How often and how long scorers are asked."""
        retry: ScorerRetry | None = self.objects.get("retry")
        return retry or ScorerRetry(seconds=self.settings.scorer_timeout)

    @property
    def sampling(self) -> SamplingParameters:
        """How many answers are written, and how they are sampled."""
        sampling: SamplingParameters | None = self.objects.get("sampling")
        if sampling is not None:
            return sampling
        max_tokens: int | None = None
        if "max_tokens" in self.settings.model_fields_set:
            # Otherwise the generator has a limit of its own.
            max_tokens = self.settings.max_tokens
        return SamplingParameters(
            k=self.settings.k,
            temperature=self.settings.temperature,
            top_p=self.settings.top_p,
            max_tokens=max_tokens,
            seed=self.settings.seed,
        )

    @property
    def stopping(self) -> StopRule | None:
        """When to stop writing answers."""
        stop: str | StopRule = self.value("stop")
        if isinstance(stop, str):
            return parse_stop(stop)
        return stop

    @property
    def standards(self) -> Standards:
        """What counts as a good rating."""
        standards: Standards | None = self.objects.get("standards")
        if standards is not None:
            return standards
        settings = self.settings
        return as_standards(
            self.value("scale"), settings.threshold, settings.no_rating_below, settings.poor_below
        )

    @property
    def side_inputs(self) -> SideInputMaker:
        """What computes the side inputs of rules."""
        side = self.objects.get("side")
        if isinstance(side, SideInputMaker):
            return side
        return parse_side_inputs(self._side_texts())

    def open_cache(self) -> ScoreCache | None:
        """The score cache, None where scores are not kept."""
        cache: bool | ScoreCache = self.value("cache")
        if isinstance(cache, ScoreCache):
            return cache
        if cache:
            return ScoreCache()
        return None

    def choose_panel(self, remote_model: ChatModel | None) -> Panel | None:
        """The panel that grades the answers, None where scorers score them.

        Args:
            remote_model: The model on a server that writes the answers. By default it judges its
                own answers as a panel.

        Returns:
            The panel.

        Raises:
            InputError: If there are both a panel and scorers, or options of a panel without one.
        """
        panel = self.objects.get("panel")
        has_scorers = bool(self.value("scorers"))
        if panel is None:
            use_panel = remote_model is not None and not has_scorers
        else:
            use_panel = panel is not False
        changes = self._panel_changes()
        if not use_panel:
            if changes:
                option = min(changes)
                if option in ("mode", "waves"):
                    option = f"panel-{option}"
                raise InputError(f"--{option} needs a panel", "add --panel, and no --scorer")
            if "scorers" in self.objects and not has_scorers:
                raise InputError("there is no scorer", "give at least one")
            return None
        if has_scorers:
            raise InputError("a panel and scorers are given", "give --panel or --scorer, not both")
        if panel is None:
            panel = True
        return replace_fields(parse_panel(panel), **changes)

    def make_parts(self, panel: Panel | None) -> Parts:
        """What turns answers into numbers, by name."""
        values = {name: self.value(name) for name in RewriteSettings.model_fields}
        values["scorers"] = self.value("scorers") or None
        values["panel"] = panel
        values["seed"] = self.settings.seed
        values["min_samples"] = self.settings.min_samples
        if not isinstance(self.objects.get("side"), SideInputMaker):
            values["side"] = self._side_texts()
        return validate_settings(Parts, values)

    def make_method(self, parts: Parts) -> Method:
        """How the engine decides."""
        settings = self.settings
        calibrations = as_calibrations(self.value("calibration"))
        rule: str | Method = self.value("rule")
        if isinstance(rule, str):
            method = Method.parse(
                rule, calibrations=calibrations, beta=settings.beta, gamma=settings.gamma
            )
        else:
            method = as_method(rule, calibrations)
        caution = self.value("caution")
        if caution is not None:
            parse_caution(caution)
            method = method.with_parameters(caution=caution)
        return replace_fields(
            method,
            normalize=settings.normalize,
            seed=parts.seed,
            include_original=parts.include_original or parts.panel is not None,
            min_samples=parts.min_samples,
            standards=self.standards,
            search_mode=settings.search,
            slate=settings.slate,
            call_price=settings.call_price if settings.adaptive else None,
        )

    def _side_texts(self) -> dict[str, str]:
        """The scorer of each side input, as a text."""
        side = self.objects.get("side", ())
        if isinstance(side, Mapping):
            return dict(side)
        return split_pairs(side, "--side")

    def _panel_changes(self) -> dict[str, Any]:
        """The fields of the panel that options of their own change."""
        settings = self.settings
        changes: dict[str, Any] = {}
        if settings.panel_mode is not None:
            changes["mode"] = settings.panel_mode
        if settings.panel_waves is not None:
            changes["waves"] = settings.panel_waves
        if settings.repeats is not None:
            changes["repeats"] = settings.repeats
        if settings.missing is not None:
            changes["missing"] = settings.missing
        if settings.criteria:
            changes["criteria"] = [name.strip() for name in settings.criteria.split(",")]
        return changes


def parse_engine_options(settings: BaseModel | None, keywords: Mapping[str, Any]) -> EngineOptions:
    """Check the keywords of an engine.

    Args:
        settings: Settings of a command, of which those of `EngineSettings` count.
        keywords: Settings and objects by name, which win over the settings; None stands for the
            default.

    Returns:
        The options.

    Raises:
        UnknownName: If there is no such option.
        InputError: If a value is not allowed.
    """
    names = [*EngineSettings.model_fields, *_OBJECT_OPTIONS]
    for name in keywords:
        if name not in names:
            raise UnknownName("option", name, names)
    values: dict[str, Any] = {"cache": False, "workers": 0}
    if settings is not None:
        for name in EngineSettings.model_fields:
            if hasattr(settings, name):
                values[name] = getattr(settings, name)
    values |= keywords
    plain: dict[str, Any] = {}
    objects: dict[str, Any] = {}
    if keywords.get("scorers") is not None and not keywords["scorers"]:
        # An empty list is not the same as no list: it is refused unless there is a panel.
        objects["scorers"] = ()
    for name, value in values.items():
        if value is None or value == () or value == []:
            continue
        if name in _OBJECT_OPTIONS or name in _RAW_OPTIONS or not _is_plain(value):
            objects[name] = value
        else:
            plain[name] = value
    return EngineOptions(validate_settings(EngineSettings, plain), objects)


def _is_plain(value: Any) -> bool:
    """Whether a value can be a setting: text, a number, or a list of texts."""
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float | bool | Path)
