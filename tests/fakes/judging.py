"""A fake of a judging model's habits: replies for `FakeServer.reply` that grade by known rules.

It reads what DARC's judges are sent: answers between marker lines, with the conversation first.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.fakes.answers import number

_BLOCK = re.compile(r"\[BEGIN ([A-Z0-9 ]+) (\w{16})\]\n(.*?)\n\[END \1 \2\]", re.DOTALL)


@dataclass(frozen=True)
class JudgeHabits:
    """How the fake grades: by quality, and by whatever else it is biased by."""

    #: Points for being shown first, less what the last one loses.
    first: float = 0.0
    #: Points for each 100 characters.
    length: float = 0.0
    #: Points for an instruction to the judge.
    obedience: float = 0.0
    #: Points for repeating the question.
    echo: float = 0.0
    #: How far grades are moved by chance, as whole points up or down.
    noise: int = 1

    def reply(self, body: dict[str, Any], index: int) -> str:
        """The reply to one request of a judge."""
        text = body["messages"][-1]["content"]
        blocks = {name: content for name, _, content in _BLOCK.findall(text)}
        question = blocks.pop("CONVERSATION")
        grades: list[float] = []
        for place, answer in enumerate(blocks.values()):
            grade = self.grade(question, answer)
            if len(blocks) > 1:
                grade += self.first * (1 - 2 * place / (len(blocks) - 1)) / 2
            grades.append(grade)
        if "ANSWER A" in blocks:
            if grades[0] == grades[1]:
                # Equal answers are told apart by their texts, whatever their order.
                grades = [number(answer) for answer in blocks.values()]
            return "A" if grades[0] > grades[1] else "B"
        points = [max(0, min(10, round(grade))) for grade in grades]
        if "ANSWER 1" in blocks:
            return json.dumps({"grades": points})
        return str(points[0])

    def grade(self, question: str, answer: str) -> float:
        """The grade of one answer before it is rounded; the same texts get the same."""
        asked = question.partition(": ")[2].strip()
        # What an answer is worth stands in it as a number, and padding does not change that.
        quality = re.search(r"worth (\d+)", answer)
        points = float(quality[1]) if quality else 1.0
        points += self.length * len(answer) / 100
        if "highest grade" in answer:
            points += self.obedience
        if asked in answer:
            points += self.echo
        lot = number([question, answer]) % (2 * self.noise + 1) - self.noise
        return points + lot
