from pathlib import Path

import pytest
from jinja2 import UndefinedError

from darc.views.html import render_page


def write(folder: Path, body: str) -> None:
    (folder / "own.html").write_text(f"<style>{{{{ style }}}}</style>{body}", encoding="utf-8")


def test_values_are_escaped_and_styles_are_not(tmp_path: Path) -> None:
    write(tmp_path, "<p>{{ text }}</p>")
    (tmp_path / "own.css").write_text("p > b { color: red }", encoding="utf-8")
    part = tmp_path / "part.css"
    part.write_text("i > b { color: blue }", encoding="utf-8")
    page = render_page("own.html", tmp_path, part_styles=[part], text="<b>")
    assert "<p>&lt;b&gt;</p>" in page
    assert page.index("i > b") < page.index("p > b")
    assert "--ink:" in page


def test_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "{{ nothing }}")
    with pytest.raises(UndefinedError, match="nothing"):
        render_page("own.html", tmp_path)
