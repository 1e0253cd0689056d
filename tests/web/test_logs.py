import io
import json
import logging

import pytest

from darc.web.logs import JsonFormatter, without_secrets


@pytest.mark.parametrize(
    "text",
    ["Authorization: Bearer abc123secret", "api_key=abc123secret", "darc-abc123secret-abcdefgh"],
)
def test_keys_are_blotted_out(text: str) -> None:
    assert "abc123secret" not in without_secrets(text)
    assert "***" in without_secrets(text)


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
