"""Engines made from the settings of a command."""

from typing import TYPE_CHECKING

from darc.cli.choosing import rule_parameters
from darc.cli.output import say
from darc.cli.sources import read_calibrations

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.settings.engine import ChoiceSettings


def make_engine(settings: "ChoiceSettings", with_model: bool = True, workers: int = 0) -> "Engine":
    """Make the engine of a command.

    Args:
        settings: The settings of the command.
        with_model: Whether the engine has a generator.
        workers: How many processes rewrite and score.

    Returns:
        The engine, to be closed by the caller.
    """
    from darc.decide.method import Method
    from darc.engine.engine import Engine

    calibrations = read_calibrations(settings.calibration)
    # What is wrong with the rule is said before any model is loaded.
    method = Method.parse(
        settings.rule,
        rule_parameters(settings.caution),
        calibrations=calibrations,
        beta=settings.beta,
        gamma=settings.gamma,
    )
    generator = None
    if with_model:
        generator = settings.generator
    return Engine(
        generator,
        settings=settings,
        rule=method,
        calibration=calibrations,
        workers=workers,
    )


def say_cost(
    engine: "Engine", k: int, score_everything: bool = False, wave: int | None = None
) -> int:
    """Say on standard error how many calls and tokens the grades of an answer cost.

    Args:
        engine: The engine.
        k: How many answers are graded.
        score_everything: Whether every answer gets every grade.
        wave: How many texts are scored at the same time.

    Returns:
        The largest number of calls; 0 without a panel.
    """
    from darc.engine.panel_cost import ANSWER_TOKENS, estimate_panel_cost
    from darc.parts.scorers.panel_settings import LISTWISE, PAIRWISE

    panel = engine.parts.panel
    if panel is None:
        return 0
    cost = estimate_panel_cost(engine.tools, engine.method, k, wave)
    graders = f"a panel of {len(panel)} raters grades"
    if len(panel) == 1:
        graders = "one rater grades"
    if panel.mode == LISTWISE:
        detail = " (one per rater, and one retry)"
        if cost.average < len(engine.tools.scorers) and not score_everything:
            detail = f", about {cost.average} on average (one per rater who is asked)"
        if cost.average > len(engine.tools.scorers):
            detail = " (several per rater, for many or long answers, and one retry)"
    elif panel.mode == PAIRWISE:
        detail = " (each rater compares pairs in both orders)"
    else:
        detail = ""
        if cost.average < cost.most and not score_everything:
            detail = f", about {cost.average} on average"
        detail += ", and a second one where a judge gives no grade"
    say(
        f"{graders} {k} answers: at most {cost.most} calls{detail}, about {cost.tokens:,} tokens "
        f"with answers of {ANSWER_TOKENS}, besides the calls that write the answers"
    )
    return cost.most
