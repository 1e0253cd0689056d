import io
import json
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.fakes.proxy import Proxy
from tests.study.making import Running, config_for, new_store, running
from tests.study.process import Server
from tests.study.robots import Robot, form_of
from tests.web.raw import ask, connected, request

from darc.cli import main
from darc.study.links import issue_links, revoke
from darc.web.logs import log_as_json

NASTY = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [click](javascript:alert(3)) "
    "![p](https://evil.example/p.png) <https://evil.example> "
    "<iframe src=//evil.example></iframe>\n\n"
    "</section></main><form action=/answer><input name=answer value=1></form>\n\n"
    "| a | b |\n|:--|--:|\n| <b onclick=x> | `</code><script>` |\n\n```<x>\n</pre><script>\n```\n"
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Running]:
    with running(str(tmp_path / "s.db"), config_for(tmp_path, quality={"share": 0.0})) as one:
        yield one


def five(text: str) -> str:
    return "5"


def at_task(one: Running, place: int) -> Robot:
    robot = Robot(one.url, one.links[place][1], five)
    robot.step()
    robot.step()
    return robot


def test_nothing_without_a_link(served: Running) -> None:
    with httpx.Client(base_url=served.url) as client:
        for path in ("/", "/back", "/join/wrong", "/lead", "/lead/join/wrong"):
            assert client.get(path).status_code == 403, path
        for path in ("/answer", "/draft", "/seen", "/consent", "/groups", "/comprehension"):
            assert client.post(path, data={"task": "x"}).status_code == 403, path
        for path in ("/lead/decide", "/lead/close", "/lead/links", "/lead/export"):
            assert client.post(path, data={"task": "x"}).status_code == 403, path
        assert client.get("/enrol/" + served.enrol).status_code == 404, "it has a panel"
        assert client.get("/nowhere").status_code == 404
        assert client.get("/static/..%2fapp.py").status_code == 404


def test_one_annotator_cannot_reach_anothers_task(served: Running) -> None:
    with at_task(served, 0) as first, at_task(served, 1) as second:
        path, fields = form_of(first.page())
        _, own = form_of(second.page())
        stolen = {**fields, "form_token": own["form_token"], "answer": "0"}
        assert second.post(path, stolen).status_code == 404
        assert second.post("/draft", stolen).status_code == 404
        assert second.post("/seen", stolen).status_code == 404
        assert first.post(path, {**fields, "answer": "4"}).status_code == 303


def test_an_annotators_token_opens_no_page_of_the_lead(served: Running) -> None:
    with httpx.Client(base_url=served.url) as client:
        token = served.links[0][1]
        assert client.get(f"/lead/join/{token}").status_code == 403
        client.cookies.set("darc_lead", token)
        assert client.get("/lead").status_code == 403
        assert client.get(f"/join/{served.lead}").status_code == 403


def test_forms_of_other_sites_are_refused(served: Running) -> None:
    with at_task(served, 0) as robot:
        path, fields = form_of(robot.page())
        answer = {**fields, "answer": "5"}
        assert robot.post(path, {**answer, "form_token": "0" * 64}).status_code == 403
        assert robot.post(path, {"task": fields["task"], "answer": "5"}).status_code == 403
        for foreign in (
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"origin": "https://evil.example"},
            {"origin": "null"},
        ):
            refused = robot.post(path, answer, headers=foreign)
            assert (refused.status_code, "<h1>" in refused.text) == (403, True)
        assert robot.client.post(path, json=answer).status_code == 415
        assert robot.client.get(path, params=answer).status_code == 405
        assert robot.post(path, answer).status_code == 303
    cookie = httpx.get(f"{served.url}/join/{served.links[0][1]}").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


@pytest.mark.parametrize("host", ["evil.example", "x/../../secret.html?", "localhost.evil.example"])
def test_other_names_are_refused_with_a_page(served: Running, host: str) -> None:
    for path in ("/", "/healthz", f"/join/{served.links[0][1]}"):
        status, text = ask(served.port, request(path, host))
        assert (status, text.startswith("<!doctype html>")) == (421, True)
        assert "--allowed-host" in text
    form = ("Content-Type: application/x-www-form-urlencoded",)
    assert ask(served.port, request("/enrol", host, b"key=x", *form))[0] == 421


def test_own_names_and_links_from_elsewhere_work(tmp_path: Path) -> None:
    place = str(tmp_path / "s.db")
    log = tmp_path / "server.log"
    store = new_store(place, config_for(tmp_path))
    ((_, token), *_) = issue_links(store)
    store.close()
    public = ("--url", "https://study.example.org:8443", "--allowed-host", "other.example")
    with Server(place, log, *public) as server:
        for host in ("study.example.org:8443", "study.example.org", "other.example", "[::1]"):
            linked = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
            assert ask(server.port, request(f"/join/{token}", host, b"", *linked))[0] == 303
        for host, origin, status in (
            ("study.example.org:8443", "https://study.example.org:8443", 404),
            ("127.0.0.1", "https://study.example.org:8443", 404),
            ("127.0.0.1", "https://study.example.org", 403),
            ("127.0.0.1", "https://evil.example", 403),
        ):
            lines = ("Content-Type: application/x-www-form-urlencoded", f"Origin: {origin}")
            assert ask(server.port, request("/enrol", host, b"key=x", *lines))[0] == status


def test_half_a_form_leaves_no_traceback(served: Running) -> None:
    stream = io.StringIO()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    log_as_json("info", stream)
    try:
        lines = ("Content-Type: application/x-www-form-urlencoded",)
        sent = request("/enrol", "localhost", b"key=x", *lines)
        with connected(served.port, sent[:-1]):
            pass
        until = time.monotonic() + 10
        while '"path": "/enrol"' not in stream.getvalue():
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
    assert "Traceback" not in stream.getvalue()


def test_wrong_values_are_refused(served: Running) -> None:
    with at_task(served, 0) as robot:
        path, fields = form_of(robot.page())
        for value in ("11", "-1", "5.5", "x", "", "²", "9999999999"):
            assert robot.post(path, {**fields, "answer": value}).status_code == 400, value
        for revision in ("-1", "x", "9" * 30):
            wrong = {**fields, "answer": "5", "revision": revision}
            assert robot.post(path, wrong).status_code == 400, revision


def test_large_requests_are_refused(served: Running) -> None:
    with at_task(served, 0) as robot:
        path, fields = form_of(robot.page())
        assert robot.post(path, {**fields, "answer": "5" * 20_000}).status_code == 413
        many = {f"f{i}": "x" for i in range(100)}
        assert robot.post(path, {**fields, **many}).status_code == 400


def test_too_many_requests_are_told_to_wait(tmp_path: Path) -> None:
    with running(str(tmp_path / "s.db"), config_for(tmp_path), rate=5.0) as one:
        replies = [httpx.get(f"{one.url}/join/wrong") for _ in range(8)]
        assert replies[-1].status_code == 429
        assert int(replies[-1].headers["retry-after"]) >= 1


def test_a_revoked_link_stops_working(served: Running) -> None:
    with at_task(served, 0) as robot:
        revoke(served.store, "r001")
        assert robot.client.get("/").status_code == 403
        assert issue_links(served.store) == []
        ((_, token),) = issue_links(served.store, ["r001"])
        assert robot.client.get(f"/join/{token}").status_code == 303
        assert robot.client.get("/").status_code == 200


def test_tokens_are_not_stored_and_not_logged(
    served: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    log_as_json("debug", stream)
    # The test's own client says what it asks for; its loggers below httpcore have their own switch.
    client_loggers = [
        name for name in logging.root.manager.loggerDict if name.startswith(("httpx", "httpcore"))
    ]
    for name in client_loggers:
        monkeypatch.setattr(logging.getLogger(name), "disabled", True)
    try:
        with at_task(served, 0) as robot:
            robot.client.get("/lead/join/" + served.lead)
            robot.client.get("/join/wrongwrongwrong")
            for path in ("/rate/join/{}", "/join/{}.", "/join/{}/", "/join//{}%20"):
                robot.client.get(path.format(served.links[0][1]))
            robot.client.get("/enrol/" + served.enrol + "?PROLIFIC_PID=person17")
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
    text = stream.getvalue()
    assert '"path": "/join"' in text
    tokens = [served.lead, served.enrol, *(token for _, token in served.links)]
    for secret in (*tokens, "wrongwrongwrong", "person17"):
        assert secret not in text
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*"))
    for secret in tokens:
        assert secret.encode() not in stored


def test_the_command_serves_and_tells_no_token(tmp_path: Path) -> None:
    place = str(tmp_path / "s.db")
    log = tmp_path / "server.log"
    store = new_store(place, config_for(tmp_path))
    links = issue_links(store)
    with (
        Server(place, log, "--log-level", "debug", "--root-path", "/rate") as server,
        Robot(f"http://127.0.0.1:{server.port}", links[0][1], five, "/rate") as robot,
    ):
        robot.work(5)
    store.close()
    text = log.read_text()
    assert '"path": "/join"' in text
    assert links[0][1] not in text


def test_pages_forbid_scripts_from_elsewhere(served: Running) -> None:
    with at_task(served, 0) as robot:
        reply = robot.client.get("/")
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert reply.headers["referrer-policy"] == "same-origin"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    assert re.findall(r'(?:src|href)="(?!/static/|/back|data:,)', reply.text) == []
    assert re.findall(r"<[^>]+ (?:on\w+|style)=", reply.text) == []


def test_html_and_markdown_in_items_stay_inert(tmp_path: Path) -> None:
    config = config_for(tmp_path, 1, quality={"share": 0.0})
    row = {"prompt_id": NASTY, "prompt": NASTY, "responses": {"one": NASTY, "two": "fine"}}
    (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n")
    with running(str(tmp_path / "s.db"), config) as one:
        with at_task(one, 0) as robot:
            robot.work()
            pages = "".join(robot.pages)
        with httpx.Client(base_url=one.url) as client:
            client.get(f"/lead/join/{one.lead}")
            _, fields = form_of(client.get("/lead").text, "/lead/close")
            client.post("/lead/close", data={**fields, "sure": "yes"})
            pages += client.get("/lead").text
    for wrong in ("<script>", "<img", "<iframe", "<b onclick", "javascript:alert(3)<", "<x>"):
        assert wrong not in pages.replace("javascript:alert(3))", "")
    assert 'href="https://evil' not in pages
    assert "src=x" not in re.sub(r"&lt;.*?&gt;", "", pages)


def test_no_system_names_or_tells(served: Running) -> None:
    seen = []
    for place in range(3):
        with at_task(served, place) as robot:
            robot.work()
            seen += robot.pages
            seen += [str(dict(robot.client.cookies))]
    with httpx.Client(base_url=served.url) as client:
        client.get(f"/lead/join/{served.lead}")
        seen.append(client.get("/lead").text)
        _, fields = form_of(seen[-1], "/lead/export")
        assert client.post("/lead/export", data=fields).status_code == 400
        _, fields = form_of(seen[-1], "/lead/close")
        assert client.post("/lead/close", data={**fields, "sure": "yes"}).status_code == 303
        after = client.get("/lead").text
        assert client.post("/lead/export", data=fields).status_code == 200
    for word in ("alpha", "beta", "first_id", "attention", "gold"):
        assert not any(word in page.replace("alpha</th>", "") for page in seen[:-1]), word
    assert "alpha</td>" not in seen[-1]
    assert "alpha</td>" in after


def test_a_stranger_behind_the_proxy_shuts_enrolment_for_nobody_else(tmp_path: Path) -> None:
    config = config_for(tmp_path, study={"annotators": "open"})
    place = str(tmp_path / "s.db")
    with (
        running(place, config, rate=4.0, trusted=("127.0.0.1",)) as one,
        Proxy(one.port) as proxy,
    ):
        forged = {"x-forwarded-for": "127.0.0.7", "forwarded": "for=127.0.0.7"}

        def visit(source: str, path: str, **headers: str) -> int:
            transport = httpx.HTTPTransport(local_address=source)
            with httpx.Client(transport=transport, base_url=proxy.url) as client:
                return int(client.get(path, headers=headers).status_code)

        junk = [visit("127.0.0.2", "/join/junk") for _ in range(6)]
        assert junk.count(403) >= 4
        assert junk[-1] == 429
        assert visit("127.0.0.2", f"/enrol/{one.enrol}") == 429
        assert visit("127.0.0.2", f"/enrol/{one.enrol}", **{"x-forwarded-for": "127.0.0.7"}) == 429
        for _ in range(6):
            visit("127.0.0.3", "/join/junk", **forged)
        assert visit("127.0.0.7", f"/enrol/{one.enrol}") == 200
        assert visit("127.0.0.4", f"/enrol/{one.enrol}") == 200


def test_a_proxy_that_is_not_named_is_hinted_at_and_not_believed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(str(tmp_path / "s.db"), config_for(tmp_path), rate=5.0) as one:
        codes = [
            httpx.get(f"{one.url}/join/x", headers={"x-forwarded-for": f"203.0.113.{i}"})
            for i in range(8)
        ]
    assert codes[-1].status_code == 429
    assert len([each for each in caplog.records if "--trusted-proxy" in each.message]) == 1


def test_a_wrong_proxy_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["study", "serve"], ["serve", "--backend", "http://127.0.0.1:1/v1"]):
        assert main([*command, "--trusted-proxy", "here", "--port", "0"]) == 2
        assert "--trusted-proxy here is not an address" in capsys.readouterr().err
