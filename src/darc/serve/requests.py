"""Reading requests: what goes to the backend, and how the answer is to be chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from darc.decide.caution import NAMES, parse_caution
from darc.decide.method import Method
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.rule_text import CAUTION
from darc.decide.standards import as_standards
from darc.engine.adaptive_panel import check_adaptive
from darc.engine.stopping import StopRule, parse_stop
from darc.errors import DarcError, InputError
from darc.serve.bodies import (
    Budget,
    ChatBody,
    DarcOptions,
    SelectAnswers,
    SelectReplies,
    SelectScores,
    SelectTexts,
)
from darc.serve.rule_parameters import check_parameters, try_parameters
from darc.serve.settings import ServeSettings
from darc.serve.validation import invalid_value, validate_body
from darc.web.problems import Problem

MODEL_PREFIX = "darc"
# These fields are answered here and not sent to the backend with a request for candidates.
_ANSWERED_HERE = ("darc", "n", "stream", "stream_options")


@dataclass(frozen=True)
class RequestMethod:
    """How the answer to a request is chosen."""

    #: The rule with its parameters and everything else that the decision depends on.
    method: Method
    #: The `darc` object, completed by the defaults of the server.
    options: DarcOptions
    #: When there are enough candidates; None if all of them are written.
    stopping: StopRule | None
    #: Whether the request or the server says how much caution the rule is to use.
    caution_requested: bool = False


@dataclass(frozen=True)
class ChatRequest:
    """A chat completion."""

    #: The body as the client sent it, checked.
    body: ChatBody
    #: The body for the backend: without `darc`, and with the backend's name of the model.
    backend_body: dict[str, Any]
    #: The backend's name of the model.
    model: str
    #: How the answer is chosen.
    method: RequestMethod
    #: Whether `backend_body` is what the client sent, byte for byte.
    unchanged: bool

    @property
    def k(self) -> int:
        """How many candidates to write: 1 where all of them would be the same."""
        if self.body.temperature == 0 or self.method.options.k == 1:
            return 1
        return max(self.method.options.k, self.body.n)

    def for_one_answer(self) -> "ChatRequest":
        """The same request for a single candidate of the model that it names."""
        options = self.method.options.model_copy(update={"k": 1, "models": None})
        return replace(self, method=replace(self.method, options=options))

    @property
    def is_passed_through(self) -> bool:
        """Whether the backend's answer is returned as it is, by the model that is named."""
        return self.k == 1 and not self.method.options.model_shares

    @property
    def has_prescribed_format(self) -> bool:
        """Whether the answer must have a form, such as JSON, that rewrites could break."""
        response_format = self.backend_body.get("response_format")
        if isinstance(response_format, Mapping):
            response_format = response_format.get("type")
        return response_format not in (None, "text")

    def candidate_body(self) -> dict[str, Any]:
        """Return the body of a call for candidates."""
        return {
            name: value for name, value in self.backend_body.items() if name not in _ANSWERED_HERE
        }


class RequestReader:
    """Checks the bodies of requests to a gateway and completes them by its settings.

    All of its methods raise a `Problem` with status 400 for what cannot be used.
    """

    def __init__(self, settings: ServeSettings) -> None:
        """Make a reader for the settings of a gateway."""
        self._settings = settings
        self._has_panel = settings.parts.panel is not None
        self._default_parameters = _caution_parameter(settings.caution)
        self.default_options = self._server_options()

    def read_chat(self, body: Mapping[str, Any]) -> ChatRequest:
        """Read a chat completion."""
        if "best_of" in body:
            reason = "is not sent to a backend; say how many candidates with darc.k"
            raise invalid_value("best_of", reason)
        chat_body = validate_body(ChatBody, body)
        rule_in_model, model = split_model(chat_body.model or self._settings.model)
        model = self._configured_model(model)
        method = self.read_method(chat_body.darc, rule_in_model)
        writes_several = method.options.k > 1 and chat_body.temperature != 0
        if chat_body.n > self._settings.max_k and writes_several:
            reason = f"must be at most {self._settings.max_k} (max_k), or darc.k must be 1"
            raise invalid_value("n", reason)
        backend_body = {name: value for name, value in body.items() if name != "darc"}
        if model:
            backend_body["model"] = model
        return ChatRequest(
            body=chat_body,
            backend_body=backend_body,
            model=model,
            method=method,
            unchanged="darc" not in body and model == body.get("model"),
        )

    def read_select(self, body: Mapping[str, Any]) -> SelectScores | SelectTexts:
        """Read a choice among scores or candidates of the client's own."""
        has_scores = body.get("scores") is not None
        has_candidates = body.get("candidates") is not None
        if has_scores == has_candidates:
            raise invalid_value("candidates", "or scores must be given, and not both")
        if has_scores:
            self._check_score_count(body["scores"])
            self._check_grade_count(body.get("grades"))
            self._check_side_inputs(body.get("side"))
            return validate_body(SelectScores, body)
        self._check_candidate_sizes(body["candidates"])
        if body.get("messages") is None:
            return validate_body(SelectAnswers, body)
        return validate_body(SelectReplies, body)

    def read_method(self, darc: Mapping[str, Any], rule_in_model: str = "") -> RequestMethod:
        """Read how an answer is to be chosen.

        The `darc` object wins over the name of the model, and that over the server's settings.

        Args:
            darc: The `darc` object of a request. Fields that are not options are parameters of the
                rule.
            rule_in_model: The rule that the name of the model gives; empty for none.
        """
        fields = {name: value for name, value in darc.items() if value is not None}
        option_names = DarcOptions.model_fields
        given_options = {name: value for name, value in fields.items() if name in option_names}
        parameters = {name: value for name, value in fields.items() if name not in option_names}
        options = validate_body(DarcOptions, {**self.default_options, **given_options}, "darc")
        self._check_limit("k", options.k, self._settings.max_k)
        self._check_limit("n_aug", options.n_aug, self._settings.max_n_aug)
        if options.when_held == "fallback" and not self._settings.fallback_model:
            reason = "cannot be fallback: the gateway was started without --fallback-model"
            raise invalid_value("darc.when_held", reason)
        options = options.model_copy(
            update={
                "include_original": options.include_original or self._has_panel,
                "budget": self._limit_budget(options.budget),
            }
        )
        rule_text = given_options.get("rule") or rule_in_model or self._settings.rule
        method = self._parse_rule(rule_text, parameters, options, "rule" in given_options)
        _check_original(method.rule, options)
        method = self._complete(method, options)
        says_nothing = not darc and not rule_in_model
        if options.adaptive and ("adaptive" in given_options or says_nothing):
            # Other requests may have a rule that needs every grade, and then get every grade.
            self._check_adaptive(method)
        return RequestMethod(
            method=method,
            options=options,
            stopping=_read_stopping(options.stop),
            caution_requested=self._is_caution_requested(method.rule, rule_text, parameters),
        )

    def _configured_model(self, model: str) -> str:
        """The model that a request names, or the first of several backends if none has it."""
        if not self._settings.has_several_models:
            return model
        names = [address.model for address in self._settings.addresses]
        if model in names:
            return model
        return names[0]

    def _server_options(self) -> dict[str, Any]:
        """The options of a request that says nothing."""
        settings = self._settings
        options = {
            name: getattr(settings, name)
            for name in DarcOptions.model_fields
            if name in ServeSettings.model_fields
        }
        options["n_aug"] = 0 if self._has_panel else settings.parts.n_aug
        options["include_original"] = settings.parts.include_original
        options["scale"] = as_standards(settings.scale).scale
        return options

    def _check_limit(self, name: str, value: int, limit: int) -> None:
        if value > limit:
            reason = f"should be less than or equal to {limit} (max_{name})"
            raise invalid_value(f"darc.{name}", reason)

    def _limit_budget(self, budget: Budget) -> Budget:
        """The budget of a request within the limits of the server, 0 being no limit."""
        calls = _smaller_limit(budget.upstream_calls, self._settings.max_upstream_calls)
        tokens = _smaller_limit(budget.upstream_tokens, self._settings.max_upstream_tokens)
        return budget.model_copy(update={"upstream_calls": calls, "upstream_tokens": tokens})

    def _parse_rule(
        self, text: str, parameters: Mapping[str, Any], options: DarcOptions, rule_is_given: bool
    ) -> Method:
        """The rule of a text with a request's parameters.

        A request's parameters win over a text that is not its own, and any text wins over the
        server's caution.
        """
        try:
            rule = rules.get(text.partition(":")[0].strip())
            check_parameters(rule, parameters)
            shared = dict(parameters)
            if rule.has_parameter(CAUTION):
                shared = {**self._default_parameters, **parameters}
            method = Method.parse(text, shared, beta=options.beta, gamma=options.gamma)
            if not rule_is_given:
                method = method.with_parameters(**parameters)
        except DarcError as error:
            raise rule_problem(error) from None
        _check_method(method)
        try:
            try_parameters(method)
        except DarcError as error:
            raise rule_problem(error) from None
        return method

    def _complete(self, method: Method, options: DarcOptions) -> Method:
        """The method with everything else that the decision depends on."""
        standards = as_standards(
            options.scale, options.threshold, options.no_rating_below, options.poor_below
        )
        return replace(
            method.with_calibrations(self._settings.calibrations),
            normalize=options.normalize,
            seed=self._settings.request_seed or 0,
            include_original=options.include_original,
            min_samples=self._settings.parts.min_samples,
            standards=standards,
            search_mode=options.search,
            slate=options.slate,
            call_price=options.call_price if options.adaptive else None,
        )

    def _check_adaptive(self, method: Method) -> None:
        try:
            check_adaptive(method, self._settings.parts.panel)
        except InputError as error:
            raise rule_problem(error) from None

    def _is_caution_requested(self, rule: Rule, text: str, parameters: Mapping[str, Any]) -> bool:
        """Whether the rule has a caution, and the request or the server gives one."""
        if not rule.has_parameter(CAUTION):
            return False
        pairs = text.partition(":")[2].split(",")
        names = [*parameters, *(pair.partition("=")[0].strip() for pair in pairs)]
        is_in_request = any(rule.aliases.get(name, name) == CAUTION for name in names)
        return is_in_request or bool(self._default_parameters)

    def _check_score_count(self, scores: Any) -> None:
        limit = self._settings.max_scores
        if not isinstance(scores, list) or count_scores(scores) > limit:
            reason = f"must be a list of lists of at most {limit} numbers (max_scores)"
            raise invalid_value("scores", reason)
        max_candidates = self._settings.max_scored_candidates
        if count_candidates(scores) > max_candidates:
            reason = f"must be of at most {max_candidates} candidates (max_scored_candidates)"
            raise invalid_value("scores", reason)

    def _check_grade_count(self, grades: Any) -> None:
        limit = self._settings.max_scores
        if isinstance(grades, list) and count_scores(grades) > limit:
            raise invalid_value("grades", f"must have at most {limit} numbers (max_scores)")

    def _check_side_inputs(self, side: Any) -> None:
        """Refuse side inputs that are larger than a number for each pair of candidates."""
        limit = max(self._settings.max_scores, self._settings.max_k**2)
        if isinstance(side, Mapping) and count_scores(list(side.values())) > limit:
            raise invalid_value("side", f"must have at most {limit} numbers (max_scores)")

    def _check_candidate_sizes(self, candidates: Any) -> None:
        if not isinstance(candidates, list):
            return
        max_characters = self._settings.max_candidate_characters
        for place, text in enumerate(candidates):
            if isinstance(text, str) and len(text) > max_characters:
                reason = f"is longer than {max_characters} characters (max_candidate_characters)"
                raise invalid_value(f"candidates.{place}", reason)
        if len(candidates) > self._settings.max_k:
            reason = f"should have at most {self._settings.max_k} texts (max_k)"
            raise invalid_value("candidates", reason)


def rule_problem(error: Exception) -> Problem:
    """Make an error with status 400 about a rule that cannot be applied as requested."""
    return Problem(400, str(error), code="invalid_darc", param="darc")


def split_model(name: str) -> tuple[str, str]:
    """Split a model's name such as darc-epsilon/MODEL.

    Returns:
        The rule, empty if the name gives none, and the backend's name of the model.
    """
    head, slash, model = name.partition("/")
    is_prefixed = head == MODEL_PREFIX or head.startswith(f"{MODEL_PREFIX}-")
    if not slash or not is_prefixed:
        return "", name
    return head[len(MODEL_PREFIX) + 1 :], model


def count_scores(value: Any) -> int:
    """Return how many values are in lists of lists; an empty list counts as one."""
    if not isinstance(value, list):
        return 1
    return max(1, sum(map(count_scores, value)))


def count_candidates(scores: list[Any]) -> int:
    """Return of how many candidates there are scores (K, n), or (M, K, n)."""
    first = scores[0] if scores else None
    is_by_scorer = isinstance(first, list) and bool(first) and isinstance(first[0], list)
    if not is_by_scorer:
        return len(scores)
    return max(len(candidates) for candidates in scores if isinstance(candidates, list))


def _caution_parameter(text: str | None) -> dict[str, Any]:
    """The server's caution as a parameter of a rule: a name or a number."""
    if text is None:
        return {}
    name = text.strip().lower()
    if name in NAMES:
        return {CAUTION: name}
    return {CAUTION: parse_caution(text)}


def _read_stopping(text: str) -> StopRule | None:
    try:
        return parse_stop(text)
    except DarcError as error:
        raise invalid_value("darc.stop", f"cannot be used: {error}") from None


def _smaller_limit(requested: int | None, limit: int) -> int | None:
    """The smaller of two limits, each of which may be absent or 0 for none."""
    limits = [value for value in (requested, limit) if value]
    return min(limits, default=None)


def _check_method(method: Method) -> None:
    """Refuse parameters that were given in the text of a rule and cannot be used."""
    rule = method.rule
    check_parameters(rule, rule.parameters)
    exclusive = rule.exclusive
    if exclusive and all(rule.parameters.get(name) is not None for name in exclusive):
        raise invalid_value("darc.rule", f"takes only one of {' and '.join(exclusive)}")
    for level in (method.beta, method.gamma):
        # A level that is not a number is not at least 0 either.
        if not isinstance(level, int | float) or not level >= 0:
            raise invalid_value("darc.beta", "and gamma must be 0 or more")


def _check_original(rule: Rule, options: DarcOptions) -> None:
    """Refuse options that leave a candidate without a sample that the rule can use."""
    if options.include_original:
        return
    if options.n_aug == 0:
        raise invalid_value("darc.n_aug", "must be 1 or more without the original")
    if rule.parameters.get("reward") == "original":
        raise invalid_value("darc.reward", "cannot be original without the original")
