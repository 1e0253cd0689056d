"""Which headers pass between clients and the backend."""

import pytest

from darc.serve.forwarded_headers import request_headers, response_headers


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "api-key"])
def test_keys_of_clients_are_sent_on_only_if_they_are_the_backends(name: str) -> None:
    headers = {name: "secret", "OpenAI-Project": "p"}
    assert request_headers(headers, send_key=False) == {"openai-project": "p"}
    assert request_headers(headers, send_key=True)[name.lower()] == "secret"


def test_a_page_of_the_backend_cannot_run_as_one_of_the_gateway() -> None:
    sent = [
        (b"Content-Type", b"text/html"),
        (b"Content-Security-Policy", b"script-src *"),
        (b"Clear-Site-Data", b'"*"'),
        (b"Refresh", b"0; url=/"),
        (b"X-Frame-Options", b"ALLOWALL"),
        (b"Set-Cookie", b"a=b"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"X-RateLimit-Remaining-Requests", b"3"),
        (b"Content-Disposition", b"inline"),
    ]
    assert dict(response_headers(sent)) == {
        b"content-type": b"text/html",
        b"content-security-policy": b"sandbox; default-src 'none'",
        b"x-content-type-options": b"nosniff",
        b"content-disposition": b"attachment",
        b"x-ratelimit-remaining-requests": b"3",
    }


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream", b"audio/mpeg"])
def test_json_events_and_sound_are_no_downloads(kind: bytes) -> None:
    headers = dict(response_headers([(b"content-type", kind)]))
    assert b"content-disposition" not in headers
