import pytest

from darc.errors import InputError
from darc.models.remote.address import base_url, parse_address


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("https://h/openai/v1", "https://h/openai/v1"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai"),
        ("https://h/proxy", "https://h/proxy/v1"),
    ],
)
def test_forms_of_a_url(given: str, base: str) -> None:
    assert base_url(given) == base


def test_model_and_url() -> None:
    assert parse_address("org/m@2@http://h/v1") == ("org/m@2", "http://h/v1")
    assert parse_address("m@https://h") == ("m", "https://h/v1")


def test_openais_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert parse_address("gpt-4o") == ("gpt-4o", "https://api.openai.com/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert parse_address("m") == ("m", "http://localhost:1/v1")
    assert parse_address("m@http://h") == ("m", "http://h/v1")


def test_several_urls() -> None:
    found = parse_address("m@http://a:1|https://b/v1/")
    assert found == ("m", "http://a:1/v1|https://b/v1")


@pytest.mark.parametrize(
    "wrong",
    ["m@http://a|", "m@http://a|b", "", "m", "m@h", "@http://h", "m@http://", "m@http://h:port"],
)
def test_what_is_no_address(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="write"):
        parse_address(wrong)


def test_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(InputError, match="key_env") as caught:
        parse_address("m@http://me:hidden@h/v1")
    assert "hidden" not in str(caught.value)
