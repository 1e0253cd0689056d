"""Prompts and candidates from what users give: texts."""

from collections.abc import Sequence

from darc.errors import InputError
from darc.types import Candidate, Message, Prompt


def as_prompt(prompt: str | Prompt, name: str = "question") -> Prompt:
    """A prompt; a text becomes one of a single message."""
    if isinstance(prompt, Prompt):
        return prompt
    if not prompt.strip():
        raise InputError("there is no question", "such as: Why is the sky blue?")
    return Prompt(name, (Message("user", prompt.strip()),))


def as_candidates(prompt: Prompt, answers: Sequence[str | Candidate]) -> list[Candidate]:
    """Candidates; texts are numbered in their order."""
    if not answers:
        raise InputError("there are no answers to choose from", "give at least one")
    return [
        answer if isinstance(answer, Candidate) else Candidate(prompt.id, index, answer)
        for index, answer in enumerate(answers)
    ]
