"""`darc import`: tidy ratings from what people have."""

import csv
import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.output import print_json, print_table, say
from darc.cli.parser import Parser, add_columns, columns_of
from darc.errors import InputError
from darc.files import atomic_writer

if TYPE_CHECKING:
    from darc.ratings.judgements import Judgements


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument(
        "file", type=Path, help="what you have: a file, a folder of a dataset, or hf:OWNER/NAME"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="of the ratings (default: beside it)"
    )
    parser.add_argument(
        "--scale", metavar="WORD=NUMBER,...", help='what words stand for, such as "bad=1,good=5"'
    )
    add_columns(parser, system=False)
    parser.add_argument("--split", default="", help="of a dataset, this split only")
    parser.add_argument("--json", action="store_true", help="what was understood as a JSON object")


def run(arguments: Namespace) -> None:
    """Read, write, and say what was understood."""
    from darc.ratings.importing import parse_scale, read_judgements

    scale = parse_scale(arguments.scale) if arguments.scale else {}
    made = read_judgements(arguments.file, columns_of(arguments), scale, arguments.split)
    if not made.ratings and not made.pairs:
        raise InputError(f"{arguments.file} has no judgements", "see darc import --help")
    # Beside a file, and in this folder for what is nowhere here.
    folder = arguments.file.parent if arguments.file.exists() else Path()
    out = arguments.out or folder / f"{arguments.file.name.split('.')[0]}.ratings.csv"
    about = _about(made, out, _write(made, out))
    if arguments.json:
        print_json(about)
    else:
        print_table(["understood", ""], [[k, v] for k, v in about.items() if v != ""])
        say(f"next: darc diagnose {out}")


def _write(made: "Judgements", out: Path) -> Path | None:
    """Write ratings or pairs, and beside them the texts where there are any."""
    with atomic_writer(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if made.ratings:
            named = any(system for *_, system in made.ratings)
            header = ["prompt_id", "candidate_id", "rater_id", "rating", "system"]
            writer.writerow(header if named else header[:-1])
            for *row, rating, system in made.ratings:
                writer.writerow([*row, f"{rating:g}", system] if named else [*row, f"{rating:g}"])
        else:
            writer.writerow(["prompt_id", "left_id", "right_id", "rater_id", "winner"])
            writer.writerows(made.pairs)
    if not made.texts:
        return None
    path = out.with_name(f"{out.name.split('.csv')[0]}.texts.jsonl")
    with atomic_writer(path) as stream:
        for (prompt, candidate), (question, answer) in made.texts.items():
            ids = {"prompt_id": prompt, "candidate_id": candidate}
            texts = {"prompt": question, "response": answer}
            stream.write(json.dumps({**ids, **texts}, ensure_ascii=False) + "\n")
    return path


def _about(made: "Judgements", out: Path, texts: Path | None) -> dict[str, Any]:
    rows: list[Any] = made.ratings or made.pairs
    values = [rating for *_, rating, _ in made.ratings]
    candidates = {(row[0], row[1]) for row in rows} | {(row[0], row[2]) for row in made.pairs}
    raters = {row[2] if made.ratings else row[3] for row in rows}
    left_out = ", ".join(f"{times} ({why})" for why, times in made.skipped.items())
    return {
        "format": made.format,
        "prompts": len({row[0] for row in rows}),
        "candidates": len(candidates),
        "raters": len(raters),
        "ratings" if made.ratings else "comparisons": len(rows),
        "scale": f"{min(values):g} to {max(values):g}" if values else "",
        "left out": left_out,
        "written to": str(out),
        "texts": "" if texts is None else str(texts),
    }
