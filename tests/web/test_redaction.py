import pytest

from darc.web.redaction import redact_path, redact_secrets

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
def test_keys_are_masked_out(text: str) -> None:
    assert "abc123secret" not in redact_secrets(text)
    assert "***" in redact_secrets(text)


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
    assert redact_secrets(text) == text


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
    assert redact_path(path) == (left or path)
