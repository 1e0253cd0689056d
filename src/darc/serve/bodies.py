"""The bodies of requests as models, with the types and bounds of their fields."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from darc.decide.method import Normalize
from darc.decide.search.lazy import SearchMode
from darc.decide.standards import parse_scale
from darc.errors import DarcError
from darc.settings.serve import Policy, WhenHeld

LONGEST_NAME = 80
MOST_CHOICES = 128
MOST_BUDGET = 10**12
# JSON does not tell 2.0 from 2.
WHOLE = BeforeValidator(lambda x: int(x) if isinstance(x, float) and x.is_integer() else x)
# So that neither sums nor squares of scores on any scale overflow.
LARGEST = 1e12
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Samples = Annotated[
    list[Number | None], Field(min_length=1, json_schema_extra={"contains": {"type": "number"}})
]
Rows = Annotated[list[Samples], Field(min_length=1)]
Aversion = Annotated[float, Field(ge=0, lt=1e12)]
NoRatingBelow = Annotated[
    Number | None, Field(description="choose only among answers all of whose ratings reach this")
]
Threshold = Annotated[
    Number | None, Field(description="people who rate an answer below this are unhappy with it")
]
PoorBelow = Annotated[
    Number | None, Field(description="an answer whose mean rating is below this is not good")
]
SampleKind = Literal["rater", "rewrite"]
Wave = Annotated[int, Field(ge=1, le=10_000), WHOLE]
Stop = Annotated[str, Field(json_schema_extra={"enum": ["none", "pandora", "pandora:cost=0.05"]})]


def read_scale(value: Any) -> tuple[float, float]:
    """The two ends of a scale, given as a list of two numbers or a text such as "1-5"."""
    try:
        low, high = parse_scale(value)
    except (DarcError, TypeError, ValueError, OverflowError):
        low = high = 0.0
    if not -LARGEST <= low < high <= LARGEST:
        raise PydanticCustomError(
            "rating_scale", 'should be two numbers, the lower one first, such as [1, 5] or "1-5"'
        )
    return low, high


# That the second number must be larger is nothing that a schema could say, so it names examples.
RatingScale = Annotated[
    tuple[float, float],
    BeforeValidator(read_scale),
    WithJsonSchema(
        {
            "enum": ["1-5", "0-10", "0-100", [0, 1], [1, 5], [1, 7]],
            "description": "the lowest and the highest rating: any two numbers that rise",
        }
    ),
]


class Body(BaseModel):
    """Part of a request; a key that there is not is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Budget(Body):
    """What a choice may cost: texts scored, and milliseconds from the request to the answer.

    `upstream_calls` and `upstream_tokens` are those of all models, retries included; 0 leaves
    them to the gateway's own limits.
    """

    calls: Annotated[int, Field(ge=0, lt=MOST_BUDGET), WHOLE] | None = None
    milliseconds: Annotated[float, Field(ge=0, lt=MOST_BUDGET)] | None = None
    upstream_calls: Annotated[int, Field(ge=0, lt=MOST_BUDGET), WHOLE] | None = None
    upstream_tokens: Annotated[int, Field(ge=0, lt=MOST_BUDGET), WHOLE] | None = None


class Options(Body):
    """The `darc` object but for the parameters of its rule."""

    rule: Annotated[str, Field(max_length=10 * LONGEST_NAME)] = ""
    k: Annotated[int, Field(ge=1), WHOLE] = 1
    n_aug: Annotated[int, Field(ge=0), WHOLE] = 0
    include_original: bool = True
    beta: Aversion = 1.0
    gamma: Aversion = 1.0
    normalize: Normalize = "auto"
    policy: Policy = "open"
    budget: Budget = Budget()
    metadata: Annotated[
        Literal["", "short", "full"],
        BeforeValidator(lambda x: {True: "short", False: ""}[x] if isinstance(x, bool) else x),
        WithJsonSchema({"enum": [True, False, "short", "full"]}),
    ] = ""
    full: bool = False
    search: SearchMode = "exact"
    wave: Wave = 16
    stop: Stop = "none"
    no_rating_below: NoRatingBelow = None
    threshold: Threshold = None
    poor_below: PoorBelow = None
    scale: RatingScale | None = None
    when_held: WhenHeld = "flag"

    @property
    def closed(self) -> bool:
        """Whether a part that fails is an error."""
        return self.policy == "closed"


class ChatMessage(Body):
    """A turn of a conversation; parts that are no text go to the backend unchanged."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[dict[str, Any]] | None = None


Messages = Annotated[list[ChatMessage], Field(min_length=1)]


class ChatBody(Body):
    """What is read here of a chat completion; all other fields go to the backend as they are."""

    model_config = ConfigDict(extra="allow")

    messages: Messages
    model: Annotated[str, Field(description="a model, or darc-RULE/MODEL")] = ""
    n: Annotated[int, Field(ge=1, le=MOST_CHOICES), WHOLE] = 1
    stream: bool = False
    stream_options: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63), WHOLE] | None = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    darc: dict[str, Any] = Field(default_factory=dict)


class ScorerScale(Body):
    """What is known of a scorer: the scale that `normalize: fixed` uses, and its bounds."""

    name: str
    location: Number | None = None
    scale: Annotated[float, Field(ge=1 / LARGEST, le=LARGEST)] | None = None
    bounds: Annotated[list[Number | None], Field(min_length=2, max_length=2)] = [None, None]


class SelectScores(Body):
    """Scores to choose by: (K, n) or (M, K, n), null where there is none.

    `scorers` describes the M scorers and `side` has what some rules take besides, such as
    log_likelihood (K). A rule that draws does so by `prompt_id`. `sample` says what the n scores of
    a candidate are: ratings by people ("rater"), whom `raters` names, or scores of rewrites of it
    ("rewrite"), which tell of its wording only. Without it scores of described scorers are of
    rewrites, and all others ratings. `names` are what words call the candidates.
    """

    scores: Rows | Annotated[list[Rows], Field(min_length=1)]
    scorers: list[ScorerScale] = Field(default_factory=list)
    raters: list[str] = Field(default_factory=list)
    sample: SampleKind | None = None
    names: list[Annotated[str, Field(max_length=LONGEST_NAME)]] = Field(default_factory=list)
    side: dict[str, list[Any]] = Field(default_factory=dict)
    prompt_id: str = ""
    min_samples: Annotated[int, Field(ge=1), WHOLE] | None = None
    darc: dict[str, Any] = Field(default_factory=dict)

    @property
    def sample_kind(self) -> SampleKind:
        """What one score is: a person's rating, or the score of a rewrite."""
        if self.sample is not None:
            return self.sample
        return "rewrite" if self.scorers and not self.raters else "rater"


class SelectTexts(Body):
    """Candidates of the client's own."""

    candidates: Annotated[list[str], Field(min_length=1)]
    model: str = ""
    n: Annotated[int, Field(ge=1, le=MOST_CHOICES), WHOLE] = 1
    darc: dict[str, Any] = Field(default_factory=dict)


class SelectAnswers(SelectTexts):
    """Answers to a prompt."""

    prompt: str


class SelectReplies(SelectTexts):
    """Replies to a conversation."""

    messages: Messages
