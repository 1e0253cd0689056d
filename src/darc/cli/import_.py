"""`darc import`: tidy ratings from a spreadsheet or another tool's export."""

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import print_json, print_table, say
from darc.cli.sources import columns_of
from darc.errors import InputError
from darc.files import atomic_writer
from darc.settings.importing import ImportSettings

if TYPE_CHECKING:
    from darc.ratings.judgements import Judgements


def run(settings: ImportSettings) -> None:
    """Read the judgements, write them, and say what was understood."""
    from darc.ratings.importing import parse_scale, read_judgements

    scale = {}
    if settings.scale:
        scale = parse_scale(settings.scale)
    judgements = read_judgements(settings.file, columns_of(settings), scale, settings.dataset_split)
    if not judgements.ratings and not judgements.pairs:
        raise InputError(f"{settings.file} has no judgements", "see darc import --help")
    out = settings.out or _default_path(settings.file)
    _write_judgements(judgements, out)
    texts = _write_texts(judgements, out)
    facts = _facts(judgements, out, texts)
    if settings.as_json:
        print_json(facts)
    else:
        rows = [[name, value] for name, value in facts.items() if value != ""]
        print_table(["understood", ""], rows)
        say(f"next: darc diagnose {out}")


def _default_path(source: Path) -> Path:
    """Beside a file, and in the current folder for what is not on this machine."""
    name = f"{source.name.split('.')[0]}.ratings.csv"
    if source.exists():
        return source.parent / name
    return Path(name)


def _write_judgements(judgements: "Judgements", out: Path) -> None:
    """Write ratings, or else comparisons, as CSV."""
    with atomic_writer(out) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if not judgements.ratings:
            writer.writerow(["prompt_id", "left_id", "right_id", "rater_id", "winner"])
            writer.writerows(judgements.pairs)
            return
        has_systems = any(system for *_, system in judgements.ratings)
        header = ["prompt_id", "candidate_id", "rater_id", "rating"]
        if has_systems:
            header.append("system")
        writer.writerow(header)
        for *ids, rating, system in judgements.ratings:
            row = [*ids, f"{rating:g}"]
            if has_systems:
                row.append(system)
            writer.writerow(row)


def _write_texts(judgements: "Judgements", out: Path) -> Path | None:
    """Write the texts beside the ratings, where there are any."""
    if not judgements.texts:
        return None
    path = out.with_name(f"{out.name.split('.csv')[0]}.texts.jsonl")
    with atomic_writer(path) as stream:
        for (prompt, candidate), (question, answer) in judgements.texts.items():
            row = {
                "prompt_id": prompt,
                "candidate_id": candidate,
                "prompt": question,
                "response": answer,
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _facts(judgements: "Judgements", out: Path, texts: Path | None) -> dict[str, Any]:
    """What was understood, and where it was written."""
    if judgements.ratings:
        rows: list[Any] = judgements.ratings
        kind = "ratings"
        candidates = {(row[0], row[1]) for row in rows}
        raters = {row[2] for row in rows}
        values = [rating for *_, rating, _ in judgements.ratings]
        scale = f"{min(values):g} to {max(values):g}"
    else:
        rows = judgements.pairs
        kind = "comparisons"
        candidates = {(row[0], row[1]) for row in rows} | {(row[0], row[2]) for row in rows}
        raters = {row[3] for row in rows}
        scale = ""
    left_out = [f"{times} ({reason})" for reason, times in judgements.skipped.items()]
    return {
        "format": judgements.format,
        "prompts": len({row[0] for row in rows}),
        "candidates": len(candidates),
        "raters": len(raters),
        kind: len(rows),
        "scale": scale,
        "left out": ", ".join(left_out),
        "written to": str(out),
        "texts": str(texts or ""),
    }


COMMAND = Command(ImportSettings, run)
