"""`darc diagnose`: whether disagreement is signal."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_columns, add_general, columns_of
from darc.files import jsonable

if TYPE_CHECKING:
    from darc.diagnosis.diagnose import Diagnosis
    from darc.diagnosis.words import Words
    from darc.tuning.advice import Advice

DESCRIPTION = """\
Say whether the disagreement in a file of ratings is signal: where the variance is, whether means
and sigmas would return with other raters, how many raters it takes, who stands apart, which
prompts are contentious, and which rule to use, tested on raters and prompts held out."""
EPILOG = """\
examples:
  darc diagnose ratings.csv
  darc diagnose ratings.csv --plot diagnosis.png --out diagnosis"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("source", type=Path, help="a file of ratings, or a folder of darc run")
    parser.add_argument("--json", action="store_true", help="one JSON object a scorer and line")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write every table there")
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="prompts and raters shown (default: 5)"
    )
    parser.add_argument(
        "--splits", type=int, default=200, metavar="N", help="random halves (default: 200)"
    )
    parser.add_argument(
        "--draws", type=int, default=500, metavar="N", help="permutations (default: 500)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all draws (default: 0)")
    add_columns(parser)
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, diagnose, write and print."""
    from darc.cli.diagnosed import print_advice, print_diagnosis
    from darc.cli.parser import progress
    from darc.diagnosis.diagnose import diagnose
    from darc.diagnosis.words import words
    from darc.errors import InputError
    from darc.evaluation.reading import read_any
    from darc.tuning.advice import advise
    from darc.views import check_picture

    for name in ("top", "splits", "draws"):
        if getattr(arguments, name) < 1:
            raise InputError(f"--{name} is {getattr(arguments, name)}", "give 1 or more")
    if arguments.plot is not None:
        check_picture(arguments.plot)
    source = read_any(arguments.source, None, columns_of(arguments), arguments.system)
    found = [
        diagnose(
            source,
            scorer,
            splits=arguments.splits,
            draws=arguments.draws,
            top=arguments.top,
            seed=arguments.seed,
        )
        for scorer in range(source.shape[1])
    ]
    with progress("comparing", " settings") as report:
        advice = advise(source, seed=arguments.seed, progress=report)
    _write(arguments, found)
    if not arguments.json:
        print_advice(advice)
    for diagnosis in found:
        said = words(diagnosis)
        if arguments.json:
            print(json.dumps(_plain(diagnosis, said, advice), ensure_ascii=False, allow_nan=False))
        else:
            print()
            print_diagnosis(diagnosis, said, arguments.top)


def _write(arguments: argparse.Namespace, found: "list[Diagnosis]") -> None:
    from darc.diagnosis.output import draw_diagnosis, frames
    from darc.evaluation.frame import joined, write_frames
    from darc.files import atomic_path
    from darc.views import save_figure

    if arguments.out is not None:
        made = joined(frame for diagnosis in found for frame in frames(diagnosis))
        paths = write_frames(made, arguments.out)
        print(f"wrote {len(paths)} files to {arguments.out}", file=sys.stderr)
    if arguments.plot is not None:
        figure = draw_diagnosis(found)
        with atomic_path(arguments.plot) as temporary:
            save_figure(figure, temporary)
        print(f"drew {arguments.plot}", file=sys.stderr)


def _plain(diagnosis: "Diagnosis", said: "Words", advice: "Advice") -> dict[str, Any]:
    """What JSON holds: the words, single numbers, and every table but the candidates'."""
    from dataclasses import asdict

    from darc.diagnosis.output import frames

    panel = diagnosis.panel
    groups = None if diagnosis.groups is None else asdict(diagnosis.groups)
    if groups is not None:
        groups.pop("contrasts")
    plain = {
        "name": diagnosis.name,
        "scorer": panel.scorer,
        "verdict": said.verdict,
        "advice": advice.as_json(),
        "sentences": said.sentences,
        "notes": said.notes,
        "prompts": len(panel.prompt_names),
        "candidates": int(panel.counts.size),
        "raters": len(panel.rater_names) if panel.named else None,
        "ratings": int(panel.counts.sum()),
        "ratings_a_candidate": diagnosis.each,
        "equal_sigmas_p": diagnosis.spread.p_value,
        "sigma_mean_correlation": diagnosis.follows,
        "polarising": len(diagnosis.spread.polarising),
        "polarising_by_chance": diagnosis.spread.expected,
        "groups": groups,
        "latent_groups": asdict(diagnosis.latent),
    }
    plain["tables"] = {
        frame.name: frame.records() for frame in frames(diagnosis) if frame.name != "candidates"
    }
    return {name: jsonable(value) for name, value in plain.items()}
