"""The conversations in which a judging model is asked for grades.

The texts to be judged stand between markers that they cannot close.
"""

import hashlib
import json
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
    r"<(?=\|)|(?<=\|)>|<(?=\uff5c)|(?<=\uff5c)>|<(?=/?s>)|<(?=(?:start|end)_of_turn>)|\[(?=/?INST\])"
    r"|\[(?=/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS)\])|<(?=</?SYS>>)|<(?=extra_id_\d+>)"
    r"|<(?=/?seed:\w+>)|\](?=[~!][bpd]\[?\]?)|<(?=(?:eoh|eoa|eot|eos|bos|eom)>)|<(?=reserved_\d+>)",
    re.IGNORECASE,
)
# A line that looks like one of the markers around texts.
_MARKER = re.compile(r"\[(?=[^\S\n]*(?:BEGIN|END)\b)", re.IGNORECASE)


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


def list_messages(
    prompt: Prompt, answers: Sequence[str], view: str, names: Sequence[str]
) -> tuple[Message, ...]:
    """Write the conversation that asks for the grades of several answers.

    The material comes first and the reader last, so that a server that keeps the beginnings of
    conversations reads the answers once for all readers.

    Args:
        prompt: The conversation that the answers belong to.
        answers: The answers, in the order in which they are shown.
        view: The description of the reader to grade for; a careful reader if empty.
        names: The names of the lists of grades in the reply: the criteria, or one name.

    Returns:
        A system and a user message.
    """
    texts = {"CONVERSATION": _conversation(prompt)}
    for number, answer in enumerate(answers, start=1):
        texts[f"ANSWER {number}"] = answer
    reader = _INSTRUCTIONS["careful_list"]
    if view:
        reader = _INSTRUCTIONS["particular_list"].format(view=view.strip())
    form = list_instructions(names, len(answers))
    task = _INSTRUCTIONS["ask_list"].strip()
    question = "\n\n".join([delimit(texts), reader.strip(), task, form])
    return Message("system", _INSTRUCTIONS["rate_list"]), Message("user", question)


def list_instructions(names: Sequence[str], count: int) -> str:
    """Say how the grades of several answers are to be written."""
    # Small models keep to the order only if each place of the list is named.
    places = ", ".join(f"grade of ANSWER {number}" for number in range(1, count + 1))
    lists = ", ".join(f"{json.dumps(name)}: [{places}]" for name in names)
    form = f"{{{lists}}}"
    return str(_INSTRUCTIONS["reply_list"]).strip().format(form=form, count=count)


def comparison_messages(
    prompt: Prompt, first: str, second: str, view: str = ""
) -> tuple[Message, ...]:
    """Write the conversation that asks which of two answers is better.

    Args:
        prompt: The conversation that the answers belong to.
        first: Answer A.
        second: Answer B.
        view: The description of the reader to decide for; a careful reader if empty.

    Returns:
        A system and a user message.
    """
    material = delimit(
        {"CONVERSATION": _conversation(prompt), "ANSWER A": first, "ANSWER B": second}
    )
    reader = ""
    if view:
        reader = _INSTRUCTIONS["compare_for"].format(view=view.strip())
    question = f"{material}\n\n{reader}{_INSTRUCTIONS['ask_letter']}"
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
    """Put spaces into what could be taken for the end of a turn, or of the text."""
    text = _MARKER.sub("[ : ", text)
    return _CONTROL_TOKEN.sub(lambda match: f" {match[0]} ", text)


def _conversation(prompt: Prompt) -> str:
    turns = [f"{message.role}: {message.content}" for message in prompt.messages]
    return "\n\n".join(turns)
