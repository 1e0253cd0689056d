"""The answers of the fake server: a function of the request alone."""

import hashlib
import json
import math
from typing import Any

SAYINGS = """
The tide comes in twice a day and so it never hurries . Boil an egg for seven minutes then cool it .
Rain is likely , but take a coat anyway . Some say green tea , others plain water .
"""
WORDS = tuple(SAYINGS.split())


def number(*parts: object) -> int:
    """A large whole number from anything that JSON can hold."""
    text = json.dumps(parts, sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def words(body: dict[str, Any], index: int) -> list[str]:
    """The tokens of a choice; the same seed and index give the same ones, others hardly ever."""
    place = number(body["messages"], body.get("seed"), body.get("temperature", 1) and index)
    length = 5 + place % 6
    return [WORDS[(place >> (6 * i)) % len(WORDS)] for i in range(length)]


def tokens(text: str) -> list[str]:
    """A text in pieces that join to it again: a word and the space before it."""
    first, *others = text.split(" ")
    return [first, *(f" {word}" for word in others)]


def choice(
    body: dict[str, Any],
    index: int,
    text: str | None,
    alternatives: list[dict[str, float]] | None,
) -> dict[str, Any]:
    """One choice of a chat completion; `alternatives` holds probabilities, one dict per token."""
    if text is None:
        text = " ".join(words(body, index))
        response_format = body.get("response_format") or {}
        if response_format.get("type", "text") != "text":
            text = json.dumps({"answer": text})
    stops = body.get("stop") or []
    if isinstance(stops, str):
        stops = [stops]
    for stop in stops:
        text = text.split(stop, 1)[0]
    pieces = tokens(text)
    limit = int(body.get("max_tokens", body.get("max_completion_tokens", len(pieces))))
    finish = "length" if len(pieces) > limit else "stop"
    pieces = pieces[:limit]
    result: dict[str, Any] = {
        "index": index,
        "message": {"role": "assistant", "content": "".join(pieces)},
        "logprobs": None,
        "finish_reason": finish,
    }
    if body.get("tools"):
        result["message"] = {"role": "assistant", "content": None, "tool_calls": [call(body, text)]}
        result["finish_reason"] = "tool_calls"
        return result
    if body.get("logprobs"):
        content = [entry(piece, i, body, alternatives) for i, piece in enumerate(pieces)]
        result["logprobs"] = {"content": content}
    return result


def call(body: dict[str, Any], text: str) -> dict[str, Any]:
    """A call of the first tool, whose argument depends on the text of the answer."""
    name = body["tools"][0].get("function", {}).get("name", "tool")
    arguments = json.dumps({"place": text})
    return {
        "id": f"call_{number(text):x}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def size(message: dict[str, Any]) -> int:
    """The words of a message, whose content may be in parts."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = json.dumps(content)
    return len(content.split())


def entry(
    piece: str, place: int, body: dict[str, Any], alternatives: list[dict[str, float]] | None
) -> dict[str, Any]:
    """A token with its log-probability, and those of others where they are asked for."""
    odds = {piece: 0.5, "~": 0.25}
    if alternatives is not None and place < len(alternatives):
        odds = alternatives[place]
    top = sorted(odds.items(), key=lambda item: -item[1])[: body.get("top_logprobs") or 0]
    return {
        "token": piece,
        "logprob": math.log(odds.get(piece, 0.5)),
        "bytes": list(piece.encode()),
        "top_logprobs": [
            {"token": token, "logprob": math.log(p), "bytes": list(token.encode())}
            for token, p in top
        ],
    }


def completion(
    body: dict[str, Any], choices: list[dict[str, Any]], marks: int = 0
) -> dict[str, Any]:
    """A whole answer of /v1/chat/completions; a turn costs `marks` tokens beside its words."""
    completion_tokens = sum(len(tokens(c["message"]["content"] or "")) for c in choices)
    prompt_tokens = sum(size(message) + marks for message in body["messages"])
    return {
        "id": f"chatcmpl-{number(body):x}",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "fake"),
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def chunks(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The same answer as the events of a stream, one per token."""
    head = {
        "id": answer["id"],
        "created": answer["created"],
        "model": answer["model"],
        "object": "chat.completion.chunk",
    }
    events = []
    for chosen in answer["choices"]:
        pieces = tokens(chosen["message"]["content"] or "")
        deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in pieces]
        for delta in deltas:
            part = {"index": chosen["index"], "delta": delta, "finish_reason": None}
            events.append({**head, "choices": [part]})
        end = {"index": chosen["index"], "delta": {}, "finish_reason": chosen["finish_reason"]}
        events.append({**head, "choices": [end]})
    return events
