"""Options of everything that writes, rewrites, scores and decides."""

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_calibration, calibrations_of
from darc.registry import DEFAULT_RULE

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.scorers.panel import Panel

FAMILIES = ("style", "targeted", "hybrid")
NORMALIZATIONS = ("auto", "prompt", "fixed", "none")
DEFAULT_GENERATOR = "embedded"
SPEC = "NAME[:ARGUMENT][,KEY=VALUE...]"


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_rule(parser)
    parser.add_argument(
        "--normalize",
        default="auto",
        choices=NORMALIZATIONS,
        help="how several scorers are put on one scale (default: auto)",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    add_panel(parser)
    parts = parser.add_argument_group("rewriting and scoring")
    parts.add_argument(
        "--scorer",
        action="append",
        metavar=SPEC,
        help="may be given several times; see darc scorers (default: a panel for a model on a "
        "server, else relevance, fluency, form, harm)",
    )
    parts.add_argument(
        "--rewriter", default="rules", metavar=SPEC, help="see darc rewriters (default: rules)"
    )
    add_rewrites(parts)
    parts.add_argument(
        "--family", default="style", choices=FAMILIES, help="of rewrites (default: style)"
    )
    parts.add_argument(
        "--no-guard", action="store_true", help="do not compare rewrites by their embeddings"
    )
    parts.add_argument(
        "--entities", default="", metavar="MODEL", help="a model that finds names in rewrites"
    )
    parts.add_argument(
        "--side",
        action="append",
        metavar="NAME=SCORER",
        help="a scorer for a side input: log_likelihood, atypicality or dropout; "
        "same_call=without:NAME,... leaves arguments out where tool calls are compared",
    )
    parts.add_argument("--no-cache", action="store_true", help="do not keep scores for later runs")
    parts.add_argument(
        "--timeout", type=float, default=600.0, help="seconds for a scorer's batch (default: 600)"
    )
    model = parser.add_argument_group("answers")
    model.add_argument(
        "--generator", default=DEFAULT_GENERATOR, metavar=SPEC, help="see darc generators"
    )
    model.add_argument("-k", "--k", type=int, default=16, help="answers to write (default: 16)")
    model.add_argument(
        "--max-tokens", type=int, help="of each (default: the generator's own; 320, deal 512)"
    )
    model.add_argument("--temperature", type=float, default=0.8, help="default: 0.8")
    model.add_argument("--top-p", type=float, default=0.98, help="default: 0.98")
    model.add_argument(
        "--stop",
        default="none",
        metavar="none|pandora[:cost=0.02,wave=N,least=2]",
        help="pandora writes a few answers at a time, and stops where more are not expected to "
        "gain their cost, in the scorers' standard deviations an answer (default: none)",
    )


def add_panel(parser: argparse.ArgumentParser) -> None:
    """Add who grades the answers."""
    panel = parser.add_argument_group("a panel of raters, in place of rewrites and scorers")
    panel.add_argument(
        "--panel",
        action="append",
        nargs="?",
        const="",
        metavar="N|FILE.toml|judge:MODEL@URL",
        help="the first N raters (1 is a single judge), your own, or judges: one for all raters, "
        "several for one each; may be given several times (default: eight raters, judged by the "
        "model that answers where it is on a server and there is no --scorer)",
    )
    panel.add_argument(
        "--repeats", type=int, metavar="N", help="ask each rater N times, to tell noise from views"
    )
    panel.add_argument(
        "--criteria", metavar="NAME,NAME...", help="grades in one call, whose mean counts"
    )
    panel.add_argument(
        "--missing",
        choices=("abstain", "pessimistic", "refuse"),
        help="what a grade is that cannot be had: left out and flagged, the lowest, or the end "
        "(default: abstain)",
    )


def add_rewrites(parser: "argparse._ArgumentGroup") -> None:
    """Add how many rewrites there are, and what else is a sample."""
    parser.add_argument("--n-aug", type=int, default=8, help="rewrites of each (default: 8)")
    parser.add_argument(
        "--max-attempts",
        type=int,
        metavar="N",
        help="rewrites proposed of each until enough are accepted (default: 4 times --n-aug)",
    )
    parser.add_argument(
        "--no-original",
        action="store_true",
        help="the rewrites alone are samples, not the answer itself",
    )
    parser.add_argument(
        "--min-samples",
        type=int,
        default=1,
        metavar="N",
        help="leave out answers with fewer, where another has as many (default: 1)",
    )


def add_rule(parser: argparse.ArgumentParser, own: bool = False) -> None:
    """Add the rule and its levels; `own` says that there is a rule to go by already."""
    default: dict[str, Any] = {"rule": DEFAULT_RULE, "beta": 1.0, "gamma": 1.0}
    told = {name: "the run's own" if own else str(value) for name, value in default.items()}
    if own:
        default = dict.fromkeys(default)
    parser.add_argument(
        "--rule",
        default=default["rule"],
        metavar="NAME[:KEY=VALUE,...]",
        help=f"see darc rules (default: {told['rule']})",
    )
    add_calibration(parser)
    parser.add_argument(
        "--beta",
        type=float,
        default=default["beta"],
        help=f"risk aversion (default: {told['beta']})",
    )
    parser.add_argument(
        "--gamma",
        type=float,
        default=default["gamma"],
        help=f"hedge over scorers (default: {told['gamma']})",
    )


def panel_of(arguments: argparse.Namespace, own: bool) -> "Panel | None":
    """The panel that was asked for, or that there is by default, where the model's `own` is."""
    from darc.errors import InputError
    from darc.scorers.panel import as_panel

    given = {
        "repeats": arguments.repeats,
        "missing": arguments.missing,
        "criteria": arguments.criteria and [c.strip() for c in arguments.criteria.split(",")],
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if arguments.panel is None and (arguments.scorer or not own):
        if changes:
            raise InputError(f"--{min(changes)} is a panel's", "add --panel, and no --scorer")
        return None
    if arguments.scorer:
        raise InputError("a panel and scorers are given", "give --panel or --scorer, not both")
    return replace(as_panel(arguments.panel or True), **changes)


def say_cost(engine: "Engine", k: int, full: bool = False, wave: int | None = None) -> int:
    """How many grades an answer costs at most, said on standard error; 0 without a panel."""
    from darc.engine.panel_samples import grades_of

    panel = engine.parts.panel
    if panel is None:
        return 0
    most, usual = grades_of(engine, k, wave)
    about = f", about {usual} on average" if usual < most and not full else ""
    who = "one rater grades" if len(panel) == 1 else f"a panel of {len(panel)} raters grades"
    told = f"{who} {k} answers: at most {most} calls{about}, besides those that write them"
    print(told, file=sys.stderr, flush=True)
    return most


def engine_of(arguments: argparse.Namespace, model: bool = True, **changes: Any) -> "Engine":
    """The engine that the options stand for; without a `model` it has no generator."""
    from darc.engine.deciding import parse_rules
    from darc.engine.engine import Engine

    levels = arguments.beta, arguments.gamma
    (spec,) = parse_rules([arguments.rule], {}, *levels, calibrations_of(arguments))
    return Engine(**{**options_of(arguments, model), "rule": spec, **changes})


def options_of(arguments: argparse.Namespace, model: bool = True) -> dict[str, Any]:
    """The options of an `Engine` but its rule, as plain values that can be sent elsewhere."""
    from darc.engine.scoring import Patience
    from darc.generators.base import Settings
    from darc.registry import parse_spec, split_pairs

    sampling = ("k", "temperature", "top_p", "max_tokens", "seed")
    own = model and parse_spec(arguments.generator).name in ("openai", "http", "https")
    return {
        "model": arguments.generator if model else None,
        "scorers": tuple(arguments.scorer) if arguments.scorer else None,
        "panel": panel_of(arguments, own) or False,
        "rewriter": arguments.rewriter,
        "n_aug": arguments.n_aug,
        "family": arguments.family,
        "normalize": arguments.normalize,
        "seed": arguments.seed,
        "sampling": Settings(**{name: getattr(arguments, name) for name in sampling}),
        "stop": arguments.stop,
        "guard": not arguments.no_guard,
        "entities": arguments.entities,
        "side": split_pairs(arguments.side or (), "--side"),
        "include_original": not arguments.no_original,
        "max_attempts": arguments.max_attempts,
        "min_samples": arguments.min_samples,
        "cache": not arguments.no_cache,
        "patience": Patience(seconds=arguments.timeout),
    }
