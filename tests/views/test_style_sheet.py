from pathlib import Path

from darc.views.palette import DARK, LIGHT
from darc.views.style_sheet import color_variables, style_sheet


def test_a_page_has_the_colours_both_ways_what_is_shared_and_its_own(tmp_path: Path) -> None:
    own = tmp_path / "own.css"
    own.write_text(".own { color: var(--ink) }", encoding="utf-8")
    sheet = style_sheet(own)
    light, dark = sheet.split("@media (prefers-color-scheme: dark)", 1)
    assert f"--ink: {LIGHT['ink']};" in light
    assert f"--ink: {DARK['ink']};" in dark
    assert LIGHT.keys() == DARK.keys()
    assert sheet.startswith(style_sheet())
    assert sheet.endswith(".own { color: var(--ink) }")


def test_colours_can_be_those_of_one_element() -> None:
    variables = color_variables(".mine")
    assert variables.count(".mine {") == 2
    assert ":root" not in variables
    assert f"--mark: {LIGHT['mark']};" in variables
