import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("starlette")

from tests.web.middleware.asgi import answer_ok, request

from darc.web.keys import Key, Keys, hash_token
from darc.web.middleware.stack import Protection, protect

KEYS = Keys([Key(name="alice", sha256=hash_token("token"))])
CROSS_SITE = {"sec-fetch-site": "cross-site"}


def status(protection: Protection, path: str = "/", **options: Any) -> int:
    return request(protect(answer_ok, protection), path, **options).status


def test_every_check_holds() -> None:
    assert status(Protection()) == 200
    assert status(Protection(), headers={"host": "evil.example"}) == 421
    assert status(Protection(), method="TRACE") == 405
    assert status(Protection(), headers=CROSS_SITE) == 403
    assert status(Protection(keys=KEYS)) == 401


def test_other_sites_may_link_to_what_is_public() -> None:
    public = Protection(keys=KEYS, public_paths=["/"])
    assert status(public, headers=CROSS_SITE) == 200
    assert status(public, method="POST", headers=CROSS_SITE) == 403
    assert status(public, "/other", headers=CROSS_SITE) == 403
    assert status(Protection(all_linkable=True), "/other", headers=CROSS_SITE) == 200


def test_errors_have_ids_and_safe_headers_and_are_observed() -> None:
    observed: list[tuple[str, int]] = []
    app = protect(
        answer_ok,
        Protection(keys=KEYS),
        lambda path, status, seconds: observed.append((path, status)),
    )
    response = request(app, "/v1/models")
    assert json.loads(response.body)["error"]["code"] == "invalid_api_key"
    assert response.headers["x-request-id"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert observed == [("/v1/models", 401)]


def test_other_events_pass() -> None:
    events: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        events.append(scope["type"])

    asyncio.run(protect(app, Protection())({"type": "lifespan"}, None, None))
    assert events == ["lifespan"]
