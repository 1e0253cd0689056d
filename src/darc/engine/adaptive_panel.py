"""A panel whose raters are asked by what their grades are worth."""

from dataclasses import replace

import numpy as np

from darc.decide.decision import Decision
from darc.decide.evidence.adaptive import (
    AdaptiveAsking,
    AskingModel,
    ListAsking,
    probability_final,
)
from darc.decide.evidence.posterior import posterior
from darc.decide.method import Method
from darc.decide.statistics.draws import prompt_seeds, uniforms
from darc.engine.tools import PANEL
from darc.errors import InputError
from darc.parts.scorers.panel import Panel
from darc.parts.scorers.panel_settings import LISTWISE, PAIRWISE
from darc.types import Scores

# A choice that not every grade was asked for is never called certain.
_LARGEST_PROBABILITY = 0.99


def check_adaptive(method: Method, panel: Panel | None) -> None:
    """Refuse to ask a panel adaptively where that cannot work.

    Args:
        method: How the engine decides.
        panel: The panel, if there is one.

    Raises:
        InputError: If there is no panel, its mode or the method needs every grade, or the
            calibration does not know enough of the raters.
    """
    if panel is None:
        raise InputError("--adaptive needs a panel", "add --panel, and no --scorer")
    if panel.mode == PAIRWISE:
        raise InputError(
            "raters who compare pairs cannot be asked adaptively",
            "use --panel-mode separate or listwise",
        )
    if panel.repeats > 1:
        raise InputError(
            "raters who grade each answer several times cannot be asked adaptively",
            "leave out --adaptive or --repeats",
        )
    raters = panel.names
    if panel.mode == LISTWISE:
        raters = ()
    method.asking_model([PANEL], raters)


def asks_adaptively(method: Method, scores: Scores) -> bool:
    """Whether some scores are grades of raters who are asked by what their grades are worth."""
    if method.call_price is None or not scores.judged or scores.compared or scores.repeats > 1:
        return False
    try:
        asking_model(method, scores)
    except InputError:
        return False
    return True


def adaptive_asking(method: Method, lot: str, scores: Scores) -> AdaptiveAsking | ListAsking:
    """What asks for the grades of one prompt.

    Args:
        method: How to decide.
        lot: What tells the prompt from others, by which its order of raters is drawn.
        scores: The grades so far.
    """
    _, n_candidates, n_raters = scores.values.shape
    model = asking_model(method, scores)
    lots = uniforms(prompt_seeds(method.seed, [lot]), n_raters)[0]
    order = [int(place) for place in np.argsort(lots, kind="stable")]
    if scores.orders:
        return ListAsking(n_candidates, _balanced(order, scores.orders), model)
    return AdaptiveAsking(n_candidates, order, model)


def decide_on_asked(method: Method, prompt_id: str, scores: Scores) -> Decision:
    """Decide on the grades that were asked for.

    Args:
        method: How to decide.
        prompt_id: The id of the prompt.
        scores: The grades, NaN of those that were not asked for.

    Returns:
        The decision. Unless every grade was asked for it is flagged `likely`, with the probability
        that all grades would lead to the same choice.
    """
    decision = method.decide(prompt_id, scores, {})
    model = asking_model(method, scores)
    ratings = method.decided_on(scores)[0] - model.severity
    room = np.isnan(ratings).sum(axis=1)
    for candidate, _ in scores.failed:
        room[candidate] -= 1
    if not room.any():
        return decision
    belief = posterior(ratings[None], model.noise)
    probability = probability_final(ratings, belief, model.noise, room, decision.index)
    flags = list(decision.flags)
    if not scores.failed and "shrunk" in flags:
        # That is how every such choice is made.
        flags.remove("shrunk")
    flags.append(f"likely:{min(probability, _LARGEST_PROBABILITY):.2f}")
    return replace(decision, flags=tuple(flags))


def asking_model(method: Method, scores: Scores) -> AskingModel:
    """What is known of the raters who give some scores; no severity where it does not matter."""
    raters = scores.samples
    if scores.orders:
        raters = ()
    model = method.asking_model(scores.scorers, raters)
    if scores.orders:
        return replace(model, severity=np.zeros(len(scores.samples)))
    return model


def _balanced(order: list[int], list_orders: tuple[int, ...]) -> list[int]:
    """The raters so that those who see the answers forwards and backwards take turns."""
    forward = [place for place in order if list_orders[place] == 0]
    backward = [place for place in order if list_orders[place] == 1]
    turns: list[int] = []
    for place in range(max(len(forward), len(backward))):
        turns += forward[place : place + 1]
        turns += backward[place : place + 1]
    return turns
