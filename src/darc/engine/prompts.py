"""Prompts and candidates from what users give: texts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from darc.errors import DarcError, InputError
from darc.models.completion import without_thoughts
from darc.types import Candidate, Message, Prompt

FEWER = "fewer_candidates"
# Texts or candidates in order, or texts by their names.
Answers = Sequence[str | Candidate] | Mapping[str, str]


def as_prompt(prompt: str | Prompt, name: str = "question") -> Prompt:
    """A prompt; a text becomes one of a single message."""
    if isinstance(prompt, Prompt):
        return prompt
    if not prompt.strip():
        raise InputError("there is no question", "such as: Why is the sky blue?")
    return Prompt(name, (Message("user", prompt.strip()),))


def as_candidates(prompt: Prompt, answers: Answers) -> list[Candidate]:
    """Candidates; texts are numbered in their order."""
    if not answers:
        raise InputError("there are no answers to choose from", "give at least one")
    if isinstance(answers, Mapping):
        answers = [Candidate(prompt.id, 0, text, name=name) for name, text in answers.items()]
    made = [
        answer if isinstance(answer, Candidate) else Candidate(prompt.id, index, answer)
        for index, answer in enumerate(answers)
    ]
    said = [spoken(each) for each in made]
    if None in said:
        where = f"answer {said.index(None) + 1}"
        raise InputError(f"{where} is a thought (<think>) that never ends", "leave it out")
    return numbered(said)


def spoken(candidate: Candidate) -> Candidate | None:
    """The candidate without what its model thought aloud; None where that never ends."""
    text = without_thoughts(candidate.text)
    return None if text is None else replace(candidate, text=text)


def numbered(made: Sequence[Candidate | None]) -> list[Candidate]:
    """The candidates that there are, numbered in their order; there must be one."""
    there = [each for each in made if each is not None]
    if not there:
        raise DarcError("no answer came to the end of its thoughts", "allow it more --max-tokens")
    return [replace(each, index=index) for index, each in enumerate(there)]
