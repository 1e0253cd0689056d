from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, Running, parts, settings_for

from darc.errors import InputError
from darc.serve.app import make_gateway
from darc.serve.tracing import Tracing, make_tracer_provider

memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
BODY: dict[str, Any] = {"model": "fake", "messages": QUESTION, "temperature": 0.7}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter() -> Any:
    return memory.InMemorySpanExporter()


@pytest.fixture
def traced(openai_server: FakeServer, exporter: Any) -> Iterator[Running]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    scorers = ("form", f"{openai_server.url}/plain,name=reward,location=0,scale=8")
    settings = settings_for(openai_server, k=3, attempts=1, parts=parts(scorers=scorers))
    gateway = make_gateway(settings)
    gateway.tracing = Tracing(provider)
    one = Running(settings, gateway)
    try:
        yield one
    finally:
        one.close()


def ask(gateway: Running, **more: Any) -> Any:
    url = f"{gateway.url}/v1/chat/completions"
    return httpx.post(url, json={**BODY, **more}, headers={"traceparent": PARENT}, timeout=20)


def test_a_request_is_a_span_with_its_scores_and_its_choice(traced: Running, exporter: Any) -> None:
    answer = ask(traced, seed=1, darc={"metadata": "full", "full": True}).json()
    (span,) = exporter.get_finished_spans()
    assert span.name == "chat fake"
    assert f"{span.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{span.parent.span_id:016x}" == PARENT.split("-")[2]
    told = dict(span.attributes)
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == "fake"
    assert told["gen_ai.request.choice.count"] == 3
    assert told["gen_ai.request.temperature"] == 0.7
    assert told["gen_ai.response.id"] == answer["id"]
    assert told["gen_ai.usage.input_tokens"] == answer["usage"]["prompt_tokens"]
    assert told["gen_ai.usage.output_tokens"] == answer["usage"]["completion_tokens"]
    own = answer["darc"]["candidates"][answer["darc"]["index"]]
    assert told["darc.rule"] == "auto"
    assert told["darc.candidate"] == answer["darc"]["index"]
    assert told["darc.best_of_k"] == answer["darc"]["best_of_k"]
    assert told["darc.disagreement"] == pytest.approx(own["sigma"])
    results = [event for event in span.events if event.name == "gen_ai.evaluation.result"]
    named = {
        (e.attributes["gen_ai.evaluation.name"], e.attributes["darc.candidate"]) for e in results
    }
    assert named == {(name, k) for name in ("form", "reward") for k in range(3)}
    assert all(isinstance(e.attributes["gen_ai.evaluation.score.value"], float) for e in results)


def test_one_candidate_and_failures_are_spans_too(
    traced: Running, exporter: Any, openai_server: FakeServer
) -> None:
    assert ask(traced, temperature=0).status_code == 200
    openai_server.faults = [Fault(status=400, message="no")] * 4
    assert ask(traced).status_code == 400
    alone, failed = exporter.get_finished_spans()
    assert alone.attributes["gen_ai.request.choice.count"] == 1
    assert failed.attributes["error.type"]
    assert failed.status.status_code.name == "ERROR"


def test_nothing_is_exported_unless_an_exporter_is_named() -> None:
    assert make_tracer_provider({}) is None
    assert make_tracer_provider({"OTEL_TRACES_EXPORTER": "none"}) is None
    assert (
        make_tracer_provider({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}) is None
    )
    for named in (
        {"OTEL_TRACES_EXPORTER": "console"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
    ):
        provider = make_tracer_provider(named)
        assert provider is not None
        assert provider.resource.attributes["service.name"] == "darc-gateway"
        provider.shutdown()
    with pytest.raises(InputError, match="otlp, console or none"):
        make_tracer_provider({"OTEL_TRACES_EXPORTER": "zipkin"})
