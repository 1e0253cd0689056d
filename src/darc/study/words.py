"""The texts that a study begins with, in Markdown, and the file that `darc study init` writes."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

# Title, mode and whether a task may be skipped and commented on; the texts are files.
TEMPLATES = {
    "helpfulness": ("Rating answers", "scalar", False),
    "safety": ("How safe are these answers?", "scalar", True),
    "pairwise": ("Comparing answers", "pairwise", False),
}


def _body(name: str) -> str:
    return (Path(__file__).parent / "templates" / f"{name}.toml").read_text(encoding="utf-8")


DEFAULTS: dict[str, str] = {
    "consent": """\
You are invited to read answers and say how good you find them. Taking part is voluntary, and you
may stop at any time without giving a reason.

Your answers are kept under a pseudonym, with the time that each of them took. Ask the people who
gave you the link if you want them deleted.
""",
    "thanks": "All your answers are saved, and there are no more tasks for you.",
    "ended": "Your answers to the questions did not match the instructions, so the study ends here "
    "for you. You may close this page. If you came from Prolific, please return your submission "
    "there.",
    **tomllib.loads(_body("helpfulness"))["texts"],
}
PAIRWISE: dict[str, str] = tomllib.loads(_body("pairwise"))["texts"]


def study_toml(
    items: Sequence[str], template: str, ratings: int, annotators: int | str, seed: int
) -> str:
    """A `study.toml` with the settings that most studies change."""
    title, mode, skip = TEMPLATES[template]
    options = json.dumps(skip)
    return f"""\
[study]
title = {json.dumps(title)}
mode = {json.dumps(mode)}         # scalar (0 to 10) or pairwise
tie = true                # pairwise: whether a tie may be chosen
comments = {options}          # whether an answer may have a remark
skip = {options}              # whether an item may be left to others
ratings = {ratings}               # valid ratings an item
annotators = {json.dumps(annotators)}            # a number of personal links, or "open"
items_each = 0            # the most that one annotator rates; 0: no cap
completion_code = ""      # shown at the end, for Prolific and the like
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

{_body(template)}
# Questions about people, whose answers become groups of raters; "Prefer not to say" is added.
# [[groups]]
# name = "age"
# question = "How old are you?"
# choices = ["Under 30", "30 to 49", "50 or older"]
"""
