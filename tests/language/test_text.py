"""The parts of a text."""

from darc.language.text import Text

CODE = "Run this:\n\n```python\nx = f(1)\n```"


def test_parts_of_an_answer() -> None:
    text = Text(
        "# Title\n\nIt\u2019s **bold** `x`. See [here](http://a.b)!\n\n1. one\n2) two\n\n" + CODE
    )
    assert text.code == ["x = f(1)\n"]
    assert text.inline_code == ["`x`"]
    assert text.items == ["one", "two"]
    assert not text.fence_is_open
    assert text.sentences == ["Title", "It's bold this.", "See here!", "one", "two", "Run this:"]
    assert text.words[:4] == ["title", "it's", "bold", "this"]
    assert Text("x = f(1)\nreturn x").code_lines == 2
    assert Text("Let me think.\nFor me it is fine.").code_lines == 0
