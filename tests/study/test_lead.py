import io
import json
import re
import zipfile
from pathlib import Path

import httpx
import pytest
from tests.study.making import config_for, config_with, five, lead_of, running
from tests.study.robots import Robot, form_of, obedient
from tests.study.test_export import rows_of

from darc.study.status import status


@pytest.mark.parametrize("mode", ["scalar", "pairwise"])
def test_the_leads_page_shows_texts_charts_and_downloads(tmp_path: Path, mode: str) -> None:
    config = config_with(tmp_path, study={"mode": mode})
    answer = five if mode == "scalar" else lambda text: "left"
    with running(str(tmp_path / "s.db"), config) as one:
        with lead_of(one) as lead:
            assert "not yet (0 of 5 items rated twice)" in lead.get("/lead").text
        for _, token in one.links[:2]:
            with Robot(one.url, token, obedient(answer)) as robot:
                robot.work()
        with lead_of(one) as lead:
            page = lead.get("/lead").text
            assert "Text of p1 by c0." in page
            assert page.count("<figure>") == 2
            assert ">Refresh</a>" in page
            assert 'aria-label="5: 6"' in page or mode == "pairwise"
            name = "ratings" if mode == "scalar" else "comparisons"
            path, fields = form_of(page, "/lead/export")
            refused = lead.post(path, data={**fields, "file": f"{name}.csv"})
            assert refused.status_code == 400
            assert "alpha" not in refused.text
            sure = {**fields, "sure": "yes"}
            table = lead.post(path, data={**sure, "file": f"{name}.csv"})
            lines = lead.post(path, data={**sure, "file": f"{name}.jsonl"})
            archive = lead.post(path, data={**sure, "file": "zip"})
            stranger = httpx.post(one.url + path, data=sure)
    assert table.headers["content-type"].startswith("text/csv")
    assert f'filename="{name}.csv"' in table.headers["content-disposition"]
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert len(rows) == len(rows_of(table.text)) == (12 if mode == "scalar" else 6)
    assert rows[0]["valid"] is True
    assert mode == "pairwise" or rows[0]["rating"] == 5.0
    assert f"{name}.jsonl" in zipfile.ZipFile(io.BytesIO(archive.content)).namelist()
    assert stranger.status_code == 403
    assert re.findall(r"<[^>]+ (?:on\w+|style)=", page) == []


def test_the_order_of_a_pairs_texts_tells_no_system(tmp_path: Path) -> None:
    config = config_for(tmp_path, 12, study={"mode": "pairwise"}, quality={"share": 0.0})
    with running(str(tmp_path / "s.db"), config) as one, lead_of(one) as lead:
        page = lead.get("/lead").text
    first = re.findall(r">An answer</p><p[^>]*>Text of p\d+ by (c\d)", page)
    assert len(first) == 12
    assert set(first) == {"c0", "c1"}


def test_the_lead_decides_on_the_page_under_a_root(tmp_path: Path) -> None:
    config = config_for(tmp_path, quality={"share": 0.0})
    with running(str(tmp_path / "s.db"), config, root="/study") as one:
        for place in (0, 1):
            with Robot(one.url, one.links[place][1], lambda text: "5", "/study") as robot:
                robot.work()
                assert "Thank you" in robot.pages[-1]
                assert 'href="/study/' in robot.pages[-2]
        with httpx.Client(base_url=one.url) as client:
            assert client.get(f"/lead/join/{one.lead}").headers["location"] == "/study/lead"
            page = client.get("/study/lead").text
            assert "12 of 12 items complete" in page

            def act(path: str, **more: str) -> httpx.Response:
                _, fields = form_of(client.get("/study/lead").text, path)
                return client.post(path, data={**fields, **more})

            decide = "/study/lead/decide"
            assert act(decide, rater="r001", action="exclude").status_code == 400
            assert act(decide, rater="r001", action="exclude", reason="why").status_code == 303
            assert status(one.store).complete == 0
            assert act(decide, rater="r001", action="reinstate").status_code == 303
            assert status(one.store).complete == 12
            assert act(decide, rater="r001", action="clear").status_code == 303
            assert "/join/" in act(decide, rater="r001", action="renew").text
            assert act(decide, rater="r001", action="revoke").status_code == 303
            assert act(decide, rater="nobody", action="revoke").status_code == 400
            for wrong in ("0", "101", "00010300", "010", "1e1", " 2", "-1", "²", ""):
                assert act("/study/lead/links", count=wrong).status_code == 400, wrong
            assert act("/study/lead/links", count="2").text.count("/study/join/") == 2
            assert act(decide, rater="r005", action="erase").status_code == 303
            assert act("/study/lead/close", sure="yes").status_code == 303
            content = act("/study/lead/export", file="zip").content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert "ratings.csv" in archive.namelist()
