"""The texts that a study begins with, in Markdown, and the file that `darc study init` writes."""

import json
from collections.abc import Sequence

CONSENT = """\
You are invited to read answers and say how good you find them. Taking part is voluntary, and you
may stop at any time without giving a reason.

Your answers are kept under a pseudonym, with the time that each of them took. Ask the people who
gave you the link if you want them deleted.
"""
INSTRUCTIONS = """\
Read the question and the whole answer before you decide. There is no right opinion: we ask for
yours. Where you are shown examples with explanations, they say how the scale is meant. A few of
the later tasks check that they are being read.
"""
RUBRIC = """\
How satisfied would you be if you had asked this question and were given this answer?

| rating | meaning |
|---|---|
| 10 | I could not wish for a better answer |
| 8 | good, with small faults |
| 6 | useful, but something is missing or in the way |
| 4 | of little use |
| 2 | wrong or beside the point in most of it |
| 0 | useless or harmful |
"""


def template(
    items: Sequence[str], mode: str, ratings: int, annotators: int | str, seed: int
) -> str:
    """A `study.toml` with the settings that most studies change."""
    return f"""\
[study]
title = "Rating answers"
mode = {json.dumps(mode)}          # scalar (0 to 10) or pairwise
tie = true                # pairwise: whether a tie may be chosen
ratings = {ratings}               # valid ratings an item
annotators = {json.dumps(annotators)}            # a number of personal links, or "open"
items_each = 0            # the most that one annotator rates; 0: no cap
seed = {seed}

[items]
jsonl = {json.dumps(list(items), ensure_ascii=False)}

[quality]
share = 0.10              # of what is shown
attention = "auto"        # made from the items; or a file
gold = ""                 # a file of items with reference, such as gold.jsonl

[training]
training = ""             # files of items with reference and rationale
calibration = ""

[texts]                   # Markdown, or the name of a file that ends in .md
rubric = \"\"\"
{RUBRIC}\"\"\"
"""
