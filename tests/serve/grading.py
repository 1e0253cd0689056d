"""A fake backend that writes numbered answers, and grades them for any panel."""

import json
from typing import Any

from tests.engine.test_panel_samples import ANSWERS, answers_of, is_list
from tests.fakes import FakeServer


def make_grading(server: FakeServer) -> FakeServer:
    """Have a fake backend grade: answer number 3 gets 3 of 10, and so on."""
    server.ignores |= {"logprobs"}
    server.reply = _reply
    return server


def _reply(body: dict[str, Any], index: int) -> str:
    if "grade answers" not in body["messages"][0]["content"]:
        return ANSWERS[index % len(ANSWERS)]
    grades = answers_of(body)
    if is_list(body):
        return json.dumps({"grades": grades})
    return str(grades[0])
