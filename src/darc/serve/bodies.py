"""The bodies of requests and responses as static models, with the types and bounds of fields."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from darc.decide.standards import parse_scale
from darc.errors import DarcError
from darc.settings.generation import CandidateSettings, StopSettings
from darc.settings.method import (
    MethodSettings,
    StandardsSettings,
)
from darc.settings.model import details_of
from darc.settings.sampling import RewriteSettings
from darc.settings.serve import RequestSettings, ServeCommandSettings

MAX_NAME_LENGTH = 80
MAX_CHOICES = 128
_MAX_BUDGET = 10**12
# So that neither sums nor squares of scores on any scale overflow.
_MAX_SCORE = 1e12
# The most turns of a conversation, parts of a turn, raters or scorers in a request.
MAX_ITEMS = 10_000


def _as_integer(value: Any) -> Any:
    """JSON does not tell 2.0 from 2."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _as_metadata_level(value: Any) -> Any:
    if value is True:
        return "short"
    if value is False:
        return ""
    return value


def _as_scale(value: Any) -> tuple[float, float]:
    """The two ends of a scale, given as a list of two numbers or a text such as "1-5"."""
    try:
        low, high = parse_scale(value)
        valid = -_MAX_SCORE <= low < high <= _MAX_SCORE
    except (DarcError, TypeError, ValueError, OverflowError):
        valid = False
    if not valid:
        raise PydanticCustomError(
            "rating_scale", 'should be two numbers, the lower one first, such as [1, 5] or "1-5"'
        )
    return low, high


_INTEGER = BeforeValidator(_as_integer)
Score = Annotated[float, Field(ge=-_MAX_SCORE, le=_MAX_SCORE)]
# A candidate's samples, at least one of which is a number.
_Samples = Annotated[
    list[Score | None],
    Field(min_length=1, fail_fast=True, json_schema_extra={"contains": {"type": "number"}}),
]
# A list is refused at its first wrong item: an error for each of a million would fill the memory.
_Candidates = Annotated[list[_Samples], Field(min_length=1, fail_fast=True)]
_Scorers = Annotated[list[_Candidates], Field(min_length=1, max_length=MAX_ITEMS, fail_fast=True)]
# (criteria, K, n, repeats): all numbers that the raters of a panel gave.
_Grades = Annotated[
    list[Annotated[list[_Candidates], Field(min_length=1, fail_fast=True)]],
    Field(max_length=MAX_ITEMS, fail_fast=True),
]
_Objects = Annotated[list[dict[str, Any]], Field(max_length=MAX_ITEMS, fail_fast=True)]
_ModelName = Annotated[str, Field(min_length=1, max_length=200)]
_Share = Annotated[float, Field(gt=0, le=_MAX_SCORE)]
_Names = Annotated[list[str], Field(max_length=MAX_ITEMS, fail_fast=True)]
_BudgetCount = Annotated[int, Field(ge=0, lt=_MAX_BUDGET), _INTEGER]
_ChoiceCount = Annotated[int, Field(ge=1, le=MAX_CHOICES), _INTEGER]
# A schema cannot say that the second number must be larger, so it lists examples.
_RatingScale = Annotated[
    tuple[float, float],
    BeforeValidator(_as_scale),
    WithJsonSchema(
        {
            "enum": ["1-5", "0-10", "0-100", [0, 1], [1, 5], [1, 7]],
        }
    ),
]
SampleKind = Literal["rater", "rewrite"]


def _option(model: type[BaseModel], name: str, description: str = "") -> Any:
    """A field with the default, the bounds and the description of a setting.

    Args:
        model: The settings.
        name: The name of the setting.
        description: Other words than those of the command line.
    """
    setting = model.model_fields[name]
    return Field(
        default=setting.default,
        description=description or setting.description,
        **details_of(setting).bounds,
    )


class Body(BaseModel):
    """Part of a request or response; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Budget(Body):
    """What a choice may cost. The upstream limits are over all models, retries included."""

    calls: _BudgetCount | None = Field(default=None, description="texts that are scored")
    milliseconds: Annotated[float, Field(ge=0, lt=_MAX_BUDGET)] | None = Field(
        default=None, description="from the request to the answer"
    )
    upstream_calls: _BudgetCount | None = Field(
        default=None, description="calls to models; 0 for the server's own limit"
    )
    upstream_tokens: _BudgetCount | None = Field(
        default=None, description="tokens of models; 0 for the server's own limit"
    )


def request_options(settings: type[BaseModel]) -> type[Body]:
    """Make a model of the options that a request may set, as the settings declare them.

    Args:
        settings: The settings of the gateway.
    """
    fields: dict[str, Any] = {}
    for name, setting in settings.model_fields.items():
        if details_of(setting).per_request:
            fields[name] = (setting.annotation, _option(settings, name))
    return create_model("RequestOptions", __base__=Body, **fields)


# The fields below say what JSON needs besides; an option that needs nothing comes from the base.
class DarcOptions(request_options(ServeCommandSettings)):  # type: ignore[misc]
    """How the answer is chosen. Further fields are parameters of the rule, see `x-rules`.

    The defaults of a server replace the ones here.
    """

    rule: Annotated[str, Field(max_length=10 * MAX_NAME_LENGTH)] = _option(MethodSettings, "rule")
    k: Annotated[int, _INTEGER] = _option(CandidateSettings, "k")
    n_aug: Annotated[int, _INTEGER] = _option(RewriteSettings, "n_aug")
    include_original: bool = _option(
        RewriteSettings,
        "include_original",
        "whether the answer itself is one of its samples; if not, n_aug must be 1 or more",
    )
    budget: Budget = Field(default=Budget(), description="what the choice may cost")
    metadata: Annotated[
        Literal["", "short", "full"],
        BeforeValidator(_as_metadata_level),
        WithJsonSchema({"enum": [True, False, "short", "full"]}),
    ] = Field(default="", description="what the response says about the choice")
    full: bool = Field(
        default=False, description="whether to score also what cannot change the choice"
    )
    models: (
        Annotated[list[_ModelName], Field(min_length=1, max_length=MAX_CHOICES, fail_fast=True)]
        | Annotated[dict[_ModelName, _Share], Field(min_length=1, max_length=MAX_CHOICES)]
        | None
    ) = Field(
        default=None,
        description="the models that write the candidates, in equal shares or with the share of "
        "each; those of the server or of its backend only",
    )
    wave: Annotated[int, _INTEGER] = _option(RequestSettings, "wave")
    stop: Annotated[
        str, Field(json_schema_extra={"enum": ["none", "pandora", "pandora:cost=0.05"]})
    ] = _option(StopSettings, "stop")
    no_rating_below: Score | None = _option(StandardsSettings, "no_rating_below")
    threshold: Score | None = _option(StandardsSettings, "threshold")
    poor_below: Score | None = _option(StandardsSettings, "poor_below")
    scale: _RatingScale | None = _option(StandardsSettings, "scale")

    @property
    def model_shares(self) -> dict[str, float]:
        """The share of each model that the request names; empty if it names none."""
        if isinstance(self.models, dict):
            return self.models
        return dict.fromkeys(self.models or (), 1.0)

    @property
    def writes_more(self) -> bool:
        """Whether further answers are written where none of the first is good."""
        return self.when_held in ("more", "fallback")

    @property
    def fail_closed(self) -> bool:
        """Whether a part that fails is an error."""
        return self.policy == "closed"


class ChatMessage(Body):
    """A turn of a conversation. Parts that are not text go to the backend unchanged."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | _Objects | None = None
    tool_calls: _Objects | None = None


_Messages = Annotated[list[ChatMessage], Field(min_length=1, max_length=MAX_ITEMS, fail_fast=True)]


class ChatBody(Body):
    """A chat completion. Fields that are not listed go to the backend as they are."""

    model_config = ConfigDict(extra="allow")

    messages: _Messages
    model: str = Field(default="", description="a model, or darc-RULE/MODEL")
    n: _ChoiceCount = Field(default=1, description="the number of choices to return")
    stream: bool = False
    stream_options: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63), _INTEGER] | None = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    darc: dict[str, Any] = Field(default_factory=dict)


class ScorerScale(Body):
    """What is known of a scorer: the scale for `normalize: fixed`, and its bounds."""

    name: str
    location: Score | None = None
    scale: Annotated[float, Field(ge=1 / _MAX_SCORE, le=_MAX_SCORE)] | None = None
    bounds: Annotated[list[Score | None], Field(min_length=2, max_length=2, fail_fast=True)] = [
        None,
        None,
    ]


class SelectScores(Body):
    """A choice by scores of the client's own."""

    scores: _Candidates | _Scorers = Field(
        description="(K, n) or (M, K, n): scorer, candidate, sample; null where there is none"
    )
    scorers: Annotated[list[ScorerScale], Field(max_length=MAX_ITEMS, fail_fast=True)] = Field(
        default_factory=list, description="the M scorers"
    )
    raters: _Names = Field(default_factory=list, description="the names of the n raters")
    rater_groups: dict[
        Annotated[str, Field(max_length=MAX_NAME_LENGTH)],
        Annotated[str, Field(max_length=MAX_NAME_LENGTH)],
    ] = Field(
        default_factory=dict,
        max_length=MAX_ITEMS,
        description="the group of each rater, by the rater's name, for the rules about groups",
    )
    sample: SampleKind | None = Field(
        default=None,
        description="what the n scores of a candidate are: people's ratings, or scores of rewrites "
        "of it; by default of rewrites if scorers are described and raters are not",
    )
    judged: bool = Field(
        default=False,
        description="whether the raters are judge models, whose severity and noise are no opinion",
    )
    orders: Annotated[
        list[Annotated[int, Field(ge=0, le=1)]], Field(max_length=MAX_ITEMS, fail_fast=True)
    ] = Field(
        default_factory=list,
        description="in which of two orders each of the n raters of a panel saw the answers",
    )
    grades: _Grades = Field(
        default_factory=list,
        description="(criteria, K, n, repeats): all grades, where a rater of a panel gave several; "
        "scores has their means",
    )
    names: Annotated[
        list[Annotated[str, Field(max_length=MAX_NAME_LENGTH)]],
        Field(max_length=MAX_ITEMS, fail_fast=True),
    ] = Field(default_factory=list, description="what the explanation calls the K candidates")
    side: dict[str, list[Any]] = Field(
        default_factory=dict, description="what some rules need besides, such as log_likelihood (K)"
    )
    prompt_id: str = Field(default="", description="rules that draw at random are seeded by it")
    min_samples: Annotated[int, Field(ge=1), _INTEGER] | None = Field(
        default=None, description="candidates with fewer samples cannot be chosen"
    )
    darc: dict[str, Any] = Field(default_factory=dict)

    @property
    def sample_kind(self) -> SampleKind:
        """What one score is: a person's rating, or the score of a rewrite."""
        if self.sample is not None:
            return self.sample
        if self.scorers and not self.raters:
            return "rewrite"
        return "rater"


class SelectTexts(Body):
    """A choice among texts of the client's own."""

    candidates: Annotated[list[str], Field(min_length=1, fail_fast=True)]
    model: str = ""
    n: _ChoiceCount = Field(default=1, description="the number of choices to return")
    darc: dict[str, Any] = Field(default_factory=dict)


class SelectAnswers(SelectTexts):
    """A choice among answers to a prompt."""

    prompt: str


class SelectReplies(SelectTexts):
    """A choice among replies to a conversation."""

    messages: _Messages


class _Response(BaseModel):
    """A response; it has further fields besides those listed."""

    model_config = ConfigDict(extra="allow")


class DarcResult(_Response):
    """How an answer was chosen."""

    request_id: str
    rule: str | None = Field(description="the rule that decided")
    flags: list[str] = Field(description="everything that did not go as planned")
    explanation: str = Field(default="", description="the decision in words")
    index: int = Field(default=0, description="the chosen candidate")
    held: bool = Field(
        default=False, description="whether none of the answers is good, or not surely so"
    )
    certainty: dict[str, Any] | None = Field(
        default=None,
        description="how sure the choice is: what its average is expected to be with many more "
        "raters (expected_mean, low, high), the probability that no other answer is clearly "
        "better, the expected regret, and the same in words",
    )


class ChatResponse(_Response):
    """A chat completion as OpenAI's clients read it."""

    id: str
    object: str = "chat.completion"
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, Any]
    darc: DarcResult | None = Field(default=None, description="if the request asks for metadata")


class SelectResponse(DarcResult):
    """The chosen one of a client's own candidates."""

    answer: str | None = Field(default=None, description="the chosen text, if texts were given")


class ErrorDetail(Body):
    """What is wrong."""

    message: str
    type: str
    param: str | None = Field(description="the path of the field that is wrong")
    code: str | None


class ErrorBody(Body):
    """An error in OpenAI's shape."""

    error: ErrorDetail
