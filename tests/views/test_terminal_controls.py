"""What reaches a terminal of what models and files say."""

import io

import pytest

from darc.views.terminal import SafeStream, remove_controls

ATTACKS = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;title\x07",
    "\x1b]8;;http://127.0.0.1/\x1b\\link",
    "\x1b[2J",
    "\x1bP+q\x1b\\",
    "\x9b2J",
    "a\bb",
    "\u202eevil",
    "\u2066evil",
    "one\rtwo",
    "\x7f",
]
FORBIDDEN = set("\x1b\x07\x9b\b\r\x7f\u202e\u2066\x9d\x90")


@pytest.mark.parametrize("text", ATTACKS)
def test_control_characters_do_not_reach_a_terminal(text: str) -> None:
    stream = io.StringIO()
    print(f"before {text} after", file=SafeStream(stream))
    assert not FORBIDDEN & set(stream.getvalue())
    assert not FORBIDDEN & set(remove_controls(text))
    assert stream.getvalue().startswith("before ")


def test_ordinary_text_and_styles_stay() -> None:
    text = "\x1b[1mname\x1b[0m\tNaïve, 日本語, family 👨\u200d👩\u200d👧, نه\u200cخیر\n"
    stream = io.StringIO()
    SafeStream(stream).write(text)
    assert stream.getvalue() == text


def test_progress_bars_may_return_to_the_beginning_of_a_line() -> None:
    stream = io.StringIO()
    SafeStream(stream, bars=True).write("\r12 %\x1b[2J")
    assert stream.getvalue() == "\r12 %[2J"
