"""The forms in which reward servers are asked for scores, and answer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from darc.errors import InputError, UnknownName
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import Malformed
from darc.parts.scorers.base import Pair, conversation_text
from darc.types import Prompt

SOURCES = ("http_forms.py",)
# One row per pair, with one number per class in the order of the model.
Rows = list[list[float]]

# `use_activation` was once called `activation`; a server ignores the one it does not know.
_RAW_SCORES = {"use_activation": False, "activation": False}


@dataclass(frozen=True)
class ServerForm:
    """How a kind of server is asked for scores, and how its answer is read."""

    #: The end of the URLs that speak this form; empty for any other URL.
    ending: str
    #: Writes the request body for some pairs.
    body: Callable[[Sequence[Pair]], dict[str, Any]]
    #: Reads the numbers of each pair from the answer.
    rows: Callable[[Any], Rows]
    #: Whether a call can have several pairs.
    batched: bool = True
    #: Whether the body can name the model.
    named: bool = True

    async def ask(
        self, client: AsyncClient, pairs: Sequence[Pair], model: str = "", **changes: Any
    ) -> Rows:
        """Ask for the numbers of some pairs in one call.

        Args:
            client: The client of the server.
            pairs: The pairs of prompt and answer.
            model: The name of the model; empty to leave it to the server.
            **changes: Other values for fields that the body has.

        Returns:
            One row per pair.

        Raises:
            Malformed: If the answer does not have finite numbers for all pairs.
        """
        body = self.body(pairs)
        if model and self.named:
            body["model"] = model
        body |= {key: value for key, value in changes.items() if key in body}
        return await client.ask("", lambda answer: read_rows(self, answer, len(pairs)), body)


def _plain_body(pairs: Sequence[Pair]) -> dict[str, Any]:
    entries = [
        {"prompt_id": prompt.id, "messages": _messages(prompt), "response": answer}
        for prompt, answer in pairs
    ]
    return {"pairs": entries}


def _chat_body(pairs: Sequence[Pair]) -> dict[str, Any]:
    """One conversation that ends with the answer; the server applies its chat template."""
    ((prompt, answer),) = pairs
    messages = [*_messages(prompt), {"role": "assistant", "content": answer}]
    return {"messages": messages, **_RAW_SCORES}


def _two_lists_body(pairs: Sequence[Pair]) -> dict[str, Any]:
    prompts = [conversation_text(prompt) for prompt, _ in pairs]
    answers = [answer for _, answer in pairs]
    return {"text_1": prompts, "text_2": answers, **_RAW_SCORES}


def _text_pairs_body(pairs: Sequence[Pair]) -> dict[str, Any]:
    inputs = [[conversation_text(prompt), answer] for prompt, answer in pairs]
    return {"inputs": inputs, "raw_scores": True}


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in prompt.messages]


def _plain_rows(answer: Any) -> Rows:
    return [[score] for score in answer["scores"]]


def _classify_rows(answer: Any) -> Rows:
    return [entry["probs"] for entry in _entries_in_order(answer)]


def _score_rows(answer: Any) -> Rows:
    return [[entry["score"]] for entry in _entries_in_order(answer)]


def _pooling_rows(answer: Any) -> Rows:
    return [_last_token_row(entry["data"]) for entry in _entries_in_order(answer)]


def _last_token_row(data: Any) -> list[float]:
    """The numbers of one text; of a pooler that gives one row per token, the last token's."""
    row: list[float] = data
    if data and isinstance(data[0], list):
        row = data[-1]
    return row


def _labelled_rows(answer: Any) -> Rows:
    """Scores that come sorted by size, in the order of their labels: LABEL_10 after LABEL_9."""
    return [[entry["score"] for entry in sorted(classes, key=_label_order)] for classes in answer]


def _label_order(entry: dict[str, Any]) -> tuple[int, str]:
    label = str(entry["label"])
    number = label.rpartition("_")[2]
    if number.isdecimal():
        return int(number), label
    return -1, label


def _entries_in_order(answer: Any) -> list[Any]:
    return sorted(answer["data"], key=lambda entry: entry["index"])


#: The forms by name.
FORMS = {
    "plain": ServerForm("", _plain_body, _plain_rows),
    "vllm-classify": ServerForm("/classify", _chat_body, _classify_rows, batched=False),
    "vllm-score": ServerForm("/score", _two_lists_body, _score_rows),
    "vllm-pooling": ServerForm("/pooling", _chat_body, _pooling_rows, batched=False),
    "tei": ServerForm("/predict", _text_pairs_body, _labelled_rows, named=False),
}
#: The names of the forms by the end of the URLs that speak them.
FORM_OF_ENDING = {form.ending: name for name, form in FORMS.items() if form.ending}


def form_name(path: str, requested: str = "") -> str:
    """Tell which form a server speaks.

    Args:
        path: The path of its URL.
        requested: The form that the user named, or "".

    Returns:
        The name of the form: the requested one, or the one that the path ends in.

    Raises:
        UnknownName: If there is no form of the requested name.
        InputError: If the path cannot give scores.
    """
    if requested:
        if requested not in FORMS:
            raise UnknownName("form", requested, FORMS)
        return requested
    path = path.rstrip("/")
    if path.endswith("/rerank"):
        raise InputError("/rerank gives ranks of several answers at a time", "use /score instead")
    for ending, name in FORM_OF_ENDING.items():
        if path.endswith(ending):
            return name
    return "plain"


def read_rows(form: ServerForm, answer: Any, count: int) -> Rows:
    """Read the numbers of each pair.

    Args:
        form: The form of the answer.
        answer: The decoded JSON answer.
        count: The number of pairs.

    Returns:
        One row of finite numbers per pair.

    Raises:
        Malformed: If the answer has anything else.
    """
    try:
        rows = [[float(value) for value in row] for row in form.rows(answer)]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise Malformed("no scores") from None
    if len(rows) != count:
        raise Malformed(f"{len(rows)} scores for {count} pairs")
    if not all(row and all(map(math.isfinite, row)) for row in rows):
        raise Malformed("a score that is not finite")
    return rows


def select_class(rows: Rows, label: int, where: str) -> list[float]:
    """Take the number of one class of each pair.

    Args:
        rows: One row per pair.
        label: The class that counts; negative if the user named none.
        where: The URL, for errors.

    Returns:
        One number per pair.

    Raises:
        InputError: If the rows are probabilities, or it is open which class counts.
    """
    width = max((len(row) for row in rows), default=1)
    if width > 1 and all(is_distribution(row) for row in rows):
        raise InputError(
            f"{where} gives probabilities that sum to 1, not raw scores",
            "start the server without softmax, or use one that knows use_activation",
        )
    if width > 1 and label < 0:
        raise InputError(
            f"{where} gives {width} numbers per answer", f"say which with label=0 to {width - 1}"
        )
    column = max(label, 0)
    if any(len(row) <= column for row in rows):
        raise InputError(f"{where} has no class {label}", f"label is at most {width - 1}")
    return [row[column] for row in rows]


def is_distribution(row: Sequence[float]) -> bool:
    """Tell whether the numbers of a pair are probabilities of its classes."""
    return min(row) >= 0.0 and math.isclose(math.fsum(row), 1.0, abs_tol=1e-4)
