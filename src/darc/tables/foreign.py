"""Other people's files of judgements as ratings: what each format calls what.

A format is a function from records to judgements, and a set of fields by which it is recognised.
Everything is held in memory.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from darc.errors import InputError

Record = Mapping[str, Any]


@dataclass
class Judgements:
    """Ratings or comparisons, and the texts that were judged.

    `ratings` rows are (prompt, candidate, rater, rating, system); `pairs` rows are (prompt, left,
    right, rater, winner). `texts` maps (prompt, candidate) to (question, answer). `skipped` counts
    records by why they hold no judgement.
    """

    format: str = ""
    ratings: list[tuple[str, str, str, float, str]] = field(default_factory=list)
    pairs: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    texts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)

    def rate(self, prompt: str, candidate: str, rater: str, rating: Any, system: str = "") -> None:
        """Add a rating; what is no number is left out."""
        try:
            value = float(str(rating).strip())
        except ValueError:
            self.skip("no number")
            return
        self.ratings.append((prompt, candidate, rater, value, system))

    def prefer(self, prompt: str, left: str, right: str, rater: str, winner: str) -> None:
        """Add a comparison, whose winner is left, right or tie."""
        self.pairs.append((prompt, left, right, rater, winner))

    def said(self, prompt: str, candidate: str, question: Any, answer: Any) -> None:
        """Keep what was judged."""
        if answer:
            self.texts[prompt, candidate] = (_text(question), _text(answer))

    def skip(self, why: str) -> None:
        """Count what could not be used."""
        self.skipped[why] = self.skipped.get(why, 0) + 1


Reader = Callable[[Sequence[Record], Judgements], None]


def ultrafeedback(records: Sequence[Record], made: Judgements) -> None:
    """Completions with ratings of several aspects, each of which counts as one view."""
    for number, record in enumerate(records):
        prompt = str(record.get("id", number + 1))
        for each in record["completions"]:
            model = str(each.get("model", "?"))
            made.said(prompt, model, record["instruction"], each.get("response"))
            for aspect, note in (each.get("annotations") or {}).items():
                notes = note if isinstance(note, list) else [note]
                for one in notes:
                    rating = one.get("Rating") if isinstance(one, dict) else one
                    made.rate(prompt, model, aspect, rating, model)


def helpsteer(records: Sequence[Record], made: Judgements) -> None:
    """Responses with the attributes of HelpSteer2, of which the three that are better when high."""
    prompts: dict[str, int] = {}
    answers: dict[str, int] = {}
    for record in records:
        number = prompts.setdefault(_text(record["prompt"]), len(prompts) + 1)
        prompt = str(number)
        answers[prompt] = answers.get(prompt, 0) + 1
        candidate = f"response {answers[prompt]}"
        made.said(prompt, candidate, record["prompt"], record["response"])
        for aspect in ("helpfulness", "correctness", "coherence"):
            made.rate(prompt, candidate, aspect, record.get(aspect))


def multipref(records: Sequence[Record], made: Judgements) -> None:
    """Comparisons by normal and expert workers."""
    for number, record in enumerate(records):
        prompt = str(record.get("comparison_id", record.get("prompt_id", number + 1)))
        left, right = str(record["model_a"]), str(record["model_b"])
        for name, answer in ((left, "completion_a"), (right, "completion_b")):
            made.said(prompt, name, record.get("text"), record[answer])
        for kind in ("normal_worker_annotations", "expert_worker_annotations"):
            for note in record.get(kind) or ():
                said = str(note.get("overall_pref", "")).lower()
                winner = _side(said, ("a-is", "b-is"))
                made.prefer(prompt, left, right, str(note.get("evaluator", kind)), winner)


def chosen_rejected(records: Sequence[Record], made: Judgements) -> None:
    """Pairs as trainers take them: a chosen and a rejected answer."""
    for number, record in enumerate(records):
        prompt = str(record.get("prompt_id", record.get("id", number + 1)))
        question = record.get("prompt", record.get("question"))
        for side in ("chosen", "rejected"):
            made.said(prompt, side, question or record[side], record[side])
        made.prefer(prompt, "chosen", "rejected", str(record.get("rater_id", "label")), "left")


def arena(records: Sequence[Record], made: Judgements) -> None:
    """Votes of Chatbot Arena, also MT-Bench's human ones."""
    for number, record in enumerate(records):
        prompt = str(record.get("question_id", number + 1))
        left, right = str(record["model_a"]), str(record["model_b"])
        for name, side in ((left, "conversation_a"), (right, "conversation_b")):
            talk: Sequence[Any] = record.get(side) or ()
            if len(talk) > 1:
                made.said(prompt, name, talk[0], talk[1])
        winner = _side(str(record["winner"]), ("model_a", "model_b"))
        made.prefer(prompt, left, right, str(record.get("judge", "voter")), winner)


def mt_bench(records: Sequence[Record], made: Judgements) -> None:
    """MT-Bench's judgements of single answers, a score from 1 to 10 a turn."""
    for record in records:
        judge = record.get("judge", "judge")
        name = str(judge[0] if isinstance(judge, list) else judge)
        turn = f"{record['question_id']} turn {record.get('turn', 1)}"
        model = str(record["model"])
        made.rate(turn, model, name, record["score"], model)


def alpaca_eval(records: Sequence[Record], made: Judgements) -> None:
    """AlpacaEval's annotations: a preference from 1 (the first) to 2 (the second)."""
    prompts: dict[str, str] = {}
    for record in records:
        text = _text(record["instruction"])
        prompt = prompts.setdefault(text, str(len(prompts) + 1))
        left, right = (str(record.get(f"generator_{n}", f"output {n}")) for n in (1, 2))
        made.said(prompt, left, text, record.get("output_1"))
        made.said(prompt, right, text, record.get("output_2"))
        if record.get("preference") is None:
            made.skip("no preference")
            continue
        liking = float(record["preference"])
        winner = "left" if liking < 1.5 else "right" if liking > 1.5 else "tie"
        made.prefer(prompt, left, right, str(record.get("annotator", "annotator")), winner)


def argilla(records: Sequence[Record], made: Judgements) -> None:
    """Argilla's records: fields, and the numbers that people answered."""
    for number, record in enumerate(records):
        fields, about = record["fields"], record.get("metadata") or {}
        question = fields.get("prompt") or fields.get("instruction") or fields.get("question") or ""
        prompt = str(about.get("prompt_id") or question or record.get("id", number + 1))
        candidate = str(about.get("candidate_id") or about.get("model") or record.get("id", number))
        answer = fields.get("response") or fields.get("completion") or fields.get("text")
        made.said(prompt, candidate, question, answer)
        for rater, value in _argilla_answers(record.get("responses") or ()):
            made.rate(prompt, candidate, rater, value, str(about.get("model") or ""))


def _argilla_answers(responses: Any) -> Iterator[tuple[str, Any]]:
    """Who answered what: by question in newer exports, by person in older ones."""
    if isinstance(responses, dict):
        for answers in responses.values():
            for each in answers:
                yield str(each.get("user_id", "?")), each.get("value")
        return
    for each in responses:
        for value in (each.get("values") or {}).values():
            yield str(each.get("user_id", "?")), value.get("value")


def label_studio(records: Sequence[Record], made: Judgements) -> None:
    """Label Studio's export: tasks with annotations, of which ratings and numbers are taken."""
    for number, record in enumerate(records):
        data = record.get("data") or {}
        question = data.get("prompt") or data.get("question") or data.get("instruction") or ""
        prompt = str(data.get("prompt_id") or question or record.get("id", number + 1))
        system = str(data.get("system") or data.get("model") or "")
        candidate = str(data.get("candidate_id") or system or record.get("id", number + 1))
        made.said(prompt, candidate, question, data.get("response") or data.get("text"))
        for note in record["annotations"]:
            who = note.get("completed_by", "?")
            rater = str(who.get("email", who.get("id")) if isinstance(who, dict) else who)
            for result in note.get("result") or ():
                value = result.get("value") or {}
                given = value.get("rating", value.get("number", (value.get("choices") or [""])[0]))
                made.rate(prompt, candidate, rater, given, system)


def inspect_log(records: Sequence[Record], made: Judgements) -> None:
    """inspect_ai's logs: every scorer is a rater, every epoch an answer."""
    values = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, True: 1.0, False: 0.0}
    for log in records:
        model = str((log.get("eval") or {}).get("model", "model"))
        for sample in log.get("samples") or ():
            epoch = int(sample.get("epoch", 1))
            candidate = model if epoch == 1 else f"{model} {epoch}"
            prompt = str(sample["id"])
            answer = (sample.get("output") or {}).get("completion")
            made.said(prompt, candidate, sample.get("input"), answer)
            for rater, score in (sample.get("scores") or {}).items():
                value = score.get("value")
                hashable = isinstance(value, str | bool)
                given = values.get(value, value) if hashable else value
                made.rate(prompt, candidate, rater, given, model)


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
        if not need <= record.keys():
            missing = ", ".join(sorted(need - record.keys()))
            raise InputError(
                f"{source}: record {number} has no {missing}", f"the others are of {name}"
            )
    try:
        read(records, made)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as problem:
        raise InputError(
            f"{source}: a record is not as {name} writes it ({problem!r})",
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


def _side(said: str, sides: tuple[str, str]) -> str:
    starts = [said.startswith(side) for side in sides]
    return "left" if starts[0] else "right" if starts[1] else "tie"


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
