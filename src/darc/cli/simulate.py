"""`darc simulate`: people with a known truth, and experiments on them."""

import sys
import textwrap
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from darc.cli.output import draw, print_json, print_table, progress, say
from darc.cli.parser import RULE, Parser
from darc.errors import InputError
from darc.files import atomic_writer

NUMBERS = {
    "prompts": (int, "prompts"),
    "candidates": (int, "candidates a prompt"),
    "raters": (int, "raters a candidate"),
    "crowd": (int, "people they are drawn from; 0: other people in every prompt"),
    "polarising": (float, "share of candidates that divide the groups"),
    "gap": (float, "how much less those are worth to the last group"),
    "noise": (float, "scale of a rating's noise"),
    "df": (float, "its degrees of freedom; inf is normal, 3 has heavy tails"),
    "severity": (float, "deviation of the raters' severity"),
    "missing": (float, "share of ratings left out"),
    "step": (float, "ratings are multiples of this; 0: not rounded"),
}
NAMES = ("disagreement", "coverage", "buckets", "raters", "hacking")


def add(parser: Parser) -> None:
    """Add the options."""
    group = parser.add_argument_group("people")
    group.add_argument(
        "--preset", metavar="NAME", help="what the people are like (default: paper; see --list)"
    )
    for name, (kind, text) in NUMBERS.items():
        group.add_argument(f"--{name}", type=kind, metavar="N", help=text)
    group.add_argument(
        "--groups", nargs="+", type=float, metavar="SHARE", help="shares of the groups of people"
    )
    group.add_argument(
        "--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="ends of the rating scale"
    )
    group.add_argument(
        "--set", action="append", metavar="KEY=VALUE", help="any other setting, see --list"
    )
    group.add_argument("--seed", type=int, default=0, help="seed of all draws")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="write the ratings there (default: standard output); a folder, or a name without an "
        "ending, gets ratings.csv, truth.csv and proxy.csv",
    )
    group.add_argument(
        "--truth", type=Path, metavar="FILE", help="write what all people think of each candidate"
    )
    group.add_argument("--experiment", choices=NAMES, help="run this instead")
    group.add_argument(
        "--rule",
        action="append",
        metavar=RULE,
        help="hacking: the rules under one scorer, repeat to compare; buckets: the rule",
    )
    group.add_argument("--json", action="store_true", help="experiment: one JSON object a row")
    group.add_argument(
        "--plot", type=Path, metavar="FILE", help="experiment: draw it (.png, .svg, .pdf)"
    )
    group.add_argument("--list", action="store_true", help="list the presets and their settings")


def run(arguments: Namespace) -> None:
    """List, write or experiment."""
    if arguments.seed < 0:
        raise InputError(f"the seed must be 0 or larger, not {arguments.seed}")
    if arguments.list:
        _list()
    elif arguments.experiment is not None:
        _experiment(arguments)
    else:
        for name in ("json", "plot", "rule"):
            if getattr(arguments, name):
                raise InputError(f"--{name} needs an experiment", "add --experiment NAME")
        _write(arguments)


def _settings(arguments: Namespace) -> dict[str, Any]:
    from darc.registry import parse_pairs

    settings = parse_pairs(arguments.set or (), "--set")
    given = {name: getattr(arguments, name) for name in NUMBERS}
    settings |= {name: value for name, value in given.items() if value is not None}
    if arguments.groups is not None:
        settings["groups"] = tuple(arguments.groups)
    if arguments.scale is not None:
        settings["low"], settings["high"] = arguments.scale
    return settings


def _write(arguments: Namespace) -> None:
    """Write ratings, and what else was asked for, whole or not at all."""
    from darc.ratings.simulated import preset, proxy_scores, simulate
    from darc.ratings.simulated.write import write_proxy, write_ratings, write_truth

    chosen = preset(arguments.preset or "paper").changed(_settings(arguments))
    people = simulate(chosen.people, arguments.seed)
    out, files = arguments.out, list[tuple[Path, Any, Any]]()
    if out is not None and (out.is_dir() or not out.suffix):
        out.mkdir(parents=True, exist_ok=True)
        files += [(out / "ratings.csv", write_ratings, people)]
        files += [(out / "truth.csv", write_truth, people)]
        files += [(out / "proxy.csv", write_proxy, proxy_scores(people, chosen.proxy))]
    elif out is not None:
        files.append((out, write_ratings, people))
    if arguments.truth is not None:
        files.append((arguments.truth, write_truth, people))
    with ExitStack() as stack:
        for path, write, data in files:
            write(stack.enter_context(atomic_writer(path)), data)
    if out is None:
        write_ratings(sys.stdout, people)
    for path, _, _ in files:
        say(f"wrote {path}")


def _experiment(arguments: Namespace) -> None:
    """Run an experiment and print its table and what it found."""
    from darc.analysis.experiments import EXPERIMENTS
    from darc.analysis.experiments.plot import draw_findings
    from darc.ratings.simulated import preset

    name, rules = arguments.experiment, arguments.rule or []
    taken = {"hacking": {"rules": rules}, "buckets": {"rule": rules[0] if rules else ""}}
    if rules and (name not in taken or (name == "buckets" and len(rules) > 1)):
        raise InputError(
            f"the experiment {name!r} does not take {len(rules)} --rule",
            "hacking takes several, buckets one, the others none",
        )
    usual = "hacking" if name == "hacking" else "paper"
    experiment = EXPERIMENTS[name]
    settings = {"prompts": experiment.prompts, **_settings(arguments)}
    chosen = preset(arguments.preset or usual).changed(settings)
    given: dict[str, Any] = taken[name] if rules else {}
    with progress(name, " steps") as report:
        result = experiment.run(chosen, arguments.seed, report=report, **given)
    draw(arguments.plot, lambda: draw_findings(result))
    if arguments.json:
        for row in result.rows:
            print_json(row)
        return
    print_table(result.header, result.table)
    if result.notes:
        print("", *result.notes, sep="\n")


def _list() -> None:
    """Print each preset with what sets it apart, then all settings and their defaults."""
    from darc.ratings.simulated import PRESETS, Preset, ProxyRecipe, Recipe

    plain = Preset("", Recipe(), ProxyRecipe()).settings()
    told = {}
    for name, preset in PRESETS.items():
        own = {key: value for key, value in preset.settings().items() if value != plain[key]}
        told[f"{name}: {preset.summary}"] = own
    for title, settings in {
        **told,
        "all settings, where a preset says nothing else:": plain,
    }.items():
        print(title)
        parts = []
        for name, value in settings.items():
            numbers = value if isinstance(value, tuple) else (value,)
            parts.append(f"{name}={','.join(f'{number:g}' for number in numbers)}")
        print(textwrap.indent(textwrap.fill(" ".join(parts), 92, break_on_hyphens=False), " " * 4))
