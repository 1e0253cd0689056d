"""Conversations as scorers see them."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from darc.types import Message, Prompt

_ID_LENGTH = 16
_MAX_KIND_LENGTH = 40
_MAX_DEFINITION = 20_000


def read_prompt(messages: Sequence[Mapping[str, Any]]) -> Prompt:
    """Return the prompt of a conversation; its id is the beginning of a hash of the messages."""
    turns = tuple(Message(message["role"], _message_text(message)) for message in messages)
    canonical = json.dumps(messages, sort_keys=True, ensure_ascii=True)
    prompt_id = hashlib.sha256(canonical.encode()).hexdigest()[:_ID_LENGTH]
    return Prompt(prompt_id, turns)


def with_definitions(prompt: Prompt, body: Mapping[str, Any]) -> Prompt:
    """The prompt with what a judge of tool calls or structured answers has to know.

    Args:
        prompt: The prompt of a request.
        body: The request, whose tools and whose form of the answer are put first.

    Returns:
        The prompt with the same id; unchanged if the request has neither.
    """
    lines = []
    tools = body.get("tools") or body.get("functions")
    if tools:
        lines.append(f"The assistant can call these tools:\n{_definition(tools)}")
    response_format = body.get("response_format")
    if isinstance(response_format, Mapping) and response_format.get("type") != "text":
        lines.append(f"The answer must have this form:\n{_definition(response_format)}")
    if not lines:
        return prompt
    return replace(prompt, messages=(Message("system", "\n\n".join(lines)), *prompt.messages))


def _definition(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > _MAX_DEFINITION:
        return text[:_MAX_DEFINITION] + " ..."
    return text


def has_media(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a conversation has parts, such as images, that scorers of text cannot see."""
    return any(_part_text(part) is None for part in _content_parts(messages))


def _content_parts(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            yield from content


def _message_text(message: Mapping[str, Any]) -> str:
    """The words of a message; parts that are not text are named in brackets and never fetched."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if content is None:
        tool_calls = message.get("tool_calls")
        return json.dumps(tool_calls, ensure_ascii=False) if tool_calls else ""
    lines = []
    for part in content:
        text = _part_text(part)
        if text is None:
            kind = str(part.get("type", "part"))[:_MAX_KIND_LENGTH]
            text = f"[{kind}]"
        lines.append(text)
    return "\n".join(lines)


def _part_text(part: Mapping[str, Any]) -> str | None:
    text = part.get("text", part.get("refusal"))
    if isinstance(text, str):
        return text
    return None
