"""The arguments of the tools, from which their JSON schemas are made."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_MOST_ANSWERS = 200
_MOST_RATINGS = 100_000

Text = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class ToolArguments(BaseModel):
    """Arguments of a tool; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MethodArguments(ToolArguments):
    """How a choice is made."""

    # A name only: parameters of a rule may name files.
    rule: str = Field(
        "",
        pattern=r"^\w*$",
        description="name of the rule, such as auto, mean or epsilon (default: the server's rule)",
    )
    caution: str = Field(
        "",
        description="how much average rating to give up for an answer that divides people less: "
        "none, low, medium, high or a number from 0 up (default: the server's caution)",
    )


class AskArguments(MethodArguments):
    """What `ask` takes."""

    question: Text = Field(description="the question that the server's model answers")


class ChooseArguments(MethodArguments):
    """What `choose` takes."""

    question: str = Field("", description="the question that the answers are for")
    answers: list[Text] = Field(
        default_factory=list,
        max_length=_MOST_ANSWERS,
        description="the texts of the answers; the server rates them if there are no ratings",
    )
    ratings: list[Annotated[list[Number | None], Field(max_length=_MOST_RATINGS)]] = Field(
        default_factory=list,
        max_length=_MOST_ANSWERS,
        description="people's ratings: one list per answer, one number per person in the same "
        "order, null where a person did not rate the answer",
    )
    names: list[Text] = Field(
        default_factory=list,
        max_length=_MOST_ANSWERS,
        description="what to call the answers, one name per answer",
    )
    scale: str = Field("", description="the lowest and the highest possible rating, such as 1-5")
    threshold: Number | None = Field(
        None, description="people who rate an answer below this are unhappy with it"
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        """Refuse arguments without answers, and lists that do not match."""
        if not self.answers and not self.ratings:
            raise ValueError("give answers, ratings or both")
        if self.answers and not self.ratings and not self.question:
            raise ValueError("answers without ratings need their question")
        if self.answers and self.ratings and len(self.answers) != len(self.ratings):
            raise ValueError(
                f"there are {len(self.answers)} answers and {len(self.ratings)} lists of ratings"
            )
        count = len(self.answers or self.ratings)
        if self.names and len(self.names) != count:
            raise ValueError(f"there are {len(self.names)} names for {count} answers")
        if len(set(self.names)) != len(self.names):
            raise ValueError("two answers have the same name")
        return self


class SystemRating(ToolArguments):
    """One rating of one system's answer."""

    prompt_id: Text = Field(description="the prompt that was answered")
    system: Text = Field(description="what wrote the answer: a model, a prompt, a team")
    rater_id: str = Field("", description="who rated it")
    rater_group: str = Field("", description="the group of the person who rated it")
    rating: Number


class CompareArguments(ToolArguments):
    """What `compare` takes."""

    ratings: list[SystemRating] = Field(
        default_factory=list, max_length=_MOST_RATINGS, description="the ratings"
    )
    file: str = Field(
        "",
        description="instead of ratings: the path of a file of ratings or of a run folder, inside "
        "a folder that the server allows",
    )
    scale: str = Field("", description="the lowest and the highest possible rating, such as 1-5")
    threshold: Number | None = Field(
        None, description="people who rate an answer below this are unhappy with it"
    )

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        """Refuse two sources, and none."""
        if bool(self.ratings) == bool(self.file):
            raise ValueError("give either ratings or a file")
        return self


class ExplainArguments(ToolArguments):
    """What `explain` takes."""

    decision_id: str = Field("", description="a decision_id that ask or choose has returned")
    run: str = Field("", description="the folder of a run, inside a folder that the server allows")
    prompt_id: str = Field("", description="the id of a prompt of the run")

    @model_validator(mode="after")
    def _check_subject(self) -> Self:
        """Refuse two subjects, none, and a run without a prompt."""
        if bool(self.decision_id) == bool(self.run):
            raise ValueError("give either a decision_id, or a run and a prompt_id")
        if bool(self.run) != bool(self.prompt_id):
            raise ValueError("a run and a prompt_id go together")
        return self
