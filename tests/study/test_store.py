import os
import signal
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select
from tests.study.making import FakeTime, Running, config_for, new_store, rate, ready, running
from tests.study.postgres import binaries, postgres_server
from tests.study.process import Server
from tests.study.robots import Robot, form_of

from darc.cli import main
from darc.study import schema, store
from darc.study.answers import last_answer
from darc.study.backup import backup
from darc.study.database_files import Unavailable
from darc.study.links import issue_links
from darc.study.store import open_store

tasks = schema.tasks


def answers_at(path: Path) -> dict[str, str]:
    """What the database at a path holds, by task."""
    opened = open_store(str(path))
    with opened.read() as connection:
        query = select(tasks.c.code, tasks.c.answer).where(tasks.c.answered.is_not(None))
        found = {code: f"{answer:g}" for code, answer in connection.execute(query)}
    opened.close()
    return found


class Scene:
    """A served study, and a robot with some answers behind it."""

    def __init__(self, path: Path, url: str, token: str) -> None:
        self.path = path
        self.url = url
        self.robot = Robot(url, token, lambda text: "5")
        self.robot.work(6)
        self.kept = dict(self.robot.given)
        assert len(self.kept) == 4
        self.page = self.robot.page()

    def send(self, value: str) -> httpx.Response:
        path, fields = form_of(self.page)
        reply = self.robot.post(path, {**fields, "answer": value})
        if reply.status_code == 303:
            self.kept[fields["task"]] = value
        return reply


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A study that is served by a thread."""
    path = tmp_path / "study.db"
    with running(str(path), config_for(tmp_path, quality={"share": 0.0})) as one:
        made = Scene(path, one.url, one.links[0][1])
        with made.robot:
            yield made


def deleted(path: Path) -> None:
    path.unlink()


def renamed(path: Path) -> None:
    path.rename(path.with_suffix(".away"))


def replaced(path: Path) -> None:
    original = open_store(str(path))
    backup(original, path.with_suffix(".copy"))
    original.close()
    path.with_suffix(".copy").replace(path)


@pytest.mark.parametrize("act", [deleted, renamed, replaced])
def test_no_answer_is_acknowledged_while_another_file_or_none_is_at_the_path(
    scene: Scene, act: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    act(scene.path)
    for _ in range(3):
        reply = scene.send("7")
        assert reply.status_code == 503
        assert int(reply.headers["retry-after"]) >= 1
        assert "NOT saved" in reply.text
        path, fields = form_of(reply.text)
        assert (path, fields["answer"]) == ("/answer", "7")
        assert scene.robot.client.get("/").status_code == 503
    health = httpx.get(scene.url + "/healthz")
    assert health.status_code == 503
    assert "database" in health.json()["error"]["message"]
    assert str(scene.path) not in health.text
    (told,) = (each.getMessage() for each in caplog.records if each.name == "darc.study")
    assert told.startswith("nothing is saved")
    assert str(scene.path) in told
    if act is deleted:
        assert not scene.path.exists(), "it was made anew"
    elif act is replaced:
        assert answers_at(scene.path) == scene.kept


def test_it_goes_on_when_the_file_is_back(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    renamed(scene.path)
    reply = scene.send("7")
    assert reply.status_code == 503
    scene.path.with_suffix(".away").rename(scene.path)
    assert httpx.get(scene.url + "/healthz").text == "ok\n"
    path, fields = form_of(reply.text)
    assert scene.robot.post(path, fields).status_code == 303
    scene.kept[fields["task"]] = "7"
    assert scene.robot.work() > 0
    assert caplog.text.count("nothing is saved") == caplog.text.count("can be used again") == 1
    assert {**scene.kept, **scene.robot.given} == answers_at(scene.path)


@pytest.mark.parametrize("endings", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_answers_outlive_the_files_beside_the_database(
    tmp_path: Path, endings: tuple[str, ...]
) -> None:
    path = tmp_path / "study.db"
    made = new_store(str(path), config_for(tmp_path, quality={"share": 0.0}))
    ((_, token), *_) = issue_links(made)
    made.close()
    with Server(str(path), tmp_path / "server.log", "--visitor-rate", "0") as server:
        scene = Scene(path, f"http://127.0.0.1:{server.port}", token)
        for ending in endings:
            Path(f"{path}{ending}").unlink()
        assert scene.send("7").status_code == 503
        assert "-wal or -shm" in httpx.get(scene.url + "/healthz").json()["error"]["message"]
        server.stop(signal.SIGKILL)
        for ending in ("-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        assert answers_at(path) == scene.kept
        server.start()
        assert scene.send("7").status_code == 303
        assert answers_at(path) == scene.kept
        scene.robot.client.close()


def test_a_command_takes_no_file_for_granted_either(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    made = new_store(str(path), config_for(tmp_path))
    path.unlink()
    with pytest.raises(Unavailable, match="deleted or moved"):
        issue_links(made)
    made.close()
    assert not path.exists()


def test_a_database_is_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config_for(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    try:
        assert main(["study", "init", "--items", "items.jsonl"]) == 0
        served = open_store("study.db")
        backup(served, tmp_path / "copy.db")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("*.db*")}
        served.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("study.db", "study.db-wal", "study.db-shm", "copy.db"), 0o600)
    assert main(["study", "init", "--database", "nowhere/study.db"]) == 2
    assert "nowhere/study.db cannot be made" in capsys.readouterr().err


def in_work(one: Running) -> tuple[Robot, str, dict[str, str]]:
    robot = Robot(one.url, one.links[0][1], lambda text: "5")
    robot.work(3)
    path, fields = form_of(robot.page())
    return robot, path, {**fields, "answer": "7"}


def test_a_locked_database_is_told_in_words_and_the_form_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_BUSY_SECONDS", 0.2)
    with running(str(tmp_path / "s.db"), config_for(tmp_path)) as one:
        robot, path, fields = in_work(one)
        with robot, closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            reply = robot.post(path, fields)
            assert reply.status_code == 503
            assert reply.headers["content-type"].startswith("text/html")
            other.execute("ROLLBACK")
            assert form_of(reply.text) == (path, fields)
            assert robot.post(*form_of(reply.text)).status_code == 303


def test_the_leads_forms_can_be_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_BUSY_SECONDS", 0.2)
    with (
        running(str(tmp_path / "s.db"), config_for(tmp_path)) as one,
        httpx.Client(base_url=one.url) as client,
        closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other,
    ):
        client.get(f"/lead/join/{one.lead}")
        path, fields = form_of(client.get("/lead").text, "/lead/decide")
        fields |= {"rater": "r001", "action": "exclude", "reason": 'a "reason" & more'}
        other.execute("BEGIN IMMEDIATE")
        reply = client.post(path, data=fields)
        assert reply.status_code == 503
        other.execute("ROLLBACK")
        assert form_of(reply.text) == (path, fields)


def test_postgresql_that_stops_is_told_in_words(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    tools = binaries()
    if tools is None:
        pytest.skip("there are no PostgreSQL binaries")
    with ExitStack() as stack:
        url = stack.enter_context(postgres_server(tools)) % "postgres"
        with running(url, config_for(tmp_path)) as one:
            robot, path, fields = in_work(one)
            stack.close()
            with robot:
                reply = robot.post(path, fields)
                assert reply.status_code == 503
                assert form_of(reply.text) == (path, fields)
                page = robot.client.get("/")
                assert page.status_code == 503
                assert page.headers["content-type"].startswith("text/html")
                assert "reload" in page.text
            health = httpx.get(one.url + "/healthz")
            assert health.status_code == 503
            assert health.json()["error"]["message"] == "the database does not answer"


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_study_of_an_earlier_schema_is_brought_to_this_one(
    place: str, tmp_path: Path, version: int
) -> None:
    clock = FakeTime()
    old = new_store(place, config_for(tmp_path, quality={"share": 0.0}), clock)
    ready(old, 1, 2)
    for person in (1, 2, 1):
        clock.now += 60
        rate(old, person)
    last = last_answer(old, 1)
    with old.write() as connection:
        for table in (schema.requests, schema.waves):
            table.drop(connection)
        for added in range(version + 1, schema.SCHEMA + 1):
            for change in schema.ADDED[added]:
                name, _, _, column, *_ = change.split()
                connection.exec_driver_sql(f"ALTER TABLE {name} DROP COLUMN {column}")
        stored = old.config.model_dump()
        for name in ("comprehension", "groups", "adaptive"):
            del stored[name]
        connection.execute(schema.study.update().values(schema=version, config=stored))
    old.close()
    for _ in range(2):
        again = open_store(place, now=clock)
        assert last_answer(again, 1) == last
        with again.read() as connection:
            query = select(tasks.c.sequence).order_by(tasks.c.answered)
            assert list(connection.execute(query).scalars()) == [1, 1, 2]
            wants = select(schema.units.c.wanted).where(schema.units.c.kind == "item")
            assert set(connection.execute(wants).scalars()) == {2}
        again.close()
