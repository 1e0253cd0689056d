"""`darc import`: tidy ratings from a spreadsheet or another tool's export."""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import print_json, print_table, say
from darc.errors import InputError
from darc.files import atomic_writer
from darc.registry import split_pairs
from darc.settings.importing import ImportSettings

if TYPE_CHECKING:
    from darc.ratings.judgements import Judgements


def run(settings: ImportSettings) -> None:
    """Read the judgements, write them, and say what was understood."""
    from darc.ratings.importing import parse_scale

    columns: dict[str, list[str]] = {}
    for text in settings.columns:
        for role, name in split_pairs([text], "--column").items():
            columns.setdefault(role, []).append(name)
    scale: dict[str, float] = {}
    if settings.scale:
        scale = parse_scale(settings.scale)
    judgements = _read(settings, columns, scale)
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
        print_table(["understood", ""], rows, max_cell_length=2_000)
        say(f"next: darc diagnose {out}")


def _read(
    settings: ImportSettings, columns: dict[str, list[str]], scale: dict[str, float]
) -> "Judgements":
    """Read the judgements; on a terminal, ask for what cannot be told."""
    from darc.ratings.importing import read_judgements
    from darc.ratings.rating_cells import UnknownWords
    from darc.ratings.sheet_columns import UnknownColumn

    while True:
        try:
            return read_judgements(settings.file, columns, scale, settings.dataset_split)
        except UnknownColumn as problem:
            if not problem.names or not _can_ask():
                raise
            say(problem.message)
            columns[problem.role] = [_ask_column(problem.role, problem.names)]
        except UnknownWords as problem:
            if not _can_ask():
                raise
            say(problem.message)
            scale.update(_ask_numbers(problem.numbers))


def _can_ask() -> bool:
    """Whether a person sits in front of it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask_column(role: str, names: Sequence[str]) -> str:
    """Ask which column plays a role."""
    for number, name in enumerate(names, 1):
        say(f"  {number}  {name}")
    while True:
        reply = _ask(f"Which column is {role}? Its number or name: ")
        if reply in names:
            return reply
        if reply.isdecimal() and 1 <= int(reply) <= len(names):
            return names[int(reply) - 1]
        say(f"there is no column {reply!r}")


def _ask_numbers(numbers: Mapping[str, float | None]) -> dict[str, float]:
    """Ask what each word stands for; an empty reply accepts the number that is proposed."""
    scale: dict[str, float] = {}
    for word, proposed in numbers.items():
        shown = "" if proposed is None else f" [{proposed:g}]"
        while word.casefold() not in scale:
            reply = _ask(f"What number does {word!r} stand for?{shown} ")
            if not reply and proposed is not None:
                scale[word.casefold()] = proposed
                continue
            try:
                scale[word.casefold()] = float(reply.replace(",", "."))
            except ValueError:
                say(f"{reply!r} is not a number")
    return scale


def _ask(question: str) -> str:
    """Ask on standard error, which results are kept apart from."""
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise InputError("there was no reply", "see darc import --help")
    return line.strip()


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
        detail_names = list(dict.fromkeys(n for row in judgements.details.values() for n in row))
        has_systems = any(system for *_, system in judgements.ratings)
        header = ["prompt_id", "candidate_id", "rater_id", "rating"]
        if has_systems:
            header.append("system")
        if judgements.groups:
            header.append("rater_group")
        writer.writerow([*header, *detail_names])
        for prompt, candidate, rater, rating, system in judgements.ratings:
            row = [prompt, candidate, rater, f"{rating:.12g}"]
            if has_systems:
                row.append(system)
            if judgements.groups:
                row.append(judgements.groups.get(rater, ""))
            details = judgements.details.get((prompt, candidate), {})
            writer.writerow([*row, *(details.get(name, "") for name in detail_names)])


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
        "words": ", ".join(f"{word}={number:g}" for word, number in _by_number(judgements.scale)),
        "columns": ", ".join(f"{role}={name}" for role, name in judgements.columns.items()),
        "groups": len(set(judgements.groups.values())) or "",
        "notes": "; ".join(judgements.notes),
        "left out": ", ".join(left_out),
        "written to": str(out),
        "texts": str(texts or ""),
    }


def _by_number(scale: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(scale.items(), key=lambda item: item[1])


COMMAND = Command(ImportSettings, run)
