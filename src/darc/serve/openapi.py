"""The OpenAPI document of the gateway, made of the static models of its bodies."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from darc.decide.registry import rules
from darc.engine.surface_scorers import surface_note
from darc.serve.bodies import (
    ChatBody,
    ChatResponse,
    DarcOptions,
    ErrorBody,
    SelectAnswers,
    SelectReplies,
    SelectResponse,
    SelectScores,
)
from darc.serve.rule_parameters import is_usable, parameter_schemas
from darc.serve.settings import ServeSettings

_MODELS: tuple[type[BaseModel], ...] = (
    ChatBody,
    ChatResponse,
    DarcOptions,
    ErrorBody,
    SelectAnswers,
    SelectReplies,
    SelectResponse,
    SelectScores,
)
_SELECT_BODIES = (SelectAnswers, SelectReplies, SelectScores)
_REFERENCE = "#/components/schemas/{model}"
# The backend's answers bring them.
_SIDE_OF_BACKEND = ("log_likelihood", "tokens")


@dataclass(frozen=True)
class ServerDescription:
    """What the document says about one server."""

    settings: ServeSettings
    #: The options of a request that says nothing, by name.
    default_options: Mapping[str, Any]
    version: str = ""
    #: The side inputs of rules that this server can make from texts.
    side_inputs: Collection[str] = field(default=())


def make_document(server: ServerDescription) -> dict[str, Any]:
    """Return the OpenAPI document of a server."""
    settings = server.settings
    panel = settings.parts.panel
    security: list[dict[str, Any]] = [{"key": []}]
    if settings.api_keys is None:
        security.append({})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "DARC gateway",
            "version": server.version,
            "description": "Chat completions chosen by a risk-constrained rule.",
            "x-limits": surface_note(settings.parts.scorers),
            "x-raters": [] if panel is None else list(panel.names),
            "x-rules": _rule_descriptions(server.side_inputs),
        },
        "components": {
            "schemas": _schemas(server),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": security,
        "paths": _paths(),
    }


def _rule_descriptions(side_inputs: Collection[str]) -> list[dict[str, Any]]:
    """What a request may say about each rule: its parameters, and what it needs."""
    available = {*side_inputs, *_SIDE_OF_BACKEND}
    descriptions = []
    for name in rules:
        rule = rules.get(name)
        if not is_usable(rule, available):
            continue
        descriptions.append(
            {
                "name": name,
                "summary": rule.summary,
                "needs": list(rule.required()),
                "parameters": parameter_schemas(rule, available),
                "exclusive": list(rule.exclusive),
                "depends_on_beta": rule.by_value,
            }
        )
    return descriptions


def _schemas(server: ServerDescription) -> dict[str, Any]:
    """The schemas of all models by name, with the defaults and limits of the server."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in _MODELS], ref_template=_REFERENCE
    )
    schemas: dict[str, Any] = definitions["$defs"]
    settings = server.settings
    options = schemas[DarcOptions.__name__]["properties"]
    for name, default in server.default_options.items():
        options[name]["default"] = list(default) if isinstance(default, tuple) else default
    options["k"]["maximum"] = settings.max_k
    options["n_aug"]["maximum"] = settings.max_n_aug
    # Besides the options, the parameters of a rule stand here, which x-rules lists.
    schemas[DarcOptions.__name__]["additionalProperties"] = True
    for model in (ChatBody, *_SELECT_BODIES):
        schemas[model.__name__]["properties"]["darc"] = _reference(DarcOptions)
    schemas[ChatBody.__name__]["properties"]["n"]["maximum"] = settings.max_k
    for model in (SelectAnswers, SelectReplies):
        candidates = schemas[model.__name__]["properties"]["candidates"]
        candidates["maxItems"] = settings.max_k
        candidates["items"]["maxLength"] = settings.max_candidate_characters
    return schemas


_TEXT = {"type": "string", "minLength": 1}
# What these APIs allow besides is translated as far as a chat completion has it.
_RESPONSES_BODY: Mapping[str, Any] = {
    "type": "object",
    "required": ["input"],
    "properties": {"model": _TEXT, "input": _TEXT, "instructions": _TEXT},
    "additionalProperties": True,
}
_MESSAGES_BODY: Mapping[str, Any] = {
    "type": "object",
    "required": ["max_tokens", "messages"],
    "properties": {
        "model": _TEXT,
        "max_tokens": {"type": "integer", "minimum": 1},
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {"role": {"enum": ["user", "assistant"]}, "content": _TEXT},
            },
        },
    },
    "additionalProperties": True,
}


def _paths() -> dict[str, Any]:
    chat = _operation("Answer a conversation", _reference(ChatBody), _reference(ChatResponse))
    chat["responses"]["200"]["content"]["text/event-stream"] = {"schema": {"type": "string"}}
    playground = _operation(
        "Answer, and report every step as an event",
        _reference(ChatBody),
        {"type": "string"},
        "text/event-stream",
    )
    select = _operation(
        "Choose among candidates or scores of your own",
        {"anyOf": [_reference(model) for model in _SELECT_BODIES]},
        _reference(SelectResponse),
    )
    responses = _operation("Answer in the form of OpenAI's responses", _RESPONSES_BODY, {})
    messages = _operation("Answer in the form of Anthropic's messages", _MESSAGES_BODY, {})
    for operation in (responses, messages):
        operation["responses"]["200"]["content"]["text/event-stream"] = {
            "schema": {"type": "string"}
        }
    metrics = _operation("Counts for Prometheus", media_type="text/plain")
    return {
        "/v1/chat/completions": {"post": chat},
        "/v1/responses": {"post": responses},
        "/v1/messages": {"post": messages},
        "/v1/select": {"post": select},
        "/v1/playground": {"post": playground},
        "/v1/models": {"get": _operation("The models, with the default method")},
        "/healthz": {"get": _operation("Whether the process lives")},
        "/readyz": {"get": _operation("Whether requests can be answered")},
        "/metrics": {"get": metrics},
    }


def _operation(
    summary: str,
    body: Mapping[str, Any] | None = None,
    response: dict[str, Any] | None = None,
    media_type: str = "application/json",
) -> dict[str, Any]:
    """An operation; `body` and `response` are schemas."""
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {
            "200": {"description": "done", "content": {media_type: {"schema": response or {}}}},
            "default": {
                "description": "an error",
                "content": {"application/json": {"schema": _reference(ErrorBody)}},
            },
        },
    }
    if body is not None:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _reference(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(model=model.__name__)}
