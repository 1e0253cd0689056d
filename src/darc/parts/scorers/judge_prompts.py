"""The conversations in which a judging model is asked for grades.

The texts to be judged stand between markers that they cannot close.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from darc.language.data_files import read_toml
from darc.types import Message, Prompt

SOURCES = ("judge_prompts.py", "judge.toml", "../../language/data_files.py")
_INSTRUCTIONS = read_toml(Path(__file__).with_name("judge.toml"))
#: What a model is told that did not reply with a number.
ASK_AGAIN: str = _INSTRUCTIONS["again"]
_CODE_LENGTH = 16
# What chat templates use to begin or end a turn.
_CONTROL_TOKEN = re.compile(
    r"<(?=\|)|(?<=\|)>|<(?=\uff5c)|(?<=\uff5c)>|<(?=/?s>)|<(?=(?:start|end)_of_turn>)|\[(?=/?INST\])",
    re.IGNORECASE,
)


def rating_messages(
    prompt: Prompt, answer: str, view: str = "", criteria: Sequence[str] = ()
) -> tuple[Message, ...]:
    """Write the conversation that asks for the grade of an answer.

    Args:
        prompt: The conversation that the answer belongs to.
        answer: The answer.
        view: The description of the reader to grade for; a careful reader if empty.
        criteria: The criteria to grade by; one overall grade if empty.

    Returns:
        A system and a user message.
    """
    reader = _INSTRUCTIONS["careful"]
    if view:
        reader = _INSTRUCTIONS["particular"].format(view=view.strip())
    number = "one whole number"
    question = _INSTRUCTIONS["ask_number"]
    if criteria:
        number = "one whole number for each criterion"
        question = _INSTRUCTIONS["ask_numbers"]
    instructions = _INSTRUCTIONS["rate"].format(
        whose=reader, number=number, form=reply_instructions(criteria)
    )
    material = delimit({"CONVERSATION": _conversation(prompt), "ANSWER": answer})
    return Message("system", instructions), Message("user", f"{material}\n\n{question}")


def reply_instructions(criteria: Sequence[str]) -> str:
    """Say how the grades are to be written, by the criteria."""
    if not criteria:
        return str(_INSTRUCTIONS["reply_number"])
    lines = [f"{name}: NUMBER" for name in criteria]
    return "\n".join([_INSTRUCTIONS["reply_lines"], *lines])


def comparison_messages(prompt: Prompt, first: str, second: str) -> tuple[Message, ...]:
    """Write the conversation that asks which of two answers is better.

    Args:
        prompt: The conversation that the answers belong to.
        first: Answer A.
        second: Answer B.

    Returns:
        A system and a user message.
    """
    material = delimit(
        {"CONVERSATION": _conversation(prompt), "ANSWER A": first, "ANSWER B": second}
    )
    question = f"{material}\n\n{_INSTRUCTIONS['ask_letter']}"
    return Message("system", _INSTRUCTIONS["compare"]), Message("user", question)


def delimit(texts: dict[str, str]) -> str:
    """Put texts between marker lines that none of them can contain.

    The code in the markers is a hash of all texts, so that whoever writes a text would have to know
    the hash of what they write. If a text contains it all the same, another code is taken. The same
    texts get the same code.

    Args:
        texts: The texts by their names, which the markers show.

    Returns:
        One text; control tokens of chat templates in it are broken up.
    """
    safe_texts = {name: break_control_tokens(text) for name, text in texts.items()}
    all_texts = "\0".join(safe_texts.values())
    code = _hash_code(all_texts)
    while code in all_texts:
        code = _hash_code(code)
    blocks = [
        f"[BEGIN {name} {code}]\n{text}\n[END {name} {code}]" for name, text in safe_texts.items()
    ]
    return "\n\n".join(blocks)


def _hash_code(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_CODE_LENGTH]


def break_control_tokens(text: str) -> str:
    """Put spaces into what a chat template could take for the end of a turn."""
    return _CONTROL_TOKEN.sub(lambda match: f" {match[0]} ", text)


def _conversation(prompt: Prompt) -> str:
    turns = [f"{message.role}: {message.content}" for message in prompt.messages]
    return "\n\n".join(turns)
