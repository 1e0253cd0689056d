"""`darc pairs`: preference pairs from ratings or from a run."""

import json

from darc.cli.commands import Command
from darc.cli.output import print_json, say
from darc.errors import InputError
from darc.files import atomic_writer
from darc.settings.pairs import PairsCommandSettings

_CONTENTIOUS_FATES = {"keep": "kept", "drop": "dropped", "soft": "kept with soft labels"}


def run(settings: PairsCommandSettings) -> None:
    """Read the ratings, write the pairs, and print how many there are."""
    from darc.analysis.reading import load_ratings
    from darc.train.pairs import make_pairs

    source = load_ratings(settings.source, settings.texts)
    if not source.texts or not any(source.questions):
        raise InputError(
            f"{settings.source} has no texts", "give them in a file after --texts; see --help"
        )
    counts = dict.fromkeys(("pairs", "prompts", "contentious", "without"), 0)
    with atomic_writer(settings.out) as file:
        for pair in make_pairs(source.samples, source.questions, source.texts, settings, counts):
            file.write(json.dumps(pair, ensure_ascii=False) + "\n")
        if not counts["pairs"]:
            raise InputError("no two candidates make a pair", "lower --margin or --agreement")
    if settings.as_json:
        print_json(counts)
    else:
        print(
            f"{counts['pairs']} pairs of {counts['prompts']} prompts; {counts['without']} have none"
        )
        fate = _CONTENTIOUS_FATES[settings.contentious]
        print(f"{counts['contentious']} contentious pairs were {fate}")
    say(f"wrote {settings.out}")


COMMAND = Command(PairsCommandSettings, run)
