"""Options of everything that writes, rewrites, scores and decides."""

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darc.engine.engine import Engine
    from darc.engine.rule_spec import RuleSpec
    from darc.generators.base import Settings

FAMILIES = ("style", "targeted", "hybrid")
NORMALIZATIONS = ("auto", "prompt", "fixed", "none")
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
    parts = parser.add_argument_group("rewriting and scoring")
    parts.add_argument(
        "--scorer",
        action="append",
        metavar=SPEC,
        help="may be given several times; see darc scorers "
        "(default: relevance, fluency, form, harm)",
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
        help="a scorer for a side input: log_likelihood, atypicality or dropout",
    )
    parts.add_argument("--no-cache", action="store_true", help="do not keep scores for later runs")
    parts.add_argument(
        "--timeout", type=float, default=600.0, help="seconds for a scorer's batch (default: 600)"
    )
    model = parser.add_argument_group("answers")
    model.add_argument("--generator", default="embedded", metavar=SPEC, help="see darc generators")
    model.add_argument("-k", "--k", type=int, default=16, help="answers to write (default: 16)")
    model.add_argument(
        "--max-tokens", type=int, help="of each (default: the generator's own; 320, deal 512)"
    )
    model.add_argument("--temperature", type=float, default=0.8, help="default: 0.8")
    model.add_argument("--top-p", type=float, default=0.98, help="default: 0.98")


def add_stop(parser: "argparse.ArgumentParser | argparse._ArgumentGroup") -> None:
    """Add when to stop writing answers."""
    parser.add_argument(
        "--stop",
        default="none",
        metavar="none|pandora[:cost=0.02,wave=N,least=2]",
        help="pandora writes a few answers at a time, and stops where more are not expected to "
        "gain their cost, in the scorers' standard deviations an answer (default: none)",
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
    default: dict[str, Any] = {"rule": "epsilon", "beta": 1.0, "gamma": 1.0}
    told = {name: "the run's own" if own else str(value) for name, value in default.items()}
    if own:
        default = dict.fromkeys(default)
    parser.add_argument(
        "--rule",
        default=default["rule"],
        metavar="NAME[:KEY=VALUE,...]",
        help=f"see darc rules (default: {told['rule']})",
    )
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


def rule_of(arguments: argparse.Namespace) -> "RuleSpec":
    """The rule that was asked for."""
    from darc.engine.rule_spec import parse_rules

    (spec,) = parse_rules([arguments.rule], {}, arguments.beta, arguments.gamma)
    return spec


def sampling_of(arguments: argparse.Namespace) -> "Settings":
    """How the generator shall sample."""
    from darc.generators.base import Settings

    return Settings(
        k=arguments.k,
        temperature=arguments.temperature,
        top_p=arguments.top_p,
        max_tokens=arguments.max_tokens,
        seed=arguments.seed,
    )


def engine_of(arguments: argparse.Namespace, model: bool = True, **changes: Any) -> "Engine":
    """The engine that the options stand for; without a `model` it has no generator."""
    from darc.engine.engine import Engine

    return Engine(**{**options_of(arguments, model), "rule": rule_of(arguments), **changes})


def options_of(arguments: argparse.Namespace, model: bool = True) -> dict[str, Any]:
    """The options of an `Engine` but its rule, as plain values that can be sent elsewhere."""
    from darc.engine.parts import SCORERS
    from darc.engine.scoring import Patience
    from darc.registry.pairs import split_pairs

    return {
        "model": arguments.generator if model else None,
        "scorers": tuple(arguments.scorer or SCORERS),
        "rewriter": arguments.rewriter,
        "n_aug": arguments.n_aug,
        "family": arguments.family,
        "normalize": arguments.normalize,
        "seed": arguments.seed,
        "sampling": sampling_of(arguments),
        "guard": not arguments.no_guard,
        "entities": arguments.entities,
        "side": split_pairs(arguments.side or (), "--side"),
        "include_original": not arguments.no_original,
        "max_attempts": arguments.max_attempts,
        "min_samples": arguments.min_samples,
        "cache": not arguments.no_cache,
        "patience": Patience(seconds=arguments.timeout),
    }
