import io
import sys
import time

import pytest

from darc.cli.output import counting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_answers_are_counted_by_quarters(capsys: pytest.CaptureFixture[str]) -> None:
    with counting(16, "answers written") as report:
        for done in range(1, 17):
            report(done, 16)
    told = [line.rsplit(",", 1)[0] for line in capsys.readouterr().err.splitlines()]
    assert told == [f"{done} of 16 answers written" for done in (4, 8, 12, 16)]


def test_on_a_terminal_the_line_moves_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with counting(3, "answers written") as report:
        time.sleep(1.2)
        report(2, 3)
    assert "\r0 of 3 answers written, 1 s" in screen.getvalue()
    assert screen.getvalue().endswith("\r2 of 3 answers written, 1 s\n")
