"""Other people's files of judgements: what each format calls what.

A format is a function from a record to judgements, and the fields by which it is recognised.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darc.errors import InputError
from darc.field_names import ANNOTATED_SYSTEM, ANNOTATED_TEXT, PROMPT_TEXT
from darc.ratings.judgements import Judgements

Record = Mapping[str, Any]

# What inspect_ai's grades are worth.
_INSPECT_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "True": 1.0, "False": 0.0}


def _read_ultrafeedback(record: Record, number: str, judgements: Judgements) -> None:
    """Completions with ratings of several aspects, each of which counts as one view."""
    prompt = str(record.get("id", number))
    for completion in record["completions"]:
        model = str(completion.get("model", "?"))
        judgements.add_text(prompt, model, record["instruction"], completion.get("response"))
        annotations = completion.get("annotations") or {}
        for aspect, notes in annotations.items():
            for note in _as_list(notes):
                rating = note
                if isinstance(note, dict):
                    rating = note.get("Rating")
                judgements.rate(prompt, model, aspect, rating, model)


def _read_helpsteer(record: Record, number: str, judgements: Judgements) -> None:
    """Responses with the attributes of HelpSteer2, of which the three that are better when high."""
    prompt, answer = judgements.number_answer(record["prompt"])
    candidate = f"response {answer}"
    judgements.add_text(prompt, candidate, record["prompt"], record["response"])
    for aspect in ("helpfulness", "correctness", "coherence"):
        judgements.rate(prompt, candidate, aspect, record.get(aspect))


def _read_multipref(record: Record, number: str, judgements: Judgements) -> None:
    """Comparisons by normal and expert workers."""
    prompt = str(record.get("comparison_id", record.get("prompt_id", number)))
    left = str(record["model_a"])
    right = str(record["model_b"])
    judgements.add_text(prompt, left, record.get("text"), record["completion_a"])
    judgements.add_text(prompt, right, record.get("text"), record["completion_b"])
    for kind in ("normal_worker_annotations", "expert_worker_annotations"):
        for note in record.get(kind) or ():
            preference = str(note.get("overall_pref", "")).lower()
            winner = _winner(preference, "a-is", "b-is")
            judgements.compare(prompt, left, right, str(note.get("evaluator", kind)), winner)


def _read_chosen_rejected(record: Record, number: str, judgements: Judgements) -> None:
    """Pairs as trainers take them: a chosen and a rejected answer."""
    prompt = str(record.get("prompt_id", record.get("id", number)))
    for side in ("chosen", "rejected"):
        question = record.get("prompt", record.get("question")) or record[side]
        judgements.add_text(prompt, side, question, record[side])
    rater = str(record.get("rater_id", "label"))
    judgements.compare(prompt, "chosen", "rejected", rater, "left")


def _read_arena(record: Record, number: str, judgements: Judgements) -> None:
    """Votes of Chatbot Arena, also MT-Bench's human ones."""
    prompt = str(record.get("question_id", number))
    left = str(record["model_a"])
    right = str(record["model_b"])
    for model, field in ((left, "conversation_a"), (right, "conversation_b")):
        turns = list(record.get(field) or ())
        if len(turns) > 1:
            judgements.add_text(prompt, model, turns[0], turns[1])
    winner = _winner(str(record["winner"]), "model_a", "model_b")
    judgements.compare(prompt, left, right, str(record.get("judge", "voter")), winner)


def _read_mt_bench(record: Record, number: str, judgements: Judgements) -> None:
    """MT-Bench's judgements of single answers, a score from 1 to 10 per turn."""
    judge = record.get("judge", "judge")
    if isinstance(judge, list):
        judge = judge[0]
    prompt = f"{record['question_id']} turn {record.get('turn', 1)}"
    model = str(record["model"])
    judgements.rate(prompt, model, str(judge), record["score"], model)


def _read_alpaca_eval(record: Record, number: str, judgements: Judgements) -> None:
    """AlpacaEval's annotations: a preference from 1 (the first) to 2 (the second)."""
    question = record["instruction"]
    prompt, _ = judgements.number_answer(question)
    left = str(record.get("generator_1", "output 1"))
    right = str(record.get("generator_2", "output 2"))
    judgements.add_text(prompt, left, question, record.get("output_1"))
    judgements.add_text(prompt, right, question, record.get("output_2"))
    if record.get("preference") is None:
        judgements.skipped["no preference"] += 1
        return
    preference = float(record["preference"])
    winner = "tie"
    if preference < 1.5:
        winner = "left"
    elif preference > 1.5:
        winner = "right"
    rater = str(record.get("annotator", "annotator"))
    judgements.compare(prompt, left, right, rater, winner)


def _read_argilla(record: Record, number: str, judgements: Judgements) -> None:
    """Argilla's records: fields, and the numbers that people answered.

    Answers come by question in newer exports, by person in older ones.
    """
    fields = record.get("fields") or {}
    metadata = record.get("metadata") or {}
    responses = record.get("responses") or {}
    question = _first(fields, PROMPT_TEXT)
    prompt = str(metadata.get("prompt_id") or question or record.get("id", number))
    candidate = _first(metadata, ("candidate_id", "model")) or record.get("id", int(number) - 1)
    candidate = str(candidate)
    judgements.add_text(prompt, candidate, question, _first(fields, ANNOTATED_TEXT))
    answers: list[tuple[Record, Record]] = []
    if isinstance(responses, dict):
        for answers_to_question in responses.values():
            answers += [(answer, answer) for answer in answers_to_question]
    else:
        for response in responses:
            values = response.get("values") or {}
            answers += [(response, value) for value in values.values()]
    for response, value in answers:
        rater = str(response.get("user_id", "?"))
        system = str(metadata.get("model") or "")
        judgements.rate(prompt, candidate, rater, value.get("value"), system)


def _read_label_studio(record: Record, number: str, judgements: Judgements) -> None:
    """Label Studio's export: tasks with annotations, of which ratings and numbers are taken."""
    data = record.get("data") or {}
    question = _first(data, PROMPT_TEXT)
    prompt = str(data.get("prompt_id") or question or record.get("id", number))
    system = str(_first(data, ANNOTATED_SYSTEM))
    candidate = str(data.get("candidate_id") or system or record.get("id", number))
    judgements.add_text(prompt, candidate, question, _first(data, ANNOTATED_TEXT))
    for annotation in record["annotations"]:
        person = annotation.get("completed_by", "?")
        if isinstance(person, dict):
            person = person.get("email", person.get("id"))
        for result in annotation.get("result") or ():
            value = result.get("value") or {}
            choices = value.get("choices") or [""]
            rating = value.get("rating", value.get("number", choices[0]))
            judgements.rate(prompt, candidate, str(person), rating, system)


def _read_inspect_log(record: Record, number: str, judgements: Judgements) -> None:
    """inspect_ai's logs: every scorer is a rater, every epoch an answer."""
    model = str((record.get("eval") or {}).get("model", "model"))
    for sample in record.get("samples") or ():
        prompt = str(sample["id"])
        epoch = int(sample.get("epoch", 1))
        candidate = model
        if epoch != 1:
            candidate = f"{model} {epoch}"
        answer = (sample.get("output") or {}).get("completion")
        judgements.add_text(prompt, candidate, sample.get("input"), answer)
        for rater, score in (sample.get("scores") or {}).items():
            value = score.get("value")
            rating = _INSPECT_GRADES.get(str(value), value)
            judgements.rate(prompt, candidate, rater, rating, model)


@dataclass(frozen=True)
class ForeignFormat:
    """A format of another tool or dataset."""

    name: str
    #: The fields by which a record is recognised.
    fields: frozenset[str]
    #: Adds the judgements of a record, which has a number from 1 that may serve as its id.
    read: Callable[[Record, str, Judgements], None]


#: The formats; the first whose fields a record has is its format.
FORMATS = (
    ForeignFormat("UltraFeedback", frozenset({"instruction", "completions"}), _read_ultrafeedback),
    ForeignFormat(
        "HelpSteer2",
        frozenset({"prompt", "response", "helpfulness", "correctness"}),
        _read_helpsteer,
    ),
    ForeignFormat(
        "MultiPref",
        frozenset({"completion_a", "completion_b", "model_a", "model_b"}),
        _read_multipref,
    ),
    ForeignFormat("Chatbot Arena", frozenset({"model_a", "model_b", "winner"}), _read_arena),
    ForeignFormat(
        "MT-Bench", frozenset({"question_id", "model", "judge", "score"}), _read_mt_bench
    ),
    ForeignFormat(
        "AlpacaEval",
        frozenset({"instruction", "output_1", "output_2", "preference"}),
        _read_alpaca_eval,
    ),
    ForeignFormat("Argilla", frozenset({"fields", "responses"}), _read_argilla),
    ForeignFormat("Label Studio", frozenset({"data", "annotations"}), _read_label_studio),
    ForeignFormat("inspect_ai", frozenset({"eval", "samples"}), _read_inspect_log),
    ForeignFormat("chosen and rejected", frozenset({"chosen", "rejected"}), _read_chosen_rejected),
)


def recognise_format(record: Record) -> ForeignFormat | None:
    """The format of a record, None where it is none of them."""
    for format_ in FORMATS:
        if format_.fields <= record.keys():
            return format_
    return None


def read_foreign(
    foreign_format: ForeignFormat, records: Sequence[Record], source: str
) -> Judgements:
    """Read the judgements in records of a format.

    Args:
        foreign_format: The format.
        records: The records.
        source: What errors call the file.

    Raises:
        InputError: A record breaks the format.
    """
    name = foreign_format.name
    judgements = Judgements(name)
    for number, record in enumerate(records, 1):
        missing = ", ".join(sorted(foreign_format.fields - record.keys()))
        if missing:
            raise InputError(
                f"{source}: record {number} has no {missing}", f"the others are of {name}"
            )
        try:
            foreign_format.read(record, str(number), judgements)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as problem:
            raise InputError(
                f"{source}: record {number} is not as {name} writes it ({problem!r})",
                "write tidy ratings: prompt_id, candidate_id, rater_id, rating",
            ) from None
    return judgements


def _winner(preference: str, left: str, right: str) -> str:
    """Who a preference that starts with one of two words is for."""
    if preference.startswith(left):
        return "left"
    if preference.startswith(right):
        return "right"
    return "tie"


def _first(record: Record, names: Sequence[str]) -> Any:
    """The first of some fields that has a value, "" where none has."""
    for name in names:
        if record.get(name):
            return record[name]
    return ""


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]
