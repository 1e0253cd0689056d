"""Options of everything that writes, rewrites, scores and decides."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from darc.cli.options import add_options
from darc.cli.output import say
from darc.cli.parser import Parser, read_calibrations
from darc.engine.options import SPEC, ChoosingOptions, PeopleOptions, SampleOptions
from darc.settings.model import SettingsModel, option
from darc.settings.validation import validate_settings

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.engine.parts import Parts
    from darc.parts.scorers.panel import Panel


class PanelOptions(SettingsModel):
    """Who grades the answers."""

    panel: tuple[str, ...] = option(
        (),
        "the first N raters (1 is a single judge), your own, or judges: one for all "
        "raters, several for one each; may be given several times (default: eight raters, judged "
        "by the model that answers where it is on a server and there is no --scorer)",
        "N|FILE.toml|judge:MODEL@URL",
        nargs="?",
        bare_value="",
    )
    repeats: int | None = option(None, "ask each rater N times, to tell noise from views", "N")
    criteria: str | None = option(None, "grades in one call, whose mean counts", "NAME,NAME...")
    missing: Literal["abstain", "pessimistic", "refuse"] | None = option(
        None,
        "what a grade is that cannot be had: left out and flagged, the lowest, or the end "
        "(default: abstain)",
    )


class ScorerOptions(SampleOptions):
    """What the samples of an answer are, and what scores them."""

    scorer: tuple[str, ...] = option(
        (),
        "may be given several times; see darc scorers (default: a panel for a model on a server, "
        "else relevance, fluency, form, harm)",
        SPEC,
    )
    no_original: bool = option(False, "the rewrites alone are samples, not the answer itself")
    no_guard: bool = option(False, "do not compare rewrites by their embeddings")
    side: tuple[str, ...] = option(
        (),
        "a scorer for a side input: log_likelihood, atypicality or dropout; "
        "same_call=without:NAME,... leaves arguments out where tool calls are compared",
        "NAME=SCORER",
    )


class WorkOptions(SettingsModel):
    """How scores are made."""

    no_cache: bool = option(False, "do not keep scores for later runs", exclude=True)
    timeout: float = option(600.0, "seconds for a scorer's batch", exclude=True)


class AnswerOptions(SettingsModel):
    """Where answers come from."""

    generator: str = option("embedded", "see darc generators", SPEC)
    k: int = option(8, "answers to write", short_flag="-k")
    max_tokens: int = option(320, "of each")
    temperature: float = option(0.8, "of sampling")
    top_p: float = option(0.98, "of sampling")


class ChoiceOptions(ChoosingOptions, PanelOptions, ScorerOptions, WorkOptions, AnswerOptions):
    """Everything that a choice among answers depends on."""

    calibration: Path | None = option(
        None, "calibration file for the default rule, written by darc calibrate", "FILE"
    )
    seed: int = option(0, "of everything that is drawn")

    def engine_options(self, model: bool = True) -> dict[str, Any]:
        """The options of an `Engine` but its rule, as plain values that can be sent elsewhere."""
        from darc.engine.scoring import ScorerRetry
        from darc.parts.generators.base import SamplingParameters
        from darc.registry import parse_spec

        sampling = ("k", "temperature", "top_p", "max_tokens", "seed")
        own = model and parse_spec(self.generator).name in ("openai", "http", "https")
        return {
            **dict(parts_of(self, panel_of(self, self.scorer, own), self.seed)),
            "model": self.generator if model else None,
            "normalize": self.normalize,
            "standards": self.standards,
            "search": self.search,
            "sampling": SamplingParameters(**{name: getattr(self, name) for name in sampling}),
            "stop": self.stop,
            "cache": not self.no_cache,
            "retry": ScorerRetry(seconds=self.timeout),
        }

    def engine(self, model: bool = True, **changes: Any) -> "Engine":
        """The engine that the options stand for; without a `model` it has no generator."""
        from darc.decide.method import Method
        from darc.engine.engine import Engine

        known = read_calibrations(self.calibration)
        method = Method.parse(
            self.rule, self.rule_parameters, beta=self.beta, gamma=self.gamma, calibrations=known
        )
        return Engine(**{**self.engine_options(model), "rule": method, **changes})


def add_choice(parser: Parser) -> None:
    """Add the options, in groups."""
    add_options(parser, PeopleOptions)
    add_options(parser, ChoiceOptions, "rule", "calibration", "beta", "gamma", "normalize", "seed")
    add_options(parser, ChoiceOptions, "search")
    add_panel(parser)
    parts = parser.add_argument_group("rewriting and scoring")
    add_options(parts, ScorerOptions)
    add_options(parts, WorkOptions)
    answers = parser.add_argument_group("answers")
    add_options(answers, AnswerOptions)
    add_options(answers, ChoiceOptions, "stop")


def add_panel(parser: Parser) -> None:
    """Add who grades the answers."""
    group = parser.add_argument_group("a panel of raters, in place of rewrites and scorers")
    add_options(group, PanelOptions)


def panel_of(options: PanelOptions, scorers: Sequence[str], own: bool) -> "Panel | None":
    """The panel that was asked for, or that there is by default, where the model's `own` is."""
    from darc.errors import InputError
    from darc.parts.scorers.panel_argument import parse_panel

    criteria = options.criteria and [name.strip() for name in options.criteria.split(",")]
    given = {"repeats": options.repeats, "missing": options.missing, "criteria": criteria}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not options.panel and (scorers or not own):
        if changes:
            raise InputError(f"--{min(changes)} is a panel's", "add --panel, and no --scorer")
        return None
    if scorers:
        raise InputError("a panel and scorers are given", "give --panel or --scorer, not both")
    return replace(parse_panel(options.panel or True), **changes)


def parts_of(options: ScorerOptions, panel: "Panel | None", seed: int) -> "Parts":
    """What turns answers into numbers, as the options say it."""
    from darc.engine.parts import Parts
    from darc.registry import split_pairs

    given = options.model_dump(include=set(SampleOptions.model_fields))
    given |= {"scorers": options.scorer or None, "panel": panel, "seed": seed}
    given |= {"guard": not options.no_guard, "include_original": not options.no_original}
    return validate_settings(Parts, {**given, "side": split_pairs(options.side, "--side")})


def say_cost(engine: "Engine", k: int, full: bool = False, wave: int | None = None) -> int:
    """How many grades an answer costs at most, said on standard error; 0 without a panel."""
    from darc.engine.panel_cost import estimate_panel_cost

    panel = engine.parts.panel
    if panel is None:
        return 0
    cost = estimate_panel_cost(engine.tools, engine.method, k, wave)
    about = ""
    if cost.average < cost.most and not full:
        about = f", about {cost.average} on average"
    who = "one rater grades" if len(panel) == 1 else f"a panel of {len(panel)} raters grades"
    say(f"{who} {k} answers: at most {cost.most} calls{about}, besides those that write them")
    return cost.most
