"""The OpenAPI document of the gateway, made of the models of its requests."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal, Union, get_args

from pydantic import BaseModel, Field, create_model
from pydantic.json_schema import models_json_schema

from darc.decide.method import Method
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.engine.surface_scorers import surface_note
from darc.serve.bodies import MOST_CHOICES, Body, ChatBody, Options, SelectScores
from darc.serve.requests import Forms, parameters_of

ON_SCORES = "OnScores"
REFERENCE = "#/components/schemas/{model}"


class ErrorDetail(Body):
    """What was wrong; `param` is the path of the field."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(Body):
    """An error in OpenAI's shape."""

    error: ErrorDetail


def usable(rule: Rule, side: Collection[str]) -> bool:
    """Whether a rule can decide one prompt with these side inputs, without a fit to others."""
    alone = rule.calibrate is None or rule.plan is not None
    return alone and all(name in side for name in rule.required())


def parameter_fields(rule: Rule, side: Collection[str]) -> dict[str, Any]:
    """The fields of a rule's own parameters, (type, default) by name."""
    fields: dict[str, Any] = {}
    for name, (kind, default) in parameters_of(rule).items():
        values = (True, False) if kind is bool else get_args(kind)
        if values and all(isinstance(value, str | bool) for value in values):
            # One that asks for a side input which nobody makes would be refused.
            usable_values = [v for v in values if usable(rule.bind(**{name: v}), side)]
            kind = Literal[tuple(usable_values)]
        fields[name] = (kind, default)
    return fields


def default_form(name: str, options: type[Options], text: str, side: Collection[str]) -> Any:
    """The `darc` object without a rule: the parameters of the settings' rule beside the options."""
    rule = Method.parse(text).rule
    rule_name: Any = Literal[text]
    fields = parameter_fields(rule, side)
    form: Any = create_model(name, __base__=options, rule=(rule_name, text), **fields)
    if rule.exclusive:
        shared: Any = options.model_config.get("json_schema_extra", {})
        exclusive = {"not": {"required": list(rule.exclusive)}}
        form.model_config["json_schema_extra"] = {**shared, **exclusive}
        form.model_rebuild(force=True)
    return form


def rule_form(options: type[Options], rule: Rule, side: Collection[str], kindred: str) -> Any:
    """The `darc` object of one rule: the rule's own parameters beside the options of all."""
    own = parameter_fields(rule, side)
    shared: Any = options.model_config.get("json_schema_extra", {})
    extra: dict[str, Any] = {
        **shared,
        "x-needs": list(rule.required()),
        "x-parameters": list(own),
        "x-by-value": rule.by_value,
        "x-scores": kindred == ON_SCORES,
    }
    if rule.exclusive:
        extra["not"] = {"required": list(rule.exclusive)}
    title = rule.name.replace("_", " ").title().replace(" ", "")
    name_kind: Any = Literal[rule.name]
    made: Any = create_model(title + kindred, __base__=options, rule=(name_kind, ...), **own)
    made.__doc__ = rule.summary
    made.model_config["json_schema_extra"] = extra
    made.model_rebuild(force=True)
    return made


def darc_of(forms: Sequence[type[BaseModel]], default: str) -> Any:
    """The field `darc`: any of these."""
    words = f"How the answer is chosen; without a rule, by {default}. The rule may also be written "
    words += "with its parameters, as in epsilon:epsilon=0.5."
    kind: Any = Union[tuple(forms)]  # noqa: UP007
    return (kind, Field(default={"rule": default}, description=words))


def document(forms: Forms, version: str, side: Collection[str] = ()) -> dict[str, Any]:
    """The whole document; `side` are the side inputs of rules that are made here."""
    settings = forms.settings
    fixed: Any = Literal["auto", "prompt", "none"]
    # Likelihoods come with the backend's answers.
    whole = {*side, "log_likelihood", "tokens"}
    plain = default_form("DefaultOptions", forms.options, settings.rule, whole)
    words = "or false, where every candidate has a sample besides the original"
    original: Any = Annotated[Literal[True], Field(description=words)]
    own: dict[str, Any] = {"normalize": (fixed, "auto"), "include_original": (original, True)}
    scores_options = create_model("ScoresOptions", __base__=forms.options, **own)
    bare = default_form("DefaultOnScores", scores_options, settings.rule, ())
    known = [rules.get(name) for name in rules]
    of_rule = {
        rule.name: rule_form(forms.options, rule, whole, "Options")
        for rule in known
        if usable(rule, whole)
    }
    made = [of_rule[rule.name] for rule in known if usable(rule, side)]
    on_scores = [
        rule_form(scores_options, rule, (), ON_SCORES) for rule in known if usable(rule, ())
    ]
    darc = darc_of([*of_rule.values(), plain], settings.rule)
    words = f"up to {MOST_CHOICES} where darc.k or the temperature makes one candidate"
    n: Any = Annotated[int, Field(ge=1, le=settings.max_k, description=words)]
    chat = create_model("ChatCompletion", __base__=ChatBody, n=(n, 1), darc=darc)
    darc = darc_of([*made, plain], settings.rule)
    selects = [
        create_model(f"{form.__name__}Request", __base__=form, darc=own)
        for form, own in (
            (forms.answers, darc),
            (forms.replies, darc),
            (SelectScores, darc_of([*on_scores, bare], settings.rule)),
        )
    ]
    models: list[type[BaseModel]] = [chat, *selects, ErrorBody]
    found, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template=REFERENCE
    )
    schemas = {model: found[model, "validation"] for model in models}
    select = {"anyOf": [schemas[each] for each in selects]}
    error = schemas[ErrorBody]

    def operation(summary: str, body: Any = None, kind: str = "application/json") -> dict[str, Any]:
        content: dict[str, Any] = {kind: {"schema": {}}}
        if body is schemas[chat]:
            content["text/event-stream"] = {"schema": {"type": "string"}}
        taken = {"required": True, "content": {"application/json": {"schema": body}}}
        wrong = {"description": "an error", "content": {"application/json": {"schema": error}}}
        return {
            "summary": summary,
            **({} if body is None else {"requestBody": taken}),
            "responses": {"200": {"description": "done", "content": content}, "default": wrong},
        }

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "DARC gateway",
            "version": version,
            "description": "Chat completions chosen by a risk-constrained rule.",
            "x-limits": surface_note(settings.parts.scorers),
            "x-raters": [] if settings.parts.panel is None else list(settings.parts.panel.names),
        },
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}, *([] if settings.api_keys else [{}])],
        "paths": {
            "/v1/chat/completions": {"post": operation("Answer a conversation", schemas[chat])},
            "/v1/select": {"post": operation("Choose among your own candidates or scores", select)},
            "/v1/playground": {
                "post": operation("Answer, and tell every step as an event", schemas[chat])
            },
            "/v1/models": {"get": operation("The models, with the default method")},
            "/healthz": {"get": operation("Whether the process lives")},
            "/readyz": {"get": operation("Whether requests can be answered")},
            "/metrics": {"get": operation("Counts for Prometheus", kind="text/plain")},
        },
    }
