import json
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
