"""What `darc check` rests on; what it says is tested with the command."""

import asyncio

import pytest
from tests.fakes import FakeServer, Fault

from darc.models.remote.chat_check import check_chat
from darc.models.remote.meter import CURRENT_METER, Meter


def test_redirect_takes_no_key_elsewhere(
    openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with FakeServer() as other:
        moved = Fault("status", 307, "over there", {"Location": f"{other.url}/v1/models"})
        openai_server.faults = [moved, moved]
        report = asyncio.run(check_chat(openai_server.url, "m"))
        assert other.paths == []
    assert report.problem
    assert [one.result for one in report.findings if one.what == "models"] == [
        "not listed (307): over there"
    ]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("hang"), "did not answer within 0.3 s"),
        (Fault("flood-half", content=b"x" * 10, times=1), "broke off"),
        (Fault("reset"), "cannot be reached"),
    ],
)
def test_what_ends_a_call(openai_server: FakeServer, fault: Fault, told: str) -> None:
    openai_server.faults = [fault]
    report = asyncio.run(check_chat(openai_server.url, timeout=0.3))
    assert told in report.problem
    assert not report.reachable
    assert len(openai_server.paths) == 1


def test_counts_are_its_own(openai_server: FakeServer) -> None:
    other = Meter()
    token = CURRENT_METER.set(other)
    try:
        report = asyncio.run(check_chat(openai_server.url))
        assert CURRENT_METER.get() is not None
    finally:
        CURRENT_METER.reset(token)
    assert other.calls == 0
    assert report.calls == len(openai_server.paths)
    assert report.tokens > 0
