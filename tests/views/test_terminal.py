import io
import sys

import pytest

from darc.views.terminal import bold, red


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())


def test_a_terminal_gets_bold_and_red(monkeypatch: pytest.MonkeyPatch) -> None:
    use_terminal(monkeypatch)
    assert bold("a") == "\x1b[1ma\x1b[0m"
    assert red("a") == "\x1b[31ma\x1b[0m"
    assert bold("") == ""


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    use_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    assert bold("a") == red("a") == "a"


def test_a_file_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert bold("a") == red("a") == "a"
