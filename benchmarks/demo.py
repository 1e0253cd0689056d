"""How often the chosen answer is complete and has what was asked for, beside Best-of-K's.

The shipped prompts are answered by the embedded model once; the answers are kept in `build/demo`,
so that a second run scores and decides alone.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import EMBEDDED_SCORERS
from benchmarks.report import Table
from darc.cli import main
from darc.decide.method import Method
from darc.runs.folder import RunFolder
from darc.runs.manifest import method_of
from darc.runs.outcomes import read_outcome
from darc.runs.questions import find_questions
from darc.types import Candidate

FOLDER = Path("build/demo")
K = 8
TOKENS = 192
RULES = ("mean", "auto", "entropic", "epsilon")
ENDS = re.compile(r"[.!?:)\"'*`\]]\s*$")
ITEMS = re.compile(r"^\s*(?:[-*]|\d+[.)])\s+\S", re.MULTILINE)
# What an answer must contain to have answered at all: patterns, all of which are looked for.
ASKED = {
    "explanation-1": ("moon", "sun|light|shadow|phase"),
    "explanation-2": ("microwave", "water|molecule"),
    "explanation-3": ("rust|oxid|corro", "iron|oxygen"),
    "explanation-4": ("immune|antibod",),
    "explanation-5": ("interest", r"\d"),
    "advice-1": ("sleep|bed", "try|avoid|create|establish|keep|relax"),
    "advice-2": ("money|loan|debt|owe", "talk|say|ask|conversation|tell"),
    "advice-3": ("job|work|career", "pay|salary|money|financ"),
    "advice-4": ("water|light|nutrient|soil", "leaves|plant"),
    "advice-5": ("cook|recipe|pan",),
    "opinion-1": ("school|lesson|class", "however|on the other|against|cons|but", "phone"),
    "opinion-2": ("rent", "buy|own"),
    "opinion-3": ("cit(y|ies)|centre|center", "car|traffic|vehicle"),
    "opinion-4": ("homework",),
    "opinion-5": ("remote|virtual|online", "meeting|trip|travel"),
    "writing-1": ("dog", "bark|night|noise"),
    "writing-2": ("snow", "platform|rail|train|station"),
    "writing-3": ("umbrella",),
    "writing-4": ("saturday", "14:00|2 ?(:00)? ?p", "library|reading|read"),
    "writing-5": ("thank",),
    "transformation-1": ("report", "friday"),
    "transformation-2": ("bridge",),
    "transformation-3": ("clove", "water"),
    "transformation-4": ("market", "rain"),
    "transformation-5": ("outdoor|outside",),
    "reasoning-1": ("hour", r"\b3\b|three", "25|twenty-five"),
    "reasoning-2": ("anna",),
    "reasoning-3": (r"\b450\b",),
    "reasoning-4": ("box", "label"),
    "reasoning-5": ("rose", r"\bno\b|not"),
    "programming-1": (r"def \w+\(", "return"),
    "programming-2": ("tuple", "immutable|cannot be changed|can't be changed|not be changed"),
    "programming-3": ("range|index|list",),
    "programming-4": ("select", "left join|not in|not exists"),
    "programming-5": ("race condition|thread|process", "example|suppose|imagine|```"),
    "care-1": ("you",),
    "care-2": ("driv", "grandmother|her|she"),
    "care-3": ("head", "doctor|medical|emergency|hospital"),
    "care-4": ("accent|joke|colleague",),
    "care-5": ("dog",),
}
# Answers whose length was asked for: sentences, lines, items or words, at least and at most.
COUNTED = {
    "writing-2": ("lines", 4, 4),
    "writing-3": ("paragraphs", 1, 1),
    "writing-5": ("words", 10, 60),
    "transformation-2": ("sentences", 1, 1),
    "transformation-3": ("items", 3, 8),
    "transformation-4": ("sentences", 1, 2),
    "transformation-5": ("sentences", 1, 1),
}


def is_complete(candidate: Candidate) -> bool:
    """Whether an answer was not cut off and ends as a sentence, a list or a block of code does."""
    fences_closed = candidate.text.count("```") % 2 == 0
    return not candidate.truncated and fences_closed and bool(ENDS.search(candidate.text))


def has_asked(prompt_id: str, text: str) -> bool:
    """Whether an answer has every keyword, and as many parts as were asked for."""
    if not all(re.search(pattern, text, re.IGNORECASE) for pattern in ASKED[prompt_id]):
        return False
    if prompt_id not in COUNTED:
        return True
    unit, least, most = COUNTED[prompt_id]
    return least <= count_parts(text, unit) <= most


def count_parts(text: str, unit: str) -> int:
    """How many words, sentences, lines, paragraphs or list items a text has."""
    parts = {
        "words": text.split(),
        "sentences": re.findall(r"[.!?](?=\s|$|\")", text),
        "lines": [line for line in text.splitlines() if line.strip()],
        "paragraphs": [part for part in text.split("\n\n") if part.strip()],
        "items": ITEMS.findall(text),
    }
    return len(parts[unit])


def run() -> Iterator[Table]:
    started = time.perf_counter()
    settings = ["-k", str(K), "--max-tokens", str(TOKENS), "--rule", "mean"]
    # Answers are kept; scores are made anew, for scorers change.
    command = ["run", "--prompts", "examples", "--out", str(FOLDER), "--from", "scores", *settings]
    command += [word for scorer in EMBEDDED_SCORERS for word in ("--scorer", scorer)]
    if main(command) != 0:
        raise SystemExit(1)
    folder = RunFolder(FOLDER)
    ids = [question.id for question in find_questions("examples")]
    rows: list[list[object]] = []
    for rule in RULES:
        spec = Method.parse(rule)
        method = method_of(folder, spec)
        chosen = {name: read_outcome(folder, name, method) for name in ids}
        answers = {name: outcome.candidates[outcome.index] for name, outcome in chosen.items()}
        complete = {name for name, answer in answers.items() if is_complete(answer)}
        answered = {name for name, answer in answers.items() if has_asked(name, answer.text)}
        label = "mean (Best-of-K)" if rule == "mean" else rule
        rows.append([label, len(complete), len(answered), len(complete & answered)])
    candidates = [candidate for outcome in chosen.values() for candidate in outcome.candidates]
    share = sum(map(is_complete, candidates)) / len(candidates)
    title = f"chosen answers to the {len(ids)} shipped prompts, K = {K}, at most {TOKENS} tokens"
    note = (
        f"{share:.0%} of all {len(candidates)} answers are complete; "
        f"{time.perf_counter() - started:.0f} s, writing included where answers were not kept"
    )
    yield Table(title, ["rule", "complete", "has what was asked for", "both"], rows, note)
