import json
import multiprocessing
from pathlib import Path

from tests.serve.running import read_audit

from darc.serve.audit import AuditLog


def test_rows_are_rotated_and_read_in_order(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "a" / "audit.jsonl", max_bytes=100, max_old_files=3)
    for number in range(12):
        audit.add({"number": number, "text": "é" * 10})
    found = [row["number"] for row in read_audit(audit.path)]
    assert found == sorted(found)
    assert found[-1] == 11
    assert len(list(audit.path.parent.iterdir())) == 4
    for path in audit.path.parent.iterdir():
        assert path.stat().st_size <= 100
        assert all(json.loads(line) for line in path.read_text().splitlines())


def test_row_larger_than_the_limit_is_kept(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl", max_bytes=10)
    audit.add({"text": "long enough"})
    audit.add({"text": "long again"})
    assert [row["text"] for row in read_audit(audit.path)] == ["long enough", "long again"]


def append_rows(path: Path, name: str) -> None:
    log = AuditLog(path, max_bytes=30_000, shared=True)
    for number in range(100):
        log.add({"writer": name, "number": number, "text": name * 500})


def test_processes_that_write_to_one_file_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_rows, args=(path, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    rows = read_audit(path)
    assert len(rows) == 200
    assert all(row["text"] == row["writer"] * 500 for row in rows)
    for name in "ab":
        assert [row["number"] for row in rows if row["writer"] == name] == list(range(100))
