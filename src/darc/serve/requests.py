"""Requests taken apart: what is sent on, and how an answer is to be chosen."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import numpy as np
from pydantic import BaseModel, Field, ValidationError, create_model

from darc.decide.caution import NAMES, parse_caution
from darc.decide.method import Method as DecisionMethod
from darc.decide.method import Normalize
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import NO_STANDARDS, Standards, as_standards
from darc.engine.stopping import Stopping, parse_stop
from darc.errors import DarcError
from darc.serve import bodies
from darc.serve.settings import ServeSettings
from darc.settings.serve import Policy, WhenHeld
from darc.types import Message, Prompt, Scores
from darc.web.problems import Problem

PREFIX = "darc"
CAUTION = "caution"
# What is not passed on with the candidates: these are answered here.
HERE = ("darc", "n", "stream", "stream_options")
WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "model_type": "should be an object",
    "dict_type": "should be an object",
}
Read = TypeVar("Read", bound=BaseModel)


@dataclass(frozen=True)
class Method:
    """A rule and its surroundings.

    Attributes:
        spec: The rule with its parameters.
        options: The `darc` object, with the defaults of the settings.
        stopping: When there are enough candidates, None if all of them are made.
        standards: What counts as a good rating.
        caution_requested: Whether the request or the settings give the rule's caution.
    """

    spec: DecisionMethod
    options: bodies.Options
    stopping: Stopping | None
    standards: Standards = NO_STANDARDS
    caution_requested: bool = False


@dataclass(frozen=True)
class ChatRequest:
    """A chat completion: what is sent on, what is answered here.

    `body` is the client's own, without `darc` and with the backend's name of the model; `same` says
    that it is byte for byte what the client sent. `forced` says that the answer has a prescribed
    form (response_format), and must not be rewritten.
    """

    body: dict[str, Any]
    model: str
    method: Method
    given: bodies.ChatBody
    same: bool

    @property
    def k(self) -> int:
        """How many candidates are made: 1 where all would be the same."""
        if self.given.temperature == 0 or self.method.options.k == 1:
            return 1
        return max(self.method.options.k, self.given.n)

    @property
    def forced(self) -> bool:
        """Whether the answer has a prescribed form."""
        form = self.body.get("response_format")
        return (form.get("type") if isinstance(form, Mapping) else form) not in (None, "text")

    @property
    def sent(self) -> dict[str, Any]:
        """The body of a call for candidates."""
        return {name: value for name, value in self.body.items() if name not in HERE}


def read(form: type[Read], given: Mapping[str, Any], prefix: str = "") -> Read:
    """The model of what was sent, null being what was not; what is wrong is a 400 with its path."""
    known = {name: value for name, value in given.items() if value is not None}
    try:
        return form.model_validate(known)
    except ValidationError as problem:
        raise _problem(form, problem, known, prefix) from None


def _problem(
    form: type[BaseModel], problem: ValidationError, given: Mapping[str, Any], prefix: str
) -> Problem:
    faults = problem.errors(include_url=False)
    # Of a union's members the one is told that fits furthest; its name is no part of the path.
    kindred = [each for each in faults if each["loc"][:1] == faults[0]["loc"][:1]]
    fault = max(kindred, key=lambda each: len(each["loc"]))
    path, value = ([prefix] if prefix else []), given
    for part in fault["loc"]:
        inner = isinstance(value, Mapping) and part in value
        if inner or (isinstance(value, list) and isinstance(part, int)):
            value = value[part]  # type: ignore[index]
            path.append(str(part)[: bodies.LONGEST_NAME])
        elif fault["type"] == "missing":
            path.append(str(part))
    what = WORDS.get(fault["type"]) or fault["msg"].removeprefix("Input ")
    if all(len(each["loc"]) == 2 for each in kindred) and not isinstance(value, list | Mapping):
        # A plain value that is none of several things, such as a name or a number.
        what = ", or ".join(dict.fromkeys(each["msg"].removeprefix("Input ") for each in kindred))
        what = what.replace(", or should be ", ", or ")
    if fault["type"] in ("less_than_equal", "too_long"):
        extra: Any = form.model_fields[str(fault["loc"][0])].json_schema_extra or {}
        what += f" ({extra['x-limit']})" if "x-limit" in extra else ""
    return wrong(".".join(path) or "the body", what[:1].lower() + what[1:])


def wrong(param: str, what: str) -> Problem:
    """A 400 about one field."""
    return Problem(400, f"{param} {what}", code="invalid_value", param=param)


def unfit(problem: Exception) -> Problem:
    """A 400 about a rule that cannot be applied as asked."""
    return Problem(400, str(problem), code="invalid_darc", param="darc")


def parameters_of(rule: Rule) -> dict[str, Any]:
    """The fields of a rule's own parameters that a request may give: (type, default) by name."""
    hints = get_type_hints(rule.function, include_extras=True)
    return {
        name: (hints[name], default)
        for name, default in rule.defaults.items()
        if _is_plain(hints.get(name))
    }


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> type[BaseModel]:
    fields = parameters_of(Rule(function.__name__, function))
    return create_model(function.__name__, __base__=bodies.Body, **fields)


def _is_plain(kind: Any) -> bool:
    """Whether a type is one of numbers, texts and truth values."""
    if get_args(kind) and not isinstance(get_args(kind)[0], str):
        inner = (get_args(kind)[0],) if hasattr(kind, "__metadata__") else get_args(kind)
        return all(_is_plain(each) for each in inner)
    return bool(get_args(kind)) or kind in (float, int, bool, str, type(None))


def _try_out(method: DecisionMethod) -> None:
    """Refuse values that only the rule itself can judge, before anything is spent on candidates."""
    scores = Scores(
        np.array([[[0.0, 1.0], [1.0, 0.0]]]), ("trial",), ((-np.inf, np.inf),), (None,), (None,)
    )
    try:
        replace(method, normalize="none").decide("", scores, {})
    except Exception as problem:
        raise unfit(problem) from None


class Forms:
    """The models of the requests to a gateway with these settings, and what is made of them."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        rated, parts = settings.parts.panel is not None, settings.parts

        def upto(limit: str, least: int) -> Any:
            most = getattr(settings, limit)
            return Annotated[
                int, Field(ge=least, le=most, json_schema_extra={"x-limit": limit}), bodies.WHOLE
            ]

        self.options = create_model(
            "DarcOptions",
            __base__=bodies.Options,
            k=(upto("max_k", 1), settings.k),
            n_aug=(upto("max_n_aug", 0), 0 if rated else parts.n_aug),
            include_original=(bool, parts.include_original),
            beta=(bodies.Aversion, settings.beta),
            gamma=(bodies.Aversion, settings.gamma),
            normalize=(Normalize, settings.normalize),
            policy=(Policy, settings.policy),
            search=(SearchMode, settings.search),
            wave=(bodies.Wave, settings.wave),
            stop=(bodies.Stop, settings.stop),
            no_rating_below=(bodies.NoRatingBelow, settings.no_rating_below),
            threshold=(bodies.Threshold, settings.threshold),
            poor_below=(bodies.PoorBelow, settings.poor_below),
            scale=(bodies.RatingScale | None, as_standards(settings.scale).scale),
            when_held=(WhenHeld, settings.when_held),
        )
        if not rated:
            # The original is a sample, or there are rewrites.
            original: Any = {
                "properties": {"include_original": {"const": True}},
                "required": [] if parts.include_original else ["include_original"],
            }
            rewritten: Any = {
                "properties": {"n_aug": {"minimum": 1}, "reward": {"not": {"const": "original"}}},
                "required": [] if parts.n_aug else ["n_aug"],
            }
            self.options.model_config["json_schema_extra"] = {"anyOf": [original, rewritten]}
            self.options.model_rebuild(force=True)
        texts = Annotated[
            list[Annotated[str, Field(max_length=settings.max_candidate_characters)]],
            Field(min_length=1, max_length=settings.max_k, json_schema_extra={"x-limit": "max_k"}),
        ]
        self.answers, self.replies = (
            create_model(form.__name__, __base__=form, candidates=(texts, ...))
            for form in (bodies.SelectAnswers, bodies.SelectReplies)
        )

    def method(self, given: Mapping[str, Any], named: str = "") -> Method:
        """The method of a request's `darc` object and the rule in its model's name.

        The object wins over the name, and the name over the settings. Whatever else stands in the
        object is a parameter of the rule. What cannot be used is a `Problem` with 400.
        """
        settings, known = self.settings, self.options.model_fields.keys()
        options = read(self.options, {n: v for n, v in given.items() if n in known}, PREFIX)
        parameters = {n: v for n, v in given.items() if n not in known and v is not None}
        text = options.rule or named or settings.rule
        spec = self._spec(text, parameters, options)
        try:
            stopping = parse_stop(options.stop)
        except DarcError as problem:
            raise wrong("darc.stop", f"cannot be used: {problem}") from None
        own = _parameters(spec.rule.function)
        bound = {n: v for n, v in spec.rule.parameters.items() if n in own.model_fields}
        read(own, bound, PREFIX)
        if spec.rule.parameters.keys() - bound.keys() and not spec.rule.required():
            _try_out(spec)
        if all(spec.rule.parameters.get(n) is not None for n in spec.rule.exclusive or ("",)):
            raise wrong("darc.rule", f"takes one of {' and '.join(spec.rule.exclusive)} only")
        if not all(isinstance(x, int | float) and x >= 0 for x in (spec.beta, spec.gamma)):
            raise wrong("darc.beta", "and gamma must be 0 or more")
        original = options.include_original or settings.parts.panel is not None
        if not original and options.n_aug == 0:
            raise wrong("darc.n_aug", "must be 1 or more without the original")
        if not original and spec.rule.parameters.get("reward") == "original":
            raise wrong("darc.reward", "cannot be original without the original")
        limits = {
            name: min(filter(None, (asked, getattr(settings, f"max_{name}"))), default=None)
            for name, asked in options.budget
            if name.startswith("upstream_")
        }
        budget = options.budget.model_copy(update=limits)
        options = options.model_copy(update={"include_original": original, "budget": budget})
        return Method(
            spec=spec.with_calibrations(settings.calibrations),
            options=options,
            stopping=stopping,
            standards=as_standards(
                options.scale, options.threshold, options.no_rating_below, options.poor_below
            ),
            caution_requested=self._gives_caution(spec.rule, text, parameters),
        )

    def _spec(
        self, text: str, parameters: Mapping[str, Any], options: bodies.Options
    ) -> DecisionMethod:
        """The rule of a text with a request's parameters, and the caution of the settings.

        The request's parameters win over a text that is not its own, and every text over the
        settings.
        """
        try:
            rule = rules.get(text.partition(":")[0].strip())
            _check_parameters(rule, parameters)
            defaults = self._caution if rule.has_parameter(CAUTION) else {}
            shared = {**defaults, **parameters}
            spec = DecisionMethod.parse(text, shared, beta=options.beta, gamma=options.gamma)
            if options.rule:
                return spec
            return spec.with_parameters(**parameters)
        except DarcError as problem:
            raise unfit(problem) from None

    @cached_property
    def _caution(self) -> dict[str, Any]:
        """The caution of the settings as a parameter of the rule: a name or a number."""
        text = self.settings.caution
        if text is None:
            return {}
        name = text.strip().lower()
        return {CAUTION: name if name in NAMES else parse_caution(text)}

    def _gives_caution(self, rule: Rule, text: str, parameters: Mapping[str, Any]) -> bool:
        """Whether somebody has said how much caution a rule is to use."""
        if not rule.has_parameter(CAUTION):
            return False
        pairs = text.partition(":")[2].split(",")
        names = [*parameters, *(pair.partition("=")[0].strip() for pair in pairs)]
        return bool(self._caution) or CAUTION in (rule.aliases.get(name, name) for name in names)

    def chat(self, body: Mapping[str, Any]) -> ChatRequest:
        """A chat completion taken apart; raises a `Problem` with 400 for what cannot be used."""
        if "best_of" in body:
            raise wrong("best_of", "is not sent to a backend; say how many candidates with darc.k")
        given = read(bodies.ChatBody, body)
        named, model = split_model(given.model or self.settings.model)
        method = self.method(given.darc, named)
        if given.n > self.settings.max_k and method.options.k > 1 and given.temperature != 0:
            raise wrong("n", f"must be at most {self.settings.max_k} (max_k), or darc.k must be 1")
        kept = {name: value for name, value in body.items() if name != "darc"}
        if model:
            kept["model"] = model
        same = "darc" not in body and model == body.get("model")
        return ChatRequest(kept, model, method, given, same)

    def select(self, body: Mapping[str, Any]) -> bodies.SelectScores | bodies.SelectTexts:
        """A selection; scores and candidates must not both be given."""
        given = {name for name in ("scores", "candidates") if body.get(name) is not None}
        if len(given) != 1:
            raise wrong("candidates", "or scores must be given, and not both")
        if given == {"scores"}:
            most = self.settings.max_scores
            if not isinstance(body["scores"], list) or count(body["scores"]) > most:
                what = f"must be a list of lists of at most {most} numbers (max_scores)"
                raise wrong("scores", what)
            return read(bodies.SelectScores, body)
        texts, longest = body["candidates"], self.settings.max_candidate_characters
        for place, text in enumerate(texts if isinstance(texts, list) else ()):
            if isinstance(text, str) and len(text) > longest:
                what = f"is longer than {longest} characters (max_candidate_characters)"
                raise wrong(f"candidates.{place}", what)
        return read(self.answers if body.get("messages") is None else self.replies, body)


def _check_parameters(rule: Rule, parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter of a rule whose value cannot be used, by its path in the request."""
    form = _parameters(rule.function)
    named = {rule.aliases.get(name, name): value for name, value in parameters.items()}
    read(form, {name: named[name] for name in named.keys() & form.model_fields.keys()}, PREFIX)


def count(value: Any) -> int:
    """How many numbers are in lists of lists."""
    return sum(map(count, value)) if isinstance(value, list) else 1


def split_model(name: str) -> tuple[str, str]:
    """The rule, empty where there is none, and the model of a name such as darc-epsilon/MODEL."""
    head, slash, rest = name.partition("/")
    if not slash or (head != PREFIX and not head.startswith(PREFIX + "-")):
        return "", name
    return head[len(PREFIX) + 1 :], rest


def read_prompt(messages: Sequence[Mapping[str, Any]]) -> Prompt:
    """The conversation as scorers see it; its id is the beginning of a hash of the messages."""
    turns = tuple(Message(message["role"], _text(message)) for message in messages)
    text = json.dumps(messages, sort_keys=True, ensure_ascii=True)
    return Prompt(hashlib.sha256(text.encode()).hexdigest()[:16], turns)


def has_media(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a conversation has parts that scorers of text cannot see."""
    contents = (message.get("content") for message in messages)
    parts = (part for content in contents if isinstance(content, list) for part in content)
    return any(not isinstance(part.get("text", part.get("refusal")), str) for part in parts)


def _text(message: Mapping[str, Any]) -> str:
    """The words of a message; parts that are not text are named in brackets, never fetched."""
    content, calls = message.get("content"), message.get("tool_calls")
    if content is None:
        return json.dumps(calls, ensure_ascii=False) if calls else ""
    if isinstance(content, str):
        return content
    words = []
    for part in content:
        text = part.get("text", part.get("refusal"))
        words.append(text if isinstance(text, str) else f"[{str(part.get('type', 'part'))[:40]}]")
    return "\n".join(words)
