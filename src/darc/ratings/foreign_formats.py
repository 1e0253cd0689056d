"""Other people's files of judgements as ratings: what each format calls what.

A format is a function from a record to judgements, and a set of fields by which it is recognised.
Everything is held in memory.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from darc.errors import InputError

Record = Mapping[str, Any]


@dataclass
class Judgements:
    """Ratings or comparisons, and the texts that were judged.

    `ratings` rows are (prompt, candidate, rater, rating, system); `pairs` rows are (prompt, left,
    right, rater, winner), whose winner is left, right or tie. `texts` maps (prompt, candidate) to
    (question, answer). `skipped` counts records by why they hold no judgement, and `answers` has
    how many each prompt has of those that are known by their text.
    """

    format: str = ""
    ratings: list[tuple[str, str, str, float, str]] = field(default_factory=list)
    pairs: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    texts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    answers: dict[str, list[int]] = field(default_factory=dict)

    def rate(self, prompt: str, candidate: str, rater: str, rating: Any, system: str = "") -> None:
        """Add a rating; what is no number is left out."""
        try:
            value = float(str(rating).strip())
        except ValueError:
            self.skipped["no number"] += 1
            return
        self.ratings.append((prompt, candidate, rater, value, system))

    def said(self, prompt: str, candidate: str, question: Any, answer: Any) -> None:
        """Keep what was judged."""
        if answer:
            self.texts[prompt, candidate] = (_text(question), _text(answer))

    def numbered(self, question: Any) -> tuple[str, int]:
        """The number of a prompt that is known by its text, and that of this answer to it."""
        known = self.answers.setdefault(_text(question), [len(self.answers) + 1, 0])
        known[1] += 1
        return str(known[0]), known[1]


Reader = Callable[[Record, str, Judgements], None]


def ultrafeedback(record: Record, number: str, made: Judgements) -> None:
    """Completions with ratings of several aspects, each of which counts as one view."""
    prompt = str(record.get("id", number))
    for each in record["completions"]:
        model = str(each.get("model", "?"))
        made.said(prompt, model, record["instruction"], each.get("response"))
        for aspect, notes in (each.get("annotations") or {}).items():
            for note in notes if isinstance(notes, list) else [notes]:
                rating = note.get("Rating") if isinstance(note, dict) else note
                made.rate(prompt, model, aspect, rating, model)


def helpsteer(record: Record, number: str, made: Judgements) -> None:
    """Responses with the attributes of HelpSteer2, of which the three that are better when high."""
    prompt, answer = made.numbered(record["prompt"])
    made.said(prompt, f"response {answer}", record["prompt"], record["response"])
    for aspect in ("helpfulness", "correctness", "coherence"):
        made.rate(prompt, f"response {answer}", aspect, record.get(aspect))


def multipref(record: Record, number: str, made: Judgements) -> None:
    """Comparisons by normal and expert workers."""
    prompt = str(record.get("comparison_id", record.get("prompt_id", number)))
    left, right = str(record["model_a"]), str(record["model_b"])
    for name, answer in ((left, "completion_a"), (right, "completion_b")):
        made.said(prompt, name, record.get("text"), record[answer])
    for kind in ("normal_worker_annotations", "expert_worker_annotations"):
        for note in record.get(kind) or ():
            winner = _side(str(note.get("overall_pref", "")).lower(), "a-is", "b-is")
            made.pairs.append((prompt, left, right, str(note.get("evaluator", kind)), winner))


def chosen_rejected(record: Record, number: str, made: Judgements) -> None:
    """Pairs as trainers take them: a chosen and a rejected answer."""
    prompt = str(record.get("prompt_id", record.get("id", number)))
    for side in ("chosen", "rejected"):
        question = record.get("prompt", record.get("question")) or record[side]
        made.said(prompt, side, question, record[side])
    rater = str(record.get("rater_id", "label"))
    made.pairs.append((prompt, "chosen", "rejected", rater, "left"))


def arena(record: Record, number: str, made: Judgements) -> None:
    """Votes of Chatbot Arena, also MT-Bench's human ones."""
    prompt = str(record.get("question_id", number))
    left, right = str(record["model_a"]), str(record["model_b"])
    for name, side in ((left, "conversation_a"), (right, "conversation_b")):
        talk = [*(record.get(side) or []), None, None]
        made.said(prompt, name, talk[0], talk[1])
    winner = _side(str(record["winner"]), "model_a", "model_b")
    made.pairs.append((prompt, left, right, str(record.get("judge", "voter")), winner))


def mt_bench(record: Record, number: str, made: Judgements) -> None:
    """MT-Bench's judgements of single answers, a score from 1 to 10 a turn."""
    judge = record.get("judge", "judge")
    rater = str(judge[0] if isinstance(judge, list) else judge)
    prompt, model = f"{record['question_id']} turn {record.get('turn', 1)}", str(record["model"])
    made.rate(prompt, model, rater, record["score"], model)


def alpaca_eval(record: Record, number: str, made: Judgements) -> None:
    """AlpacaEval's annotations: a preference from 1 (the first) to 2 (the second)."""
    prompt, _ = made.numbered(record["instruction"])
    left, right = (str(record.get(f"generator_{n}", f"output {n}")) for n in (1, 2))
    made.said(prompt, left, record["instruction"], record.get("output_1"))
    made.said(prompt, right, record["instruction"], record.get("output_2"))
    if record.get("preference") is None:
        made.skipped["no preference"] += 1
        return
    liking = float(record["preference"])
    winner = "left" if liking < 1.5 else "right" if liking > 1.5 else "tie"
    made.pairs.append((prompt, left, right, str(record.get("annotator", "annotator")), winner))


def argilla(record: Record, number: str, made: Judgements) -> None:
    """Argilla's records: fields, and the numbers that people answered.

    Answers come by question in newer exports, by person in older ones.
    """
    fields, about, given = (record.get(n) or {} for n in ("fields", "metadata", "responses"))
    question = _first(fields, "prompt", "instruction", "question")
    prompt = str(about.get("prompt_id") or question or record.get("id", number))
    candidate = str(_first(about, "candidate_id", "model") or record.get("id", int(number) - 1))
    made.said(prompt, candidate, question, _first(fields, "response", "completion", "text"))
    if isinstance(given, dict):
        answers = [(each, each) for several in given.values() for each in several]
    else:
        answers = [(each, one) for each in given for one in (each.get("values") or {}).values()]
    for each, one in answers:
        rater = str(each.get("user_id", "?"))
        made.rate(prompt, candidate, rater, one.get("value"), str(about.get("model") or ""))


def label_studio(record: Record, number: str, made: Judgements) -> None:
    """Label Studio's export: tasks with annotations, of which ratings and numbers are taken."""
    data = record.get("data") or {}
    question = _first(data, "prompt", "question", "instruction")
    prompt = str(data.get("prompt_id") or question or record.get("id", number))
    system = str(_first(data, "system", "model"))
    candidate = str(data.get("candidate_id") or system or record.get("id", number))
    made.said(prompt, candidate, question, _first(data, "response", "text"))
    for note in record["annotations"]:
        who = note.get("completed_by", "?")
        rater = str(who.get("email", who.get("id")) if isinstance(who, dict) else who)
        for result in note.get("result") or ():
            value = result.get("value") or {}
            given = value.get("rating", value.get("number", (value.get("choices") or [""])[0]))
            made.rate(prompt, candidate, rater, given, system)


def inspect_log(record: Record, number: str, made: Judgements) -> None:
    """inspect_ai's logs: every scorer is a rater, every epoch an answer."""
    grades = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "True": 1.0, "False": 0.0}
    model = str((record.get("eval") or {}).get("model", "model"))
    for sample in record.get("samples") or ():
        prompt, epoch = str(sample["id"]), int(sample.get("epoch", 1))
        candidate = model if epoch == 1 else f"{model} {epoch}"
        answer = (sample.get("output") or {}).get("completion")
        made.said(prompt, candidate, sample.get("input"), answer)
        for rater, score in (sample.get("scores") or {}).items():
            value = score.get("value")
            made.rate(prompt, candidate, rater, grades.get(str(value), value), model)


FORMATS: dict[str, tuple[frozenset[str], Reader]] = {
    "UltraFeedback": (frozenset({"instruction", "completions"}), ultrafeedback),
    "HelpSteer2": (frozenset({"prompt", "response", "helpfulness", "correctness"}), helpsteer),
    "MultiPref": (frozenset({"completion_a", "completion_b", "model_a", "model_b"}), multipref),
    "Chatbot Arena": (frozenset({"model_a", "model_b", "winner"}), arena),
    "MT-Bench": (frozenset({"question_id", "model", "judge", "score"}), mt_bench),
    "AlpacaEval": (frozenset({"instruction", "output_1", "output_2", "preference"}), alpaca_eval),
    "Argilla": (frozenset({"fields", "responses"}), argilla),
    "Label Studio": (frozenset({"data", "annotations"}), label_studio),
    "inspect_ai": (frozenset({"eval", "samples"}), inspect_log),
    "chosen and rejected": (frozenset({"chosen", "rejected"}), chosen_rejected),
}


def recognise(record: Record) -> str:
    """The name of a record's format, "" where it is none of them."""
    return next((name for name, (need, _) in FORMATS.items() if need <= record.keys()), "")


def read_foreign(name: str, records: Sequence[Record], source: str) -> Judgements:
    """The judgements in records of a format; one that breaks it is refused by its number."""
    made = Judgements(name)
    need, read = FORMATS[name]
    for number, record in enumerate(records, 1):
        missing = ", ".join(sorted(need - record.keys()))
        if missing:
            raise InputError(
                f"{source}: record {number} has no {missing}", f"the others are of {name}"
            )
        try:
            read(record, str(number), made)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as problem:
            raise InputError(
                f"{source}: record {number} is not as {name} writes it ({problem!r})",
                "write tidy ratings: prompt_id, candidate_id, rater_id, rating",
            ) from None
    return made


def parse_scale(text: str) -> dict[str, float]:
    """What words stand for, from "bad=1,good=5"."""
    scale = {}
    for part in text.split(","):
        word, equals, number = part.partition("=")
        try:
            scale[word.strip().casefold()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not word.strip():
            raise InputError(f"--scale {text!r}: {part.strip()!r} is no pair", 'try "bad=1,good=5"')
    return scale


def as_number(text: str, scale: Mapping[str, float]) -> float | None:
    """A rating: a number, also with a decimal comma, or a word of the scale; None for others."""
    word = text.strip()
    if word.casefold() in scale:
        return scale[word.casefold()]
    try:
        return float(word.replace(",", ".") if word.count(",") == 1 and "." not in word else word)
    except ValueError:
        return None


def _side(said: str, left: str, right: str) -> str:
    return "left" if said.startswith(left) else "right" if said.startswith(right) else "tie"


def _first(record: Record, *names: str) -> Any:
    """The first of some fields that says something, "" where none does."""
    return next((record[name] for name in names if record.get(name)), "")


def _text(value: Any) -> str:
    """A text: that of the last turn of a conversation."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return str(value.get("content", json.dumps(value)))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        turns = list(value)
        return _text(turns[-1]) if turns else ""
    return "" if value is None else str(value)
