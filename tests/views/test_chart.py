from pathlib import Path

import pytest

from darc.views.chart import (
    DASHES,
    MARKERS,
    MOST_SERIES,
    inline_svg,
    looks,
    new_figure,
    svg_of,
    write_picture,
)
from darc.views.palette import SERIES


def test_every_series_is_told_apart_without_colour() -> None:
    found = looks([f"s{i}" for i in range(MOST_SERIES)]).values()
    assert len({look.marker for look in found}) == MOST_SERIES
    assert len({str(look.dashes) for look in found}) == MOST_SERIES
    assert len(SERIES) == len(MARKERS) == len(DASHES)


def test_too_many_series_are_refused() -> None:
    with pytest.raises(ValueError, match="told apart"):
        looks([str(i) for i in range(MOST_SERIES + 1)])


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
    svg = svg_of(figure_of("<script>alert(1)</script>"), "line")
    inline = inline_svg(svg, "line", 'a "line" & <more>')
    assert "<script" not in inline
    assert 'aria-label="a &quot;line&quot; &amp; &lt;more&gt;"' in inline
    assert "<metadata" not in inline
    assert all(part.startswith("line-") for part in inline.split('id="')[1:])
    assert "url(#line-" in inline
