"""`darc next`: which ratings to ask people for next."""

import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from darc.cli.commands import Command
from darc.cli.output import print_json, print_table, say
from darc.cli.sources import load_source
from darc.files import atomic_writer
from darc.settings.next import NextSettings

if TYPE_CHECKING:
    from typing import TextIO

    from darc.analysis.next_ratings import NextRatings, RatingRequest

COLUMNS = ("prompt_id", "candidate_id", "rater_id", "value")


def run(settings: NextSettings) -> None:
    """Read the ratings so far, and print or write the ratings to ask for."""
    from darc.analysis.next_ratings import AskSettings, next_ratings

    ratings = load_source(settings.source, settings)
    limits = AskSettings(settings.budget, settings.price, settings.seed, settings.new_raters)
    plan = next_ratings(ratings, limits)
    if settings.out is not None:
        with atomic_writer(settings.out) as file:
            _write(plan.requests, file)
    if settings.as_json:
        print_json(_as_data(plan))
    elif settings.out is None:
        _print(plan.requests)
    sys.stdout.flush()
    say(_summary(plan))
    for note in _notes(plan):
        say(note)
    if settings.out is not None:
        say(f"wrote the ratings to ask for to {settings.out}")


def _print(requests: "Sequence[RatingRequest]") -> None:
    """Print the ratings to ask for: as a table on a terminal, as CSV to other programs."""
    if not sys.stdout.isatty():
        _write(requests, sys.stdout)
        return
    rows: list[list[object]] = [
        [request.prompt_id, request.candidate_id, request.rater_id or "anybody", request.value]
        for request in requests
    ]
    if rows:
        print_table(["prompt", "answer", "rater", "value"], rows)


def _write(requests: "Sequence[RatingRequest]", file: "TextIO") -> None:
    """Write the ratings to ask for as CSV."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for request in requests:
        writer.writerow(
            [request.prompt_id, request.candidate_id, request.rater_id, f"{request.value:.4f}"]
        )


def _summary(plan: "NextRatings") -> str:
    """How sure the choices are, and what is asked for."""
    prompts = len(plan.prompt_ids)
    finished = int(plan.finished.sum())
    sure = float(plan.certainty.probability.mean())
    words = f"{len(plan.requests)} ratings to ask for; {finished} of {prompts} prompts need no more"
    return f"{words}; on average {sure:.0%} sure that no other answer is clearly better"


def _notes(plan: "NextRatings") -> list[str]:
    """What to do before the ratings are worth asking for."""
    notes = []
    lacking = int(plan.lacks_raters.sum())
    if lacking:
        notes.append(
            f"{lacking} prompts need ratings by other people: everybody in the file has rated "
            "their answers; add --new-raters"
        )
    if plan.noise_is_guessed:
        notes.append(
            "no answer has two ratings, so how far ratings vary is a guess: have the answers of a "
            "random tenth of the prompts rated twice first"
        )
    return notes


def _as_data(plan: "NextRatings") -> dict[str, object]:
    """The plan as plain data."""
    prompts = []
    for place, prompt_id in enumerate(plan.prompt_ids):
        prompts.append(
            {
                "prompt_id": prompt_id,
                "choice": plan.choice_ids[place],
                "certainty": float(plan.certainty.probability[place]),
                "expected_regret": float(plan.certainty.regret[place]),
                "finished": bool(plan.finished[place]),
                "lacks_raters": bool(plan.lacks_raters[place]),
            }
        )
    return {
        "requests": [asdict(request) for request in plan.requests],
        "prompts": prompts,
        "notes": _notes(plan),
    }


COMMAND = Command(NextSettings, run)
