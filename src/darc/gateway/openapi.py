"""The OpenAPI document of the gateway."""

from typing import Any

from darc.gateway.settings import Settings

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}
MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"type": "string"},
        "content": {
            "type": ["string", "array", "null"],
            "items": {"type": "object", "properties": {"type": {"type": "string"}}},
        },
        "tool_calls": {"type": "array", "items": {"type": "object"}},
    },
}


def method_schema(settings: Settings) -> dict[str, Any]:
    """The `darc` object."""
    return {
        "type": "object",
        "description": "How the answer is chosen; other names are parameters of the rule.",
        "properties": {
            "rule": {"type": "string", "default": settings.rule},
            "k": _whole(settings.k, 1, settings.max_k),
            "n_aug": _whole(settings.parts.n_aug, 0, settings.max_n_aug),
            "include_original": {"type": "boolean", "default": settings.parts.include_original},
            "beta": {"type": "number", "minimum": 0, "default": settings.beta},
            "gamma": {"type": "number", "minimum": 0, "default": settings.gamma},
            "epsilon": {"type": "number", "minimum": 0},
            "tau": {"type": "number"},
            "normalize": {"enum": ["auto", "prompt", "fixed", "none"]},
            "policy": {"enum": ["open", "closed"]},
            "metadata": {"enum": [True, False, "short", "full"]},
            "full": {"type": "boolean"},
            "wave": {"type": "integer", "minimum": 1, "maximum": 10000},
            "budget": {
                "type": "object",
                "properties": {
                    "calls": {"type": "integer", "minimum": 0},
                    "milliseconds": {"type": "number", "minimum": 0},
                },
                "additionalProperties": False,
            },
        },
    }


def chat_schema(settings: Settings) -> dict[str, Any]:
    """The body of a chat completion: what is read here; everything else is passed on."""
    return {
        "type": "object",
        "required": ["messages"],
        "properties": {
            "model": {"type": "string"},
            "messages": {"type": "array", "minItems": 1, "items": MESSAGE},
            "n": {"type": "integer", "minimum": 1, "maximum": 128},
            "stream": {"type": "boolean"},
            "stream_options": {
                "type": "object",
                "properties": {"include_usage": {"type": "boolean"}},
            },
            "seed": {"type": "integer"},
            "temperature": {"type": "number", "minimum": 0, "maximum": 2},
            "top_p": {"type": "number", "minimum": 0, "maximum": 1},
            "max_tokens": {"type": "integer", "minimum": 1},
            "max_completion_tokens": {"type": "integer", "minimum": 1},
            "stop": {"type": ["string", "array", "null"], "items": {"type": "string"}},
            "logprobs": {"type": "boolean"},
            "response_format": {"type": "object"},
            "tools": {"type": "array", "items": {"type": "object"}},
            "darc": method_schema(settings),
        },
    }


def select_schema(settings: Settings) -> dict[str, Any]:
    """The body of a selection: candidates and what they answer, or scores."""
    numbers: dict[str, Any] = {"type": "array", "items": {"type": ["number", "null"]}}
    rows = {"type": "array", "minItems": 1, "items": numbers}
    return {
        "type": "object",
        "properties": {
            "messages": {"type": "array", "minItems": 1, "items": MESSAGE},
            "prompt": {"type": "string"},
            "candidates": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "scores": {
                "description": "(candidates, samples) or (scorers, candidates, samples)",
                "anyOf": [rows, {"type": "array", "minItems": 1, "items": rows}],
            },
            "n": {"type": "integer", "minimum": 1, "maximum": 128},
            "darc": method_schema(settings),
        },
    }


def document(settings: Settings, version: str) -> dict[str, Any]:
    """The whole document."""
    chat, select = chat_schema(settings), select_schema(settings)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "DARC gateway",
            "version": version,
            "description": "Chat completions chosen by a risk-constrained rule.",
        },
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{"key": []}, *([] if settings.api_keys else [{}])],
        "paths": {
            "/v1/chat/completions": {"post": _post("Answer a conversation", chat, stream=True)},
            "/v1/select": {"post": _post("Choose among your own candidates or scores", select)},
            "/v1/playground": {
                "post": _post("Answer, and tell every step as an event", chat, stream=True)
            },
            "/v1/models": {"get": _get("The models, with the default method")},
            "/healthz": {"get": _get("Whether the process lives")},
            "/readyz": {"get": _get("Whether requests can be answered")},
            "/metrics": {"get": _get("Counts for Prometheus", "text/plain")},
        },
    }


def _whole(default: int, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


def _post(summary: str, schema: dict[str, Any], stream: bool = False) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
    if stream:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"description": "done", "content": content}, "default": _error()},
    }


def _get(summary: str, kind: str = "application/json") -> dict[str, Any]:
    done = {"description": "done", "content": {kind: {"schema": {}}}}
    return {"summary": summary, "responses": {"200": done, "default": _error()}}


def _error() -> dict[str, Any]:
    content = {"application/json": {"schema": ERROR}}
    return {"description": "an error in OpenAI's shape", "content": content}
