"""The OpenAPI document of the gateway."""

from collections.abc import Collection
from typing import Any

from darc.engine.deciding import NORMALIZATIONS
from darc.engine.parts import surface_note
from darc.gateway.request import MOST_CHOICES
from darc.gateway.settings import Settings
from darc.registry import rules
from darc.selection.rule import Rule

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
            "anyOf": [
                {"type": ["string", "null"]},
                {
                    "type": "array",
                    "items": {"type": "object", "properties": {"type": {"type": "string"}}},
                },
            ]
        },
        "tool_calls": {"type": "array", "items": {"type": "object"}},
    },
}
MESSAGES = {"type": "array", "minItems": 1, "items": MESSAGE}
NUMBER = {"type": "number", "minimum": 0, "exclusiveMaximum": 1e12}
COUNT = {"type": "integer", "minimum": 0, "exclusiveMaximum": 10**12}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
POSITIVE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e12}
INSIDE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
ABOVE = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
# What rules take, each in one of these ways; a rule that is not here is used as it is.
PARAMETERS: dict[str, tuple[dict[str, Any], ...]] = {
    "auto": ({"lam": NUMBER},),
    "epsilon": ({"epsilon": NUMBER},),
    "tau": (
        {"tau": NUMBER, "objective": {"enum": ["value", "mean"]}},
        {"quantile": SHARE, "objective": {"enum": ["value", "mean"]}},
    ),
    "penalty": ({"lam": NUMBER},),
    "cvar": ({"alpha": ABOVE},),
    "lcb": ({"lam": NUMBER}, {"delta": INSIDE, "c": NUMBER}),
    "mc_dropout": ({"lam": NUMBER},),
    "median": ({"bonus": NUMBER},),
    "nash": ({"floor": {"type": "number"}},),
    "pessimism": ({"b": NUMBER},),
    "poisson": ({"rate": {**POSITIVE, "exclusiveMaximum": 1e6}},),
    "rbon": ({"b": NUMBER, "per_token": {"type": "boolean"}},),
    "soft": ({"temperature": POSITIVE},),
    "uwo": ({"lam": NUMBER},),
    "caution": ({"a": NUMBER},),
}


def method_schema(
    settings: Settings, side: Collection[str] = (), scales: Collection[str] = NORMALIZATIONS
) -> dict[str, Any]:
    """The `darc` object, for rules that need no side inputs but `side`."""
    own = {
        "k": _whole(settings.k, 1, settings.max_k),
        "n_aug": _whole(settings.parts.n_aug, 0, settings.max_n_aug),
        "include_original": {"const": True},
        "beta": {**NUMBER, "default": settings.beta},
        "gamma": {**NUMBER, "default": settings.gamma},
        "normalize": {"enum": list(scales)},
        "policy": {"enum": ["open", "closed"]},
        "metadata": {"enum": [True, False, "short", "full"]},
        "full": {"type": "boolean"},
        "stop": {"enum": ["none", "pandora", "pandora:cost=0.05"]},
        "wave": {"type": "integer", "minimum": 1, "maximum": 10000},
        "budget": {
            "type": "object",
            "properties": {
                "milliseconds": NUMBER,
                "calls": COUNT,
                "upstream_calls": COUNT,
                "upstream_tokens": COUNT,
            },
            "additionalProperties": False,
        },
    }
    usable = [
        name
        for name in rules
        if _decides_alone(rules.get(name)) and all(n in side for n in rules.get(name).required())
    ]
    plain = [name for name in usable if name not in PARAMETERS]
    kinds: list[dict[str, Any]] = [{"rule": {"enum": plain}}, {}]
    kinds += [
        {"rule": {"const": name}, **taken} for name in usable for taken in PARAMETERS.get(name, ())
    ]
    return {
        "description": f"How the answer is chosen; without a rule, by {settings.rule}. "
        "Its parameters may also follow its name, as in epsilon:epsilon=0.5.",
        "default": {"rule": settings.rule},
        "anyOf": [
            {
                "type": "object",
                "properties": {**kind, **own},
                **({"required": ["rule"]} if kind else {}),
                "additionalProperties": False,
            }
            for kind in kinds
        ],
    }


def _decides_alone(rule: Rule) -> bool:
    """Whether a rule can decide one prompt without having been fitted to others."""
    return rule.calibrate is None or rule.plan is not None


def chat_schema(settings: Settings, side: Collection[str]) -> dict[str, Any]:
    """The body of a chat completion: what is read here; everything else is passed on."""
    return {
        "type": "object",
        "required": ["messages"],
        "properties": {
            "model": {"type": "string", "description": "a model, or darc-RULE/MODEL"},
            "messages": MESSAGES,
            "n": {
                **_whole(1, 1, settings.max_k),
                "description": f"up to {MOST_CHOICES} where darc.k or the temperature says one",
            },
            "stream": {"type": "boolean"},
            "stream_options": {
                "type": "object",
                "properties": {"include_usage": {"type": "boolean"}},
            },
            "seed": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
            "temperature": {"type": "number", "minimum": 0, "maximum": 2},
            "top_p": {"type": "number", "minimum": 0, "maximum": 1},
            "max_tokens": {"type": "integer", "minimum": 1},
            "max_completion_tokens": {"type": "integer", "minimum": 1},
            "stop": {
                "anyOf": [
                    {"type": ["string", "null"]},
                    {"type": "array", "items": {"type": "string"}},
                ]
            },
            "logprobs": {"type": "boolean"},
            "response_format": {"type": "object"},
            "tools": {"type": "array", "items": {"type": "object"}},
            "darc": method_schema(settings, side),
        },
    }


def select_schema(settings: Settings, side: Collection[str]) -> dict[str, Any]:
    """The body of a selection: candidates and what they answer, or scores."""
    number = {"type": ["number", "null"], "minimum": -1e12, "maximum": 1e12}
    rows = {
        "type": "array",
        "minItems": 1,
        "items": {"type": "array", "minItems": 1, "items": number, "contains": {"type": "number"}},
    }
    texts = {"type": "string", "maxLength": settings.max_candidate_characters}
    own = {
        "candidates": {
            "type": "array",
            "minItems": 1,
            "maxItems": settings.max_k,
            "items": texts,
        },
        "n": _whole(1, 1, MOST_CHOICES),
        "darc": method_schema(settings, side),
    }
    bare = method_schema(settings, scales=[name for name in NORMALIZATIONS if name != "fixed"])
    scores = {
        "description": "(candidates, samples) or (scorers, candidates, samples), all rows of one "
        f"length, at most {settings.max_scores} numbers; null where there is none",
        "anyOf": [rows, {"type": "array", "minItems": 1, "items": rows}],
    }
    return {
        "anyOf": [
            _strict(["candidates", "prompt"], {**own, "prompt": {"type": "string"}}),
            _strict(["candidates", "messages"], {**own, "messages": MESSAGES}),
            _strict(["scores"], {"scores": scores, "darc": bare}),
        ]
    }


def _strict(required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


def document(settings: Settings, version: str, side: Collection[str] = ()) -> dict[str, Any]:
    """The whole document; `side` are the side inputs of rules that are made here."""
    # Likelihoods come with the backend's answers.
    chat = chat_schema(settings, {*side, "log_likelihood"})
    select = select_schema(settings, side)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "DARC gateway",
            "version": version,
            "description": "Chat completions chosen by a risk-constrained rule.",
            "x-limits": surface_note(settings.parts.scorers),
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
