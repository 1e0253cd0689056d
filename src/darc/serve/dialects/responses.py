"""OpenAI's /v1/responses, without state on the server."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from darc.serve.dialects.base import (
    Json,
    as_list,
    as_text,
    copy_fields,
    joined_parts,
    json_text,
    named_event,
    refuse_fields,
)
from darc.serve.streaming import split_words
from darc.serve.validation import invalid_value
from darc.web.problems import Problem

_COPIED = {
    "model": "model",
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_tokens",
    "parallel_tool_calls": "parallel_tool_calls",
    "user": "user",
    "stream": "stream",
    "seed": "seed",
    "darc": "darc",
}
_STATELESS = "is not offered: the gateway keeps no responses, so send the whole conversation"
_REFUSED = {
    "store": "is not offered: the gateway keeps no responses; leave it out or send false",
    "previous_response_id": _STATELESS,
    "conversation": _STATELESS,
    "prompt": "is not offered: send the text of the prompt as instructions and input",
    "background": "is not offered: a response is answered at once",
}
_ROLES = {"developer": "system"}
_KNOWN_ROLES = ("user", "assistant", "system", "developer")
# Fields of a request that its response repeats, with their defaults.
_REPEATED: Mapping[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "parallel_tool_calls": True,
    "temperature": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "metadata": {},
    "reasoning": None,
    "text": {"format": {"type": "text"}},
    "truncation": "disabled",
    "user": None,
}


class ResponsesDialect:
    """Translates /v1/responses: text, images, function calls and structured output."""

    def chat_body(self, body: Mapping[str, Any]) -> Json:
        """Translate a request to the body of a chat completion."""
        refuse_fields(body, _REFUSED)
        chat = copy_fields(body, _COPIED)
        messages: list[Json] = []
        if body.get("instructions"):
            text = as_text(body["instructions"], "instructions")
            messages.append({"role": "system", "content": text})
        chat["messages"] = [*messages, *_read_input(body.get("input"))]
        if body.get("tools"):
            tools = as_list(body["tools"], "tools")
            chat["tools"] = [_read_tool(tool, i) for i, tool in enumerate(tools)]
            if body.get("tool_choice") is not None:
                chat["tool_choice"] = _read_tool_choice(body["tool_choice"])
        response_format = _read_format(body.get("text"))
        if response_format is not None:
            chat["response_format"] = response_format
        reasoning = body.get("reasoning")
        if isinstance(reasoning, Mapping) and reasoning.get("effort"):
            chat["reasoning_effort"] = reasoning["effort"]
        return chat

    def response(self, body: Mapping[str, Any], completion: Mapping[str, Any]) -> Json:
        """Translate a chat completion to a response."""
        choice = completion["choices"][0]
        identity = str(completion["id"]).removeprefix("chatcmpl-")
        response: Json = {
            "id": f"resp_{identity}",
            "object": "response",
            "created_at": completion["created"],
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": completion["model"],
            "output": _output_items(identity, choice["message"]),
            "previous_response_id": None,
            "store": False,
            "usage": _usage(completion.get("usage") or {}),
        }
        for name, default in _REPEATED.items():
            value = body.get(name)
            response[name] = default if value is None else value
        if choice.get("finish_reason") == "length":
            response["status"] = "incomplete"
            response["incomplete_details"] = {"reason": "max_output_tokens"}
        if "darc" in completion:
            response["darc"] = completion["darc"]
        return response

    def events(self, body: Mapping[str, Any], completion: Mapping[str, Any]) -> Iterator[bytes]:
        """Translate a chat completion to the events of a stream."""
        numbers = itertools.count()
        response = self.response(body, completion)
        begun = {**response, "status": "in_progress", "output": [], "usage": None}
        begun.pop("darc", None)

        def event(name: str, /, **fields: Any) -> bytes:
            return named_event(name, {"type": name, "sequence_number": next(numbers), **fields})

        yield event("response.created", response=begun)
        yield event("response.in_progress", response=begun)
        for place, item in enumerate(response["output"]):
            for name, fields in _item_events(item):
                yield event(name, output_index=place, **fields)
        yield event(f"response.{response['status']}", response=response)

    def error(self, problem: Problem) -> Json:
        """An error in OpenAI's shape."""
        return problem.body()

    def error_event(self, problem: Problem) -> bytes:
        """The event of an error."""
        fields = {"code": problem.code, "message": problem.message, "param": problem.param}
        return named_event("error", {"type": "error", "sequence_number": 0, **fields})


def _read_input(value: Any) -> list[Json]:
    """The input of a request as messages."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    messages: list[Json] = []
    for place, item in enumerate(as_list(value, "input")):
        path = f"input.{place}"
        kind = item.get("type") or "message"
        if kind == "message":
            messages.append(_read_message(item, path))
        elif kind == "function_call":
            _add_tool_call(messages, item, path)
        elif kind == "function_call_output":
            messages.append(_read_tool_output(item, path))
        elif kind != "reasoning":
            raise invalid_value(f"{path}.type", f"{kind!r} is not offered by the gateway")
    return messages


def _read_message(item: Mapping[str, Any], path: str) -> Json:
    role = item.get("role")
    if role not in _KNOWN_ROLES:
        raise invalid_value(f"{path}.role", f"should be one of {', '.join(_KNOWN_ROLES)}")
    content = item.get("content")
    if not isinstance(content, str):
        parts = as_list(content, f"{path}.content")
        content = joined_parts([_read_part(part, f"{path}.content") for part in parts])
    return {"role": _ROLES.get(role, role), "content": content}


def _read_part(part: Mapping[str, Any], path: str) -> Json:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return {"type": "text", "text": as_text(part.get("text"), f"{path}.text")}
    if kind == "refusal":
        return {"type": "text", "text": as_text(part.get("refusal"), f"{path}.refusal")}
    if kind == "input_image" and part.get("image_url"):
        image = {"url": as_text(part["image_url"], f"{path}.image_url")}
        if part.get("detail"):
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}
    raise invalid_value(f"{path}.type", f"{kind!r} is not offered by the gateway")


def _add_tool_call(messages: list[Json], item: Mapping[str, Any], path: str) -> None:
    """Add a function call to the assistant's message before it, or as a message of its own."""
    call = {
        "id": as_text(item.get("call_id"), f"{path}.call_id"),
        "type": "function",
        "function": {
            "name": as_text(item.get("name"), f"{path}.name"),
            "arguments": as_text(item.get("arguments"), f"{path}.arguments"),
        },
    }
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    messages[-1].setdefault("tool_calls", []).append(call)


def _read_tool_output(item: Mapping[str, Any], path: str) -> Json:
    output = item.get("output")
    if isinstance(output, list):
        parts = [_read_part(part, f"{path}.output") for part in as_list(output, f"{path}.output")]
        output = joined_parts(parts)
    call_id = as_text(item.get("call_id"), f"{path}.call_id")
    return {"role": "tool", "tool_call_id": call_id, "content": json_text(output)}


def _read_tool(tool: Mapping[str, Any], place: int) -> Json:
    if tool.get("type") != "function":
        kind = tool.get("type")
        raise invalid_value(f"tools.{place}.type", f"{kind!r} is not offered; use functions")
    names = ("name", "description", "parameters", "strict")
    function = {name: tool[name] for name in names if tool.get(name) is not None}
    return {"type": "function", "function": function}


def _read_tool_choice(choice: Any) -> Any:
    if isinstance(choice, str):
        return choice
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}
    raise invalid_value("tool_choice", "should be auto, none, required or a function")


def _read_format(text: Any) -> Json | None:
    """The form of the answer that `text.format` asks for; None for plain text."""
    if text is None:
        return None
    if not isinstance(text, Mapping):
        raise invalid_value("text", "should be an object")
    text_format = text.get("format")
    if not isinstance(text_format, Mapping) or text_format.get("type") in (None, "text"):
        return None
    if text_format["type"] == "json_schema":
        names = ("name", "description", "schema", "strict")
        schema = {name: text_format[name] for name in names if text_format.get(name) is not None}
        return {"type": "json_schema", "json_schema": schema}
    return {"type": text_format["type"]}


def _output_items(identity: str, message: Mapping[str, Any]) -> list[Json]:
    """What the model wrote, as items: a message, function calls, or both."""
    items: list[Json] = []
    parts: list[Json] = []
    if message.get("content"):
        text = json_text(message["content"])
        part = {"type": "output_text", "text": text, "annotations": []}
        parts.append({**part, "logprobs": []})
    if message.get("refusal"):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    calls = message.get("tool_calls") or []
    if parts or not calls:
        items.append(
            {
                "id": f"msg_{identity}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": parts,
            }
        )
    for place, call in enumerate(calls):
        function = call.get("function") or {}
        items.append(
            {
                "id": f"fc_{identity}_{place}",
                "type": "function_call",
                "status": "completed",
                "call_id": call.get("id"),
                "name": function.get("name"),
                "arguments": json_text(function.get("arguments", "")),
            }
        )
    return items


def _usage(usage: Mapping[str, Any]) -> Json:
    read = usage.get("prompt_tokens") or 0
    written = usage.get("completion_tokens") or 0
    read_details = usage.get("prompt_tokens_details") or {}
    written_details = usage.get("completion_tokens_details") or {}
    result: Json = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": read_details.get("cached_tokens") or 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": written_details.get("reasoning_tokens") or 0},
        "total_tokens": usage.get("total_tokens") or read + written,
    }
    if "upstream" in usage:
        result["upstream"] = usage["upstream"]
    return result


def _item_events(item: Json) -> Iterator[tuple[str, Json]]:
    """The events of one item, without the fields that all events have."""
    begun = {**item, "status": "in_progress"}
    if item["type"] == "function_call":
        yield "response.output_item.added", {"item": {**begun, "arguments": ""}}
        call = {"item_id": item["id"]}
        arguments = item["arguments"]
        yield "response.function_call_arguments.delta", {**call, "delta": arguments}
        done = {**call, "arguments": arguments, "name": item["name"]}
        yield "response.function_call_arguments.done", done
    else:
        yield "response.output_item.added", {"item": {**begun, "content": []}}
        for place, part in enumerate(item["content"]):
            yield from _part_events({"item_id": item["id"], "content_index": place}, part)
    yield "response.output_item.done", {"item": item}


def _part_events(where: Json, part: Json) -> Iterator[tuple[str, Json]]:
    field = "text" if part["type"] == "output_text" else "refusal"
    yield "response.content_part.added", {**where, "part": {**part, field: ""}}
    logprobs: Json = {"logprobs": []} if field == "text" else {}
    for piece in split_words(part[field]):
        yield f"response.{part['type']}.delta", {**where, "delta": piece, **logprobs}
    yield f"response.{part['type']}.done", {**where, field: part[field], **logprobs}
    yield "response.content_part.done", {**where, "part": part}
