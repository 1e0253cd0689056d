import csv
from collections import Counter
from pathlib import Path

from tests.study.making import config_for, running, write_checks
from tests.study.robots import Robot, obedient

from darc.cli import main
from darc.study.status import close, status


def test_a_whole_study_over_http(tmp_path: Path) -> None:
    gold = write_checks(tmp_path, "gold", 4)
    training = write_checks(tmp_path, "training", 2)
    calibration = write_checks(tmp_path, "calibration", 2)
    config = config_for(
        tmp_path,
        quality={"gold": str(gold), "share": 0.2},
        training={"training": str(training), "calibration": str(calibration)},
    )

    def rate(text: str) -> str:
        return text.split("worth ")[1].split()[0] if "worth" in text else str(len(text) % 11)

    with running(str(tmp_path / "study.db"), config) as served:
        for _, token in served.links:
            with Robot(served.url, token, obedient(rate)) as robot:
                robot.work(200)
                assert "Thank you" in robot.pages[-1]
        found = status(served.store)
        assert [item.valid for item in found.items] == [2] * 12
        assert found.complete == 12
        assert close(served.store) == 0
    assert (
        main(["study", "export", str(tmp_path / "out"), "--database", str(tmp_path / "study.db")])
        == 0
    )
    with (tmp_path / "out" / "ratings.csv").open() as file:
        rows = list(csv.DictReader(file))
    pairs = Counter((row["prompt_id"], row["candidate_id"]) for row in rows)
    assert set(pairs.values()) == {2}
    assert {row["valid"] for row in rows} == {"true"}
    assert main(["select", str(tmp_path / "out" / "ratings.csv")]) == 0
    assert main(["eval", str(tmp_path / "out" / "ratings.csv"), "--rule", "epsilon"]) == 0
