import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.clock import FakeClock

from darc.errors import MissingExtra
from darc.models.completion import Request
from darc.models.remote.errors import BackendError, Rejected
from darc.models.remote.openai import OpenAIModel
from darc.types import Message

ROOT = Path(__file__).parents[3]


def request(text: str = "Hi", **more: Any) -> Request:
    return Request((Message("user", text),), **more)


def model(server: FakeServer, **options: Any) -> OpenAIModel:
    return OpenAIModel(f"fake@{server.url}", clock=FakeClock().clock, **options)


def test_completions_are_in_order(openai_server: FakeServer) -> None:
    openai_server.latency = 0.01
    told: list[tuple[int, int]] = []
    with model(openai_server, concurrency=5) as remote:
        asked = [request(f"Say {i}", seed=i) for i in range(20)]
        found = remote.complete(asked, lambda done, total: told.append((done, total)))
        assert found == remote.complete(asked)
        assert remote.complete([]) == []
    assert told == [(i, 20) for i in range(1, 21)]
    assert openai_server.busiest == 5
    assert len({one.text for one in found}) > 10
    for one in found:
        assert one.tokens == len(one.text.split())
        assert one.log_likelihood == pytest.approx(-0.6931, abs=1e-4)
        assert not one.truncated
    (cut,) = remote.complete([request(max_tokens=2)])
    assert cut.truncated
    assert cut.tokens == 2
    (stopped,) = remote.complete([request(stop=(" ",))])
    assert stopped.text == openai_server_text(openai_server).split(" ")[0]
    remote.close()


def openai_server_text(server: FakeServer) -> str:
    body = {**server.bodies[-1]}
    body.pop("stop")
    text: str = server.chat(body)[1]["choices"][0]["message"]["content"]
    return text


def test_log_probabilities_are_dropped_where_refused(openai_server: FakeServer) -> None:
    openai_server.refuses = {"logprobs", "max_tokens"}
    with model(openai_server) as remote:
        (one,) = remote.complete([request()])
        assert one.log_likelihood is None
        assert one.tokens == len(one.text.split())
        assert len(openai_server.received) == 3
        remote.complete([request()])
    last = openai_server.bodies[-1]
    assert len(openai_server.received) == 4
    assert "logprobs" not in last
    assert last["max_completion_tokens"] == 320


def test_other_refusals_are_told(openai_server: FakeServer) -> None:
    openai_server.refuses = {"seed"}
    with model(openai_server) as remote, pytest.raises(Rejected, match="parameter: 'seed'"):
        remote.complete([request()])


def test_malformed_answers_are_tried_again_and_then_told(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("no-choices"), Fault("malformed"), Fault("empty")]
    with model(openai_server) as remote:
        assert remote.complete([request()])[0].text
        openai_server.faults = [Fault("no-choices")] * 6
        with pytest.raises(BackendError, match=r"answered with no choices \(6 attempts\)"):
            remote.complete([request()])


def test_models_are_listed_or_it_is_told(openai_server: FakeServer) -> None:
    with model(openai_server) as remote:
        assert remote.run(remote.models()) == ["fake"]
        openai_server.faults = [Fault("bytes", 200, content=b"{}")] * 6
        with pytest.raises(BackendError, match=r"/v1/models answered with no list of models"):
            remote.run(remote.models())


def test_alternatives(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: "7 of"
    openai_server.alternatives = lambda body: [{"7": 0.5, "8": 0.25}]
    with model(openai_server) as remote:
        (said,) = remote.complete([request(top=20)])
    assert openai_server.bodies[0]["top_logprobs"] == 20
    assert said.alternatives[0] == {"7": pytest.approx(-0.6931, abs=1e-3), "8": -1.3862943611198906}
    assert len(said.alternatives) == 2


def test_async_side(openai_server: FakeServer) -> None:
    async def ask() -> list[str]:
        remote = OpenAIModel(f"fake@{openai_server.url}/v1/")
        try:
            return [one.text for one in await remote.complete_async([request("a"), request("b")])]
        finally:
            await remote.aclose()

    assert len(set(asyncio.run(ask()))) == 2


def test_model_says_where_it_is_and_no_more(openai_server: FakeServer) -> None:
    remote = model(openai_server)
    assert remote.name == "fake"
    assert remote.version == f"fake@{openai_server.url}/v1"
    assert repr(remote) == f"OpenAIModel('{remote.version}')"


def test_thread_ends_with_the_model(openai_server: FakeServer) -> None:
    def alive() -> int:
        return sum(thread.name == "darc-loop" for thread in threading.enumerate())

    before = alive()
    remote = model(openai_server)
    remote.complete([request()])
    assert alive() == before + 1
    del remote
    gc.collect()
    assert alive() == before


def test_several_threads_may_ask(openai_server: FakeServer) -> None:
    texts: list[str] = []
    with model(openai_server) as remote:
        threads = [
            threading.Thread(target=lambda: texts.append(remote.complete([request()])[0].text))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(texts) == 8
    assert len(set(texts)) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupt_stops_promptly(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("hang")] * 4
    code = (
        "import signal, sys\n"
        # A command that was started in the background ignores interrupts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from darc.models.completion import Request; from darc.types import Message\n"
        "from darc.models.remote.openai import OpenAIModel\n"
        "model = OpenAIModel('m@' + sys.argv[1])\n"
        "model.complete([Request((Message('user', 'Hi'),))] * 4)\n"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", code, openai_server.url],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    limit = time.monotonic() + 10
    while len(openai_server.received) < 4 and time.monotonic() < limit:
        time.sleep(0.01)
    begun = time.monotonic()
    asking.send_signal(signal.SIGINT)
    _, complaints = asking.communicate(timeout=10)
    assert time.monotonic() - begun < 2
    assert complaints.splitlines()[-1] == "KeyboardInterrupt"
    assert "Warning" not in complaints


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with OpenAIModel("m@http://h") as remote, pytest.raises(MissingExtra, match="remote"):
        remote.complete([request()])
