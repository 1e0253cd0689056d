import pytest

from darc.models.remote.bodies import error_message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error": {"message": "a\\n b"}}', "a b"),
        ('{"error": "a"}', "a"),
        ('{"message": "a"}', "a"),
        ('{"detail": [{"loc": ["body", "n"], "msg": "at most 1"}]}', "body.n: at most 1"),
        ("<html>oops", "a page that is not meant for programs"),
        ("<!DOCTYPE html>\n<title>502 Bad\nGateway &amp; co</title>", "502 Bad Gateway & co"),
        ("[" * 100_000, "[" * 297 + "..."),
        ("[]", "[]"),
        ("", ""),
    ],
)
def test_message_of_a_server(body: str, message: str) -> None:
    assert error_message(body) == message
    assert len(error_message("x" * 999)) == 300
