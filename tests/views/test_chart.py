from pathlib import Path

import pytest

from darc.errors import InputError, MissingExtra
from darc.views.chart import (
    DASHES,
    MARKERS,
    MAX_SERIES,
    check_picture,
    figure_svg,
    inline_svg,
    new_figure,
    series_styles,
    write_picture,
)
from darc.views.palette import SERIES


def test_every_series_is_told_apart_without_colour() -> None:
    found = series_styles([f"s{i}" for i in range(MAX_SERIES)]).values()
    assert len({look.marker for look in found}) == MAX_SERIES
    assert len({str(look.dashes) for look in found}) == MAX_SERIES
    assert len(SERIES) == len(MARKERS) == len(DASHES)


def test_too_many_series_are_refused() -> None:
    with pytest.raises(ValueError, match="told apart"):
        series_styles([str(i) for i in range(MAX_SERIES + 1)])


def figure_of(title: str):  # type: ignore[no-untyped-def]
    figure = new_figure(3, 2)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], marker="o", label=title)
    axes.set_title(title)
    return figure


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for place in ("one", "two"):
        paths, text = write_picture(figure_of("a line"), tmp_path / place, "line")
        assert paths[1].read_text(encoding="utf-8") == text
        contents.append([path.read_bytes() for path in paths])
    assert contents[0] == contents[1]


def test_an_inline_picture_has_ids_of_its_own_and_text_is_escaped() -> None:
    svg = figure_svg(figure_of("<script>alert(1)</script>"), "line")
    inline = inline_svg(svg, "line", 'a "line" & <more>')
    assert "<script" not in inline
    assert 'aria-label="a &quot;line&quot; &amp; &lt;more&gt;"' in inline
    assert "<metadata" not in inline
    assert all(part.startswith("line-") for part in inline.split('id="')[1:])
    assert "url(#line-" in inline


def test_other_endings_are_refused() -> None:
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf"):
        check_picture(Path("picture.doc"))


def test_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"\[plot\]"):
        check_picture(Path("picture.png"))
