"""Chat completions as they are sent and received."""

import math
import re
from collections.abc import Mapping, Sequence, Set
from itertools import accumulate, pairwise
from typing import Any

from darc.models.completion import THOUGHT, Completion, Request
from darc.models.remote.errors import Malformed, Rejected

TOKEN_LIMIT = "max_tokens"
NEWER_TOKEN_LIMIT = "max_completion_tokens"
RESPONSE_FORMAT = "response_format"
# Servers write very small probabilities in different ways.
_LOWEST_LOG_PROBABILITY = -100.0

# Where servers put the reasoning that comes before an answer.
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_SCHEMA = re.compile(r"response_format|json_schema|structured output|guided|grammar", re.IGNORECASE)
_LOGPROBS = re.compile(r"\b(?:top_)?logprobs\b")


def unsupported_field(problem: Rejected, unsupported: Set[str]) -> str:
    """Find out which field of a request made a server reject it.

    Args:
        problem: The server's answer.
        unsupported: The fields that it is known not to support, which are not sent any more.

    Returns:
        "logprobs", "max_tokens", "response_format", or an empty string if the error names none.
    """
    if problem.status not in (400, 422):
        return ""
    if "logprobs" not in unsupported and _LOGPROBS.search(problem.server_message):
        return "logprobs"
    if TOKEN_LIMIT not in unsupported and NEWER_TOKEN_LIMIT in problem.server_message:
        return TOKEN_LIMIT
    if RESPONSE_FORMAT not in unsupported and _SCHEMA.search(problem.server_message):
        return RESPONSE_FORMAT
    return ""


def adapt_body(body: Mapping[str, Any], unsupported: Set[str]) -> dict[str, Any]:
    """Rewrite a request for a server that does not support some fields.

    Args:
        body: The request.
        unsupported: The fields. Log-probabilities and the form of the answer are left out, and the
            token limit is called by its newer name.

    Returns:
        The request that the server understands.
    """
    adapted = dict(body)
    if "logprobs" in unsupported:
        adapted.pop("logprobs", None)
        adapted.pop("top_logprobs", None)
    if RESPONSE_FORMAT in unsupported:
        adapted.pop(RESPONSE_FORMAT, None)
    if TOKEN_LIMIT in unsupported and TOKEN_LIMIT in adapted:
        adapted[NEWER_TOKEN_LIMIT] = adapted.pop(TOKEN_LIMIT)
    return adapted


def chat_body(model: str, request: Request) -> dict[str, Any]:
    """The body that asks a server for a completion."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": message.role, "content": message.content} for message in request.messages
        ],
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        TOKEN_LIMIT: request.max_tokens,
    }
    if request.log_probabilities:
        body["logprobs"] = True
    if request.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": request.schema}
        body[RESPONSE_FORMAT] = {"type": "json_schema", "json_schema": schema}
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top:
        body["top_logprobs"] = request.top
    return body


def read_choices(answer: Any) -> list[Completion]:
    """Read the choices of a chat completion.

    Args:
        answer: The parsed JSON.

    Returns:
        One completion per choice, in the order of their indices.

    Raises:
        Malformed: The answer is not a chat completion, or has no choices.
    """
    try:
        choices = sorted(answer["choices"], key=lambda choice: choice.get("index", 0))
        texts = [message_text(choice["message"]) for choice in choices]
        entries = [token_entries(choice) for choice in choices]
        used_tokens = int((answer.get("usage") or {}).get("completion_tokens") or 0)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Malformed("no chat completion") from None
    if not choices:
        raise Malformed("no choices")
    if not all(isinstance(text, str) for text in texts):
        raise Malformed("no chat completion")
    token_counts = _count_tokens(used_tokens, texts, entries)
    return [
        _read_choice(choice, text, tokens, choice_entries)
        for choice, text, tokens, choice_entries in zip(
            choices, texts, token_counts, entries, strict=True
        )
    ]


def _count_tokens(
    used_tokens: int, texts: Sequence[str], entries: Sequence[Sequence[Mapping[str, Any]]]
) -> list[int]:
    """The number of tokens of each choice, from the usage or from the log-probabilities.

    The usage of several choices is their sum, so that without log-probabilities it is split in
    proportion to the lengths of the texts.
    """
    if len(texts) == 1 and used_tokens:
        return [used_tokens]
    counts = [len(choice_entries) for choice_entries in entries]
    if all(counts):
        return counts
    return split_total(used_tokens, [len(text) for text in texts])


def _read_choice(
    choice: Mapping[str, Any], text: str, tokens: int, entries: Sequence[dict[str, Any]]
) -> Completion:
    alternatives: tuple[dict[str, float], ...] = ()
    # The log-probabilities of reasoning are not those of the answer.
    if not has_reasoning(choice["message"]):
        alternatives = _read_alternatives(entries)
    return Completion(
        text=text,
        tokens=tokens,
        truncated=choice.get("finish_reason") == "length",
        log_likelihood=mean_log_probability(entries),
        alternatives=alternatives,
        certainty=self_certainty(entries),
    )


def read_models(answer: Any) -> list[dict[str, Any]]:
    """Read the list of a server's models.

    Args:
        answer: The parsed JSON.

    Returns:
        One object per model, each with an "id".

    Raises:
        Malformed: The answer is not a list of models.
    """
    models = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(models, list):
        raise Malformed("no list of models")
    return [dict(model) for model in models if isinstance(model, dict) and "id" in model]


def split_total(total: int, weights: Sequence[int]) -> list[int]:
    """Split a number into whole numbers that are nearly proportional to weights.

    Args:
        total: The number.
        weights: One weight per part; all 0 counts as all equal.

    Returns:
        One number per weight; they sum to `total`.
    """
    if not any(weights):
        weights = [1] * len(weights)
    weight_sum = sum(weights)
    # Rounding the running sum up keeps the parts' sum exact.
    ends = [-(-total * weight // weight_sum) for weight in accumulate(weights)]
    return [end - start for start, end in pairwise([0, *ends])]


def message_text(message: Mapping[str, Any]) -> Any:
    """The text of a message; of one with nothing but reasoning, the start of a thought."""
    text = message.get("content") or message.get("refusal") or ""
    if text or message.get("tool_calls") or message.get("function_call"):
        return text
    if has_reasoning(message):
        return THOUGHT
    return text


def has_reasoning(message: Mapping[str, Any]) -> bool:
    """Whether a message contains reasoning before its answer."""
    content = message.get("content")
    if isinstance(content, str) and THOUGHT in content:
        return True
    return any(message.get(name) for name in _REASONING_FIELDS)


def token_entries(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries for a choice's tokens, each with a "logprob"; empty if there are none."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, Mapping):
        return []
    entries = logprobs.get("content")
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict)]


def mean_log_probability(entries: Sequence[Mapping[str, Any]]) -> float | None:
    """The mean log-probability of tokens; None if there are none or one is not finite."""
    log_probabilities = []
    for entry in entries:
        log_probability = entry.get("logprob")
        if not isinstance(log_probability, int | float) or not math.isfinite(log_probability):
            return None
        log_probabilities.append(float(log_probability))
    if not log_probabilities:
        return None
    return math.fsum(log_probabilities) / len(log_probabilities)


def self_certainty(entries: Sequence[Mapping[str, Any]]) -> float | None:
    """How far the likeliest tokens at each place are from equally likely.

    Args:
        entries: The entries of a choice's tokens, with their "top_logprobs".

    Returns:
        The mean over places of the divergence of the uniform distribution over the k likeliest
        tokens from their probabilities, in nats; None if they are not given.
    """
    divergences = []
    for entry in entries:
        top = entry.get("top_logprobs")
        if not isinstance(top, list):
            return None
        log_probabilities = [
            max(float(token["logprob"]), _LOWEST_LOG_PROBABILITY)
            for token in top
            if isinstance(token, dict) and isinstance(token.get("logprob"), int | float)
        ]
        if len(log_probabilities) < 2:
            return None
        mean = math.fsum(log_probabilities) / len(log_probabilities)
        divergences.append(-math.log(len(log_probabilities)) - mean)
    if not divergences:
        return None
    return math.fsum(divergences) / len(divergences)


def _read_alternatives(entries: Sequence[dict[str, Any]]) -> tuple[dict[str, float], ...]:
    """For each token, the likeliest tokens in its place with their log-probabilities."""
    if not any(entry.get("top_logprobs") for entry in entries):
        return ()
    return tuple(_read_place(entry) for entry in entries)


def _read_place(entry: dict[str, Any]) -> dict[str, float]:
    log_probabilities = {}
    for alternative in [*(entry.get("top_logprobs") or ()), entry]:
        if not isinstance(alternative, dict):
            continue
        log_probability = alternative.get("logprob")
        if isinstance(log_probability, int | float):
            log_probabilities[str(alternative["token"])] = float(log_probability)
    return log_probabilities
