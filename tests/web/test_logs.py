import io
import json
import logging

import pytest

from darc.web.logs import JsonFormatter, log_as_json


def test_record_is_one_json_line() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("darc.test_logs")
    logger.addHandler(handler)
    try:
        logger.warning("two\nlines", extra={"fields": {"request_id": "r1"}})
    finally:
        logger.removeHandler(handler)
    (line,) = stream.getvalue().splitlines()
    row = json.loads(line)
    assert (row["message"], row["request_id"], row["level"]) == ("two\nlines", "r1", "warning")


def test_fields_and_known_keys_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIN", "correct horse")
    monkeypatch.setenv("JUDGE_API_KEY", "battery.staple")
    monkeypatch.setenv("SHORT_KEY", "none")
    stream = io.StringIO()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    log_as_json("info", stream, key_env="PLAIN")
    try:
        inner = {"list": ["sk-live12345", 5, None], "other": ValueError("battery.staple")}
        fields = {"client": "correct horse", "inner": inner, "sure": True, "word": "none"}
        logging.getLogger("darc.test_logs").info("correct horse", extra={"fields": fields})
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
    row = json.loads(stream.getvalue())
    assert (row["message"], row["client"], row["sure"], row["word"]) == ("***", "***", True, "none")
    assert row["inner"] == {"list": ["***", 5, None], "other": "***"}
