"""Anthropic's /v1/messages."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from darc.serve.dialects.base import (
    Json,
    as_list,
    as_text,
    copy_fields,
    joined_parts,
    json_text,
    named_event,
)
from darc.serve.streaming import split_words
from darc.serve.validation import invalid_value
from darc.web.problems import Problem

_COPIED = {
    "model": "model",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_sequences": "stop",
    "stream": "stream",
    "seed": "seed",
    "darc": "darc",
}
_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
_TOOL_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


class MessagesDialect:
    """Translates /v1/messages: text, images and tools."""

    def chat_body(self, body: Mapping[str, Any]) -> Json:
        """Translate a request to the body of a chat completion."""
        thinking = body.get("thinking")
        if isinstance(thinking, Mapping) and thinking.get("type") == "enabled":
            raise invalid_value("thinking", "is not offered: leave it out, or disable it")
        if body.get("max_tokens") is None:
            raise invalid_value("max_tokens", "is missing")
        chat = copy_fields(body, _COPIED)
        metadata = body.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("user_id"):
            chat["user"] = metadata["user_id"]
        messages: list[Json] = []
        if body.get("system"):
            messages.append({"role": "system", "content": _read_system(body["system"])})
        for place, message in enumerate(as_list(body.get("messages"), "messages")):
            messages += _read_message(message, f"messages.{place}")
        chat["messages"] = messages
        if body.get("tools"):
            tools = as_list(body["tools"], "tools")
            chat["tools"] = [_read_tool(tool, i) for i, tool in enumerate(tools)]
            chat |= _read_tool_choice(body.get("tool_choice"))
        return chat

    def response(self, body: Mapping[str, Any], completion: Mapping[str, Any]) -> Json:
        """Translate a chat completion to a message."""
        choice = completion["choices"][0]
        usage = completion.get("usage") or {}
        message: Json = {
            "id": "msg_" + str(completion["id"]).removeprefix("chatcmpl-"),
            "type": "message",
            "role": "assistant",
            "model": completion["model"],
            "content": _content_blocks(choice["message"]),
            "stop_reason": _STOP_REASONS.get(choice.get("finish_reason") or "stop", "end_turn"),
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.get("prompt_tokens") or 0,
                "output_tokens": usage.get("completion_tokens") or 0,
            },
        }
        if "darc" in completion:
            message["darc"] = completion["darc"]
        return message

    def events(self, body: Mapping[str, Any], completion: Mapping[str, Any]) -> Iterator[bytes]:
        """Translate a chat completion to the events of a stream."""
        message = self.response(body, completion)
        usage = message["usage"]
        begun = {**message, "content": [], "stop_reason": None}
        begun["usage"] = {**usage, "output_tokens": 0}
        begun.pop("darc", None)
        yield _event("message_start", message=begun)
        for place, block in enumerate(message["content"]):
            yield from _block_events(place, block)
        last: Json = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        report = {"darc": message["darc"]} if "darc" in message else {}
        yield _event("message_delta", delta=last, usage=usage, **report)
        yield _event("message_stop")

    def error(self, problem: Problem) -> Json:
        """An error in Anthropic's shape."""
        kind = _ERROR_TYPES.get(problem.status)
        if kind is None:
            kind = "api_error" if problem.status >= 500 else "invalid_request_error"
        return {"type": "error", "error": {"type": kind, "message": problem.message}}

    def error_event(self, problem: Problem) -> bytes:
        """The event of an error."""
        return named_event("error", self.error(problem))


def _event(name: str, **fields: Any) -> bytes:
    return named_event(name, {"type": name, **fields})


def _read_system(system: Any) -> str:
    if isinstance(system, str):
        return system
    blocks = as_list(system, "system")
    return "\n".join(as_text(block.get("text"), "system.text") for block in blocks)


def _read_message(message: Mapping[str, Any], path: str) -> list[Json]:
    """A message as one or several: each result of a tool is a message of its own."""
    role = message.get("role")
    if role not in ("user", "assistant"):
        raise invalid_value(f"{path}.role", "should be user or assistant")
    content = message.get("content")
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    parts: list[Json] = []
    calls: list[Json] = []
    results: list[Json] = []
    for block in as_list(content, f"{path}.content"):
        kind = block.get("type")
        if kind == "tool_use":
            calls.append(_read_tool_use(block, path))
        elif kind == "tool_result":
            results.append(_read_tool_result(block, path))
        elif kind not in ("thinking", "redacted_thinking"):
            parts.append(_read_part(block, path))
    messages = list(results)
    if parts or calls:
        turn: Json = {"role": role, "content": joined_parts(parts) if parts else None}
        if calls:
            turn["tool_calls"] = calls
        messages.append(turn)
    return messages


def _read_part(block: Mapping[str, Any], path: str) -> Json:
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": as_text(block.get("text"), f"{path}.content.text")}
    source = block.get("source")
    if kind == "image" and isinstance(source, Mapping):
        url = source.get("url")
        if source.get("type") == "base64":
            url = f"data:{source.get('media_type')};base64,{source.get('data')}"
        image = {"url": as_text(url, f"{path}.content.source.url")}
        return {"type": "image_url", "image_url": image}
    raise invalid_value(f"{path}.content.type", f"{kind!r} is not offered by the gateway")


def _read_tool_use(block: Mapping[str, Any], path: str) -> Json:
    return {
        "id": as_text(block.get("id"), f"{path}.content.id"),
        "type": "function",
        "function": {
            "name": as_text(block.get("name"), f"{path}.content.name"),
            "arguments": json_text(block.get("input") or {}),
        },
    }


def _read_tool_result(block: Mapping[str, Any], path: str) -> Json:
    content = block.get("content")
    if isinstance(content, list):
        blocks = as_list(content, f"{path}.content.content")
        content = joined_parts([_read_part(part, path) for part in blocks])
    call_id = as_text(block.get("tool_use_id"), f"{path}.content.tool_use_id")
    return {"role": "tool", "tool_call_id": call_id, "content": json_text(content or "")}


def _read_tool(tool: Mapping[str, Any], place: int) -> Json:
    if tool.get("type") not in (None, "custom"):
        kind = tool.get("type")
        raise invalid_value(f"tools.{place}.type", f"{kind!r} is not offered; use your own tools")
    function = {"name": as_text(tool.get("name"), f"tools.{place}.name")}
    function |= copy_fields(tool, {"description": "description", "input_schema": "parameters"})
    return {"type": "function", "function": function}


def _read_tool_choice(choice: Any) -> Json:
    if choice is None:
        return {}
    if not isinstance(choice, Mapping):
        raise invalid_value("tool_choice", "should be an object")
    kind = choice.get("type")
    fields: Json = {}
    if choice.get("disable_parallel_tool_use"):
        fields["parallel_tool_calls"] = False
    if kind == "tool":
        function = {"name": as_text(choice.get("name"), "tool_choice.name")}
        return {**fields, "tool_choice": {"type": "function", "function": function}}
    if kind not in _TOOL_CHOICES:
        raise invalid_value("tool_choice.type", "should be auto, any, tool or none")
    return {**fields, "tool_choice": _TOOL_CHOICES[kind]}


def _content_blocks(message: Mapping[str, Any]) -> list[Json]:
    blocks: list[Json] = []
    text = message.get("content") or message.get("refusal")
    if text:
        blocks.append({"type": "text", "text": json_text(text)})
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            with suppress(ValueError, RecursionError):
                arguments = json.loads(arguments or "{}")
        if not isinstance(arguments, Mapping):
            arguments = {"arguments": arguments}
        blocks.append(
            {
                "type": "tool_use",
                "id": call.get("id"),
                "name": function.get("name"),
                "input": arguments,
            }
        )
    return blocks


def _block_events(place: int, block: Json) -> Iterator[bytes]:
    if block["type"] == "text":
        yield _event("content_block_start", index=place, content_block={**block, "text": ""})
        for piece in split_words(block["text"]):
            delta = {"type": "text_delta", "text": piece}
            yield _event("content_block_delta", index=place, delta=delta)
    else:
        yield _event("content_block_start", index=place, content_block={**block, "input": {}})
        arguments = json.dumps(block["input"], ensure_ascii=False)
        delta = {"type": "input_json_delta", "partial_json": arguments}
        yield _event("content_block_delta", index=place, delta=delta)
    yield _event("content_block_stop", index=place)
