import pytest

pytest.importorskip("starlette")

from starlette.responses import Response
from tests.web.middleware.asgi import answer_ok, request

from darc.web.middleware.security_headers import SecurityHeadersMiddleware


def test_responses_get_headers_for_browsers() -> None:
    headers = request(SecurityHeadersMiddleware(answer_ok)).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    assert not any(name.startswith("access-control") for name in headers)


def test_headers_of_the_response_itself_stay() -> None:
    app = SecurityHeadersMiddleware(Response(b"", headers={"Cache-Control": "max-age=300"}))
    headers = request(app).headers
    assert headers["cache-control"] == "max-age=300"
    assert headers["x-frame-options"] == "DENY"
