import pytest

pytest.importorskip("starlette")

from tests.web.middleware.asgi import answer_ok, request

from darc.web.keys import Key, Keys, hash_token
from darc.web.middleware.client import Client, ClientMiddleware
from darc.web.problems import Problem
from darc.web.trusted_proxies import TrustedProxies

KEYS = Keys([Key(name="alice", sha256=hash_token("token"), rate=5, active=2)])


def test_the_owner_of_a_key_is_the_client() -> None:
    app = ClientMiddleware(answer_ok, KEYS, TrustedProxies())
    response = request(app, headers={"authorization": "bearer token"})
    assert response.scope["state"]["client"] == Client("alice", 5, 2)


@pytest.mark.parametrize("value", ["", "Bearer wrong", "Basic token", "token"])
def test_a_missing_or_wrong_key_is_a_401(value: str) -> None:
    app = ClientMiddleware(answer_ok, KEYS, TrustedProxies(), ["/healthz"])
    with pytest.raises(Problem) as caught:
        request(app, headers={"authorization": value})
    assert (caught.value.status, caught.value.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert request(app, "/healthz").status == 200


def test_without_keys_the_client_is_an_address() -> None:
    app = ClientMiddleware(answer_ok, Keys(), TrustedProxies.parse(["192.0.2.0/24"]))
    assert request(app).scope["state"]["client"].name == "address 192.0.2.1"
    forwarded = request(app, headers={"x-forwarded-for": "203.0.113.7"})
    assert forwarded.scope["state"]["client"].name == "address 203.0.113.7"
