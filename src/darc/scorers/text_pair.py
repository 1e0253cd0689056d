"""A prompt as one text, for scorers that take two."""

from darc.types import Prompt


def conversation(prompt: Prompt) -> str:
    """The only message of a prompt, or all of them, each with its role before it."""
    if len(prompt.messages) == 1:
        return prompt.messages[0].content
    return "\n\n".join(f"{m.role.capitalize()}: {m.content}" for m in prompt.messages)
