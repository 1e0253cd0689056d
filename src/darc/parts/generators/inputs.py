"""Prompts and candidates as users give them or models write them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from darc.errors import DarcError, InputError
from darc.models.completion import strip_reasoning
from darc.types import Candidate, Message, Prompt

# Texts or candidates in order, or texts by their names.
Answers = Sequence[str | Candidate] | Mapping[str, str]


def as_prompt(prompt: str | Prompt, name: str = "question") -> Prompt:
    """Make a prompt of what a user gave.

    Args:
        prompt: A prompt, or the text of its only message.
        name: The id of a prompt made of a text.

    Returns:
        The prompt.

    Raises:
        InputError: If the text is empty.
    """
    if isinstance(prompt, Prompt):
        return prompt
    if not prompt.strip():
        raise InputError("there is no question", "such as: Why is the sky blue?")
    return Prompt(name, (Message("user", prompt.strip()),))


def as_candidates(prompt: Prompt, answers: Answers) -> list[Candidate]:
    """Make candidates of what a user gave, without reasoning text.

    Args:
        prompt: The prompt that they answer.
        answers: Texts, texts by their names, or candidates.

    Returns:
        The candidates, numbered in their order.

    Raises:
        InputError: If there are no answers, or the reasoning of one never ends.
    """
    if not answers:
        raise InputError("there are no answers to choose from", "give at least one")
    if isinstance(answers, Mapping):
        candidates = [Candidate(prompt.id, 0, text, name=name) for name, text in answers.items()]
    else:
        candidates = [_as_candidate(prompt, answer) for answer in answers]
    stripped = [strip_thoughts(candidate) for candidate in candidates]
    if None in stripped:
        number = stripped.index(None) + 1
        raise InputError(f"answer {number} is a thought (<think>) that never ends", "leave it out")
    return drop_failed(stripped)


def _as_candidate(prompt: Prompt, answer: str | Candidate) -> Candidate:
    if isinstance(answer, Candidate):
        return answer
    return Candidate(prompt.id, 0, answer)


def strip_thoughts(candidate: Candidate) -> Candidate | None:
    """Remove the reasoning text of a candidate.

    Returns:
        The candidate without it, or None if the reasoning never ends.
    """
    if "think>" not in candidate.text:
        return candidate
    text = strip_reasoning(candidate.text)
    if text is None:
        return None
    return replace(candidate, text=text)


def drop_failed(candidates: Sequence[Candidate | None]) -> list[Candidate]:
    """Leave out the candidates whose reasoning never ended.

    Args:
        candidates: Candidates, with None in the place of those that failed.

    Returns:
        The other candidates, numbered in their order.

    Raises:
        DarcError: If all of them failed.
    """
    remaining = [candidate for candidate in candidates if candidate is not None]
    if not remaining:
        raise DarcError("no answer came to the end of its thoughts", "allow it more --max-tokens")
    return [replace(candidate, index=index) for index, candidate in enumerate(remaining)]
