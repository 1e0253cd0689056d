import pytest

pytest.importorskip("starlette")

from tests.web.middleware.asgi import answer_ok, request

from darc.web.middleware.request_id import RequestIdMiddleware

APP = RequestIdMiddleware(answer_ok)


def test_a_valid_id_of_the_client_is_kept() -> None:
    response = request(APP, headers={"x-request-id": "mine-1"})
    assert response.headers["x-request-id"] == "mine-1"
    assert response.scope["state"]["request_id"] == "mine-1"


@pytest.mark.parametrize("headers", [{}, {"x-request-id": "a b"}, {"x-request-id": "x" * 81}])
def test_otherwise_it_gets_one(headers: dict[str, str]) -> None:
    response = request(APP, headers=headers)
    assert len(response.headers["x-request-id"]) == 32
    assert response.scope["state"]["request_id"] == response.headers["x-request-id"]
