from pathlib import Path

import httpx
from sqlalchemy import select
from tests.study.making import config_for, new_store, running
from tests.study.robots import Robot, form_of, obedient

from darc.study import schema
from darc.study.links import issue_links
from darc.study.status import status


def test_open_enrolment_with_prolific(tmp_path: Path) -> None:
    config = config_for(
        tmp_path,
        4,
        study={
            "annotators": "open",
            "items_each": 4,
            "completion_code": "CODE17",
            "completion_url": "https://app.prolific.com/submissions/complete?cc=CODE17",
        },
    )

    def enter(one: object, person: str, session: str) -> httpx.Response:
        url = getattr(one, "url", "")
        with httpx.Client(base_url=url) as client:
            query = {"PROLIFIC_PID": person, "STUDY_ID": "s", "SESSION_ID": session}
            page = client.get(f"/enrol/{getattr(one, 'enrol', '')}", params=query)
            assert page.status_code == 200
            path, fields = form_of(page.text)
            return client.post(path, data=fields)

    with running(str(tmp_path / "s.db"), config) as one:
        with one.store.read() as connection:
            assert connection.execute(select(schema.annotators)).all() == []
        for person in ("anna", "ben", "carl", "dora"):
            reply = enter(one, person, f"{person}-session")
            assert reply.status_code == 303
            token = reply.cookies["darc_study"]
            with Robot(one.url, token, obedient(lambda text: "6")) as robot:
                robot.work()
                assert "CODE17" in robot.pages[-1]
        assert [item.valid for item in status(one.store).items] == [2] * 8
        assert enter(one, "anna", "anna-session").status_code == 303
        assert enter(one, "anna", "another").status_code == 403
        assert len(status(one.store).people) == 4
        wrong = httpx.get(f"{one.url}/enrol/{one.lead}")
        assert wrong.status_code == 404


def test_links_are_made_once(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    assert [name for name, _ in issue_links(store)] == ["r001", "r002", "r003"]
    assert issue_links(store) == []
    store.close()
