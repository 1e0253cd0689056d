import re

import pytest

from darc.study.markdown import render_markdown

NASTY = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [click](javascript:alert(3)) "
    "![p](https://evil.example/p.png) <https://evil.example> "
    "<iframe src=//evil.example></iframe>\n\n"
    "</section></main><form action=/answer><input name=answer value=1></form>\n\n"
    "| a | b |\n|:--|--:|\n| <b onclick=x> | `</code><script>` |\n\n```<x>\n</pre><script>\n```\n"
)


@pytest.mark.parametrize("text", [NASTY, "a" * 50_000, "[" * 5000, "> " * 3000, "`" * 5000, "\x00"])
def test_markdown_is_bounded_and_has_no_attributes(text: str) -> None:
    assert re.findall(r"<\w+ [^>]*>", render_markdown(text).replace("<br />", "")) == []
