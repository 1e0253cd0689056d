import io
import json
import logging

import pytest

from darc.errors import DarcError, InputError
from darc.web.server import (
    JsonFormatter,
    check_address,
    is_loopback,
    listening,
    log_as_json,
    path_without_secrets,
    without_secrets,
)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_no_key(host: str) -> None:
    assert is_loopback(host)
    check_address(host, keyed=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com", ""])
def test_public_address_needs_one(host: str) -> None:
    with pytest.raises(InputError, match="no API keys"):
        check_address(host, keyed=False)
    check_address(host, keyed=True)


def test_port_in_use_is_told() -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DarcError, match="cannot be served"):
            listening("127.0.0.1", port)


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(DarcError, match="99999 cannot be served on"):
        listening("127.0.0.1", 99_999)


TOKEN = "Zm9vYmFyabc123secret-0123_456789ABCdefghijk"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc123secret",
        "api_key=abc123secret",
        "darc-abc123secret-abcdefgh",
        "sk-abc123secret",
        "postgresql://study:abc123secret@db.example/study",
        f"the token {TOKEN} is wrong",
    ],
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


@pytest.mark.parametrize(
    "text",
    [
        "darc-epsilon/MODEL",
        "request 0123456789abcdef0123456789abcdef",
        "disk-encryption-at-rest",
        "test_a_very_long_name_of_a_function_in_a_traceback_2",
        "http://127.0.0.1:8000/v1",
    ],
)
def test_what_is_no_key_is_left(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/v1/fine_tuning/jobs/a-long-word-without-any-digit", None),
        ("/v1/sk-live12345/x", "/v1/***/x"),
        (f"/rate/join/{TOKEN}.", "/rate/join/***."),
        ("/v1/" + "0123abcd" * 4, "/v1/***"),
        ("/v1/files/file-Abcdefghijklmnopq", "/v1/files/***"),
    ],
)
def test_paths_have_no_tokens(path: str, left: str | None) -> None:
    assert path_without_secrets(path) == (left or path)


def test_fields_and_known_keys_are_blotted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIN", "correct horse")
    monkeypatch.setenv("JUDGE_API_KEY", "battery.staple")
    monkeypatch.setenv("SHORT_KEY", "none")
    stream, handlers, level = io.StringIO(), logging.root.handlers[:], logging.root.level
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
