import json
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, Running, raw_request, running

BODY: dict[str, Any] = {"model": "fake", "messages": QUESTION, "temperature": 0}


def post(gateway: Running, body: Any, **given: Any) -> httpx.Response:
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=20, **given)


def test_bytes_status_and_headers_are_the_backends(
    gateway: Running, openai_server: FakeServer
) -> None:
    direct = httpx.post(f"{openai_server.url}/v1/chat/completions", json=BODY)
    through = post(gateway, BODY)
    assert through.content == direct.content
    assert through.headers["content-type"] == direct.headers["content-type"]
    one, two = openai_server.received
    assert one.body == two.body


def test_stream_is_passed_as_it_is(gateway: Running, openai_server: FakeServer) -> None:
    body = {**BODY, "stream": True}
    direct = httpx.post(f"{openai_server.url}/v1/chat/completions", json=body)
    assert post(gateway, body).content == direct.content


def test_model_prefix_and_method_are_taken_off(gateway: Running, openai_server: FakeServer) -> None:
    post(gateway, {"model": "darc-tau/fake", "messages": QUESTION, "n": 2, "darc": {"k": 1}})
    assert openai_server.bodies == [{"model": "fake", "messages": QUESTION, "n": 2}]


def test_metadata_is_added_where_it_is_asked_for(gateway: Running) -> None:
    asked = {**BODY, "darc": {"metadata": True}}
    assert post(gateway, asked).json()["darc"]["k"] == 1
    events = post(gateway, {**asked, "stream": True}).text.strip().split("\n\n")
    assert events[-1] == "data: [DONE]"
    last = json.loads(events[-2].removeprefix("data: "))
    assert (last["darc"]["k"], last["choices"]) == (1, [])
    assert last["id"] == json.loads(events[0].removeprefix("data: "))["id"]


@pytest.mark.parametrize("status", [400, 404, 418, 500])
def test_errors_keep_their_bytes(gateway: Running, openai_server: FakeServer, status: int) -> None:
    openai_server.faults = [Fault(status=status, headers={"OpenAI-Upstream": "yes"})] * 2
    answer = post(gateway, BODY)
    assert (answer.status_code, answer.headers["OpenAI-upstream"]) == (status, "yes")
    assert answer.json()["error"]["message"] == "it broke"


def test_faults_are_tried_again(gateway: Running, openai_server: FakeServer) -> None:
    for fault in (Fault(status=429), Fault(status=503), Fault("reset")):
        openai_server.faults = [fault]
        assert post(gateway, BODY).status_code == 200


def test_stream_that_breaks_off_ends_with_an_error(
    gateway: Running, openai_server: FakeServer
) -> None:
    openai_server.faults = [Fault("cut")]
    text = post(gateway, {**BODY, "stream": True}).text
    assert text.startswith('data: {"id": "x"')
    last = text.strip().split("\n\n")[-1]
    assert json.loads(last.removeprefix("data: "))["error"]["code"] == "upstream_broke_off"
    assert "[DONE]" not in text


def test_key_of_the_client_goes_on_where_there_is_no_other(
    gateway: Running, openai_server: FakeServer
) -> None:
    key = {"Authorization": "Bearer mine", "Cookie": "a=b", "OpenAI-Project": "p"}
    post(gateway, BODY, headers=key)
    post(gateway, {**BODY, "temperature": 1}, headers=key)
    for received in openai_server.received:
        assert received.headers["authorization"] == "Bearer mine"
        assert received.headers["openai-project"] == "p"
        assert "cookie" not in received.headers


def test_other_methods_and_queries_pass(gateway: Running, openai_server: FakeServer) -> None:
    answer = httpx.get(f"{gateway.url}/v1/files?limit=3")
    assert answer.status_code == 404
    assert "/v1/files?limit=3" in answer.json()["error"]["message"]
    httpx.post(f"{gateway.url}/v1/embeddings", json={"input": "x"})
    assert openai_server.received[-1].path == "/v1/embeddings"


ESCAPES = [
    b"/v1/../admin", b"/v1/files/../../admin", b"/v1/%2e%2e/admin", b"/v1/.%2E/admin",
    b"/v1/..%2fadmin", b"/v1/%2e%2e%2fadmin", b"/v1/%252e%252e%252fadmin", b"/v1/..%252fadmin",
    b"/v1/%25252e%25252e/admin", b"/v1/..%5cadmin", b"/v1/..\\admin", b"/v1/x%5c..%5c..%5cadmin",
    b"/v1/x%5cadmin", b"/v1/%00", b"/v1/a%0d%0aX: y", b"/v1/%c0%ae%c0%ae/admin", b"/v1/..;/admin",
    b"/v1/..;a=b/admin", b"/v1/./x", b"/v1/..", b"/v1/%2e%2e", b"/%761/../admin", b"/v1%2f../x",
    b"/%76%31/files", b"/v1/%2525252525252e", b"/v1/.%00./admin", b"/v1/%20../admin",
    b"http://other/v1/../admin", b"/v1/chat/completions/../../../admin", b"/v1/.%0a./admin",
    b"/v1/..%3fx/admin", b"/v1/..%23x", b"/v1/%2e%2e%253f",
]  # fmt: skip


@pytest.mark.parametrize("target", ESCAPES, ids=lambda target: target.decode())
def test_no_path_leads_out_of_v1(
    gateway: Running, openai_server: FakeServer, target: bytes
) -> None:
    answer = raw_request(gateway.port, target)
    assert answer.split(b" ", 2)[1] in (b"400", b"404"), answer
    assert openai_server.paths == []
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]


def test_host_header_says_nothing_of_the_path(gateway: Running, openai_server: FakeServer) -> None:
    for host in ("x/../../admin?", "x/v1/../admin", "[::1"):
        httpx.get(f"{gateway.url}/v1/files?limit=3", headers={"Host": host})
    assert set(openai_server.paths) <= {"/v1/files?limit=3"}


@pytest.mark.parametrize(
    "path",
    ["/v1/models/org%2Fname", "/v1/files/a%20b", "/v1/a..b/...", "/v1/files/%C3%A4?a=%2e%2e/&b=%00",
     "/v1/x%2525"],
)  # fmt: skip
def test_honest_paths_are_kept_as_they_are(
    gateway: Running, openai_server: FakeServer, path: str
) -> None:
    raw_request(gateway.port, path.encode())
    assert openai_server.paths == [path]


def test_path_too_long_to_send_on_is_a_400(gateway: Running) -> None:
    answer = raw_request(gateway.port, b"/v1/" + b"x" * 66_000)
    assert answer.split(b" ", 2)[1] in (b"400", b"414", b"431")


def test_cookies_of_the_backend_are_nobodys(gateway: Running, openai_server: FakeServer) -> None:
    openai_server.cookies = "evil=1; Path=/"
    for body in (BODY, {**BODY, "temperature": 1}, {**BODY, "stream": True}) * 2:
        assert "set-cookie" not in post(gateway, body).headers
        assert "set-cookie" not in httpx.get(f"{gateway.url}/v1/models").headers
        httpx.post(f"{gateway.url}/v1/embeddings", json={"input": "x"})
    assert len(openai_server.received) == 12
    assert not any("cookie" in each.headers for each in openai_server.received)


def test_headers_beyond_ascii_go_both_ways(gateway: Running, openai_server: FakeServer) -> None:
    written = "J\xfcrgen".encode()
    for temperature in (0, 1):
        for sent in (written, "J\xfcrgen".encode("latin-1")):
            openai_server.faults = [Fault(status=404, headers={"OpenAI-Name": "J\xfcrgen"})]
            asked = {**BODY, "temperature": temperature}
            answer = post(gateway, asked, headers={"X-User": sent})
            assert answer.status_code == 404
            # What is no UTF-8 is sent as the UTF-8 of its letters.
            assert openai_server.received[-1].headers["x-user"].encode("latin-1") == written
            if temperature == 0:
                assert (b"openai-name", b"J\xfcrgen") in answer.headers.raw


PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>" + b"x" * 999
HTML = {"Content-Type": "text/html"}


@pytest.mark.parametrize("body", [BODY, {**BODY, "stream": True}, {**BODY, "temperature": 1}])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("bytes", 503, content=PAGE, headers=HTML), "502 Bad Gateway"),
        (Fault("bytes", 404, content=b"no such thing", headers=HTML), "no such thing"),
        (Fault("bytes", 422, content=b'{"detail": "no"}'), "no"),
        (Fault("bytes", 400, content=b'{"error": "no"}'), "no"),
        (Fault("bytes", 401, content=b""), "the backend answered 401"),
        (Fault("bytes", 400, content=b"[" * 5000), "[[["),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Fault) else "",
)
def test_errors_in_other_shapes_are_put_into_openais(
    gateway: Running, openai_server: FakeServer, fault: Fault, message: str, body: dict[str, Any]
) -> None:
    openai_server.faults = [fault] * 9
    answer = post(gateway, body)
    assert answer.status_code == fault.status
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert error["message"].startswith(message)
    assert error.keys() == {"message", "type", "param", "code"}


def test_page_that_is_no_error_is_no_answer(gateway: Running, openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("bytes", 200, content=PAGE, headers=HTML)] * 9
    for body in (BODY, {**BODY, "temperature": 1}):
        answer = post(gateway, body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_malformed")


@pytest.mark.parametrize("body", [BODY, {**BODY, "temperature": 1}])
@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://u:p@other.example/v1/chat/completions?key=1", "https://other.example/v1/chat"),
        ("/v2/chat/completions", "/v2/chat/completions"),
        ("", "elsewhere"),
        ("http://[", "elsewhere"),
    ],
)
def test_redirects_are_told_and_not_followed(
    gateway: Running, openai_server: FakeServer, body: dict[str, Any], location: str, told: str
) -> None:
    headers = {"Location": location} if location else {}
    openai_server.faults = [Fault(status=307, headers=headers)]
    answer = post(gateway, body)
    assert answer.status_code == 502
    error = answer.json()["error"]
    assert error["code"] == "upstream_redirects"
    assert (
        f"redirects to {openai_server.url if location[:1] == '/' else ''}{told}" in error["message"]
    )
    assert error["message"].endswith("set --backend to that")
    assert "key=1" not in answer.text
    assert "u:p" not in answer.text
    assert "location" not in answer.headers
    assert len(openai_server.received) == 1


def test_what_is_not_modified_is_passed(gateway: Running, openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("bytes", 304, headers={"Etag": "x"})]
    answer = httpx.get(f"{gateway.url}/v1/files/1", headers={"If-None-Match": "x"})
    assert (answer.status_code, answer.headers["etag"]) == (304, "x")
    assert httpx.head(f"{gateway.url}/v1/models/fake").status_code == 404


@pytest.mark.parametrize("kind", ["half", "flood-half", "reset"])
def test_half_an_answer_is_a_502(
    gateway: Running, openai_server: FakeServer, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    fault = Fault(kind, 200, content=b'{"object": "list", "data": [{"id": "a"}', times=1)
    for body in (BODY, {**BODY, "temperature": 1}, {**BODY, "darc": {"metadata": True}}):
        openai_server.faults = [fault] * 2
        answer = post(gateway, body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (502, "server_error")
    openai_server.faults = [fault] * 2
    answer = httpx.get(f"{gateway.url}/v1/models")
    assert answer.status_code == 502
    openai_server.faults = []
    assert "Traceback" not in caplog.text


def test_large_answer_that_breaks_off_is_left_without_an_end(
    gateway: Running, openai_server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    openai_server.faults = [Fault("half", 200, content=b"x" * 2_000_000)]
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{gateway.url}/v1/files/1/content")
    assert "broke off in the middle" in caplog.text
    assert not any(record.exc_info for record in caplog.records)


def test_upstream_answers_are_bounded(openai_server: FakeServer) -> None:
    big = Fault("flood", content=b" " * 10_000, times=30)
    told = Fault("bytes", 200, content=b" " * 300_000)
    with running(openai_server, max_answer=200_000) as gateway:
        for fault in (big, told):
            for body in (BODY, {**BODY, "temperature": 1}, {**BODY, "darc": {"metadata": True}}):
                openai_server.faults = [fault]
                answer = post(gateway, body)
                assert answer.status_code == 502
                assert answer.json()["error"]["code"] == "upstream_too_large"
                assert "max_answer, which is 200000 bytes" in answer.text
                assert openai_server.faults == []
        openai_server.faults = [big]
        assert httpx.get(f"{gateway.url}/v1/models").status_code == 502
        openai_server.faults = [Fault("bytes", 400, content=b"x" * 300_000)]
        assert post(gateway, BODY).status_code == 502
        openai_server.faults = [big]
        passed = httpx.get(f"{gateway.url}/v1/files/1/content")
        assert (passed.status_code, len(passed.content)) == (200, 300_000)
        assert post(gateway, BODY).status_code == 200


@pytest.mark.parametrize("metadata", [False, True])
def test_lines_of_a_stream_are_bounded(openai_server: FakeServer, metadata: bool) -> None:
    events = {"Content-Type": "text/event-stream"}
    body = {**BODY, "stream": True, "darc": {"metadata": metadata}}
    with running(openai_server, max_line=50_000) as gateway:
        openai_server.faults = [Fault("flood", content=b"x" * 10_000, times=9, headers=events)]
        text = post(gateway, body).text
        last = json.loads(text.strip().split("\n\n")[-1].removeprefix("data: "))
        assert last["error"]["code"] == "upstream_too_large"
        assert "max_line" in last["error"]["message"]
        assert len(text) < 60_000
        openai_server.faults = [
            Fault("flood", content=b"x" * 999 + b"\n", times=99, headers=events)
        ]
        assert len(post(gateway, body).text) == 99_000


def test_events_that_end_in_other_ways_get_their_metadata(
    gateway: Running, openai_server: FakeServer
) -> None:
    content = b'data: {"id": "x", "choices": []}\r\n\r\ndata: [DONE]'
    events = {"Content-Type": "text/event-stream"}
    for ending in (b"", b"\r\n\r\n"):
        openai_server.faults = [Fault("bytes", 200, content=content + ending, headers=events)]
        text = post(gateway, {**BODY, "stream": True, "darc": {"metadata": True}}).text
        lines = [line for line in text.splitlines() if line]
        assert len(lines) == 3
        assert json.loads(lines[1].removeprefix("data: "))["darc"]["k"] == 1
        assert lines[2] == "data: [DONE]"
