"""The colours of every page and picture, and the style sheet that pages share."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"

INK, PALE, LABEL, GRID = "#1f2933", "#8a94a3", "#5a6573", "#e8ecf0"
CHOICE, OTHER, BAND, PALE_OTHER = "#0b6fa4", "#c2571a", "#dcecf5", "#fbe9dd"
SERIES = ("#0b5a8a", "#d1611a", "#1f2933", "#35b892", "#b0559f", "#c79a00", "#6db3e0", "#7d8794")

LIGHT = {
    "ink": INK, "pale": "#55606e", "line": "#d5dbe3", "edge": "#6f7a86", "soft": PALE,
    "grid": "#eef1f4", "back": "#ffffff", "card": "#f6f8fa", "mark": CHOICE, "on": "#ffffff",
    "other": "#b34a0f", "band": BAND, "wrong": "#a4161a", "warn": "#8a3b00", "new": "#fff0c2",
}  # fmt: skip
DARK = {
    "ink": "#e6eaef", "pale": "#a7b1bd", "line": "#3a4450", "edge": "#87939f", "soft": "#7d8896",
    "grid": "#242b33", "back": "#14181d", "card": "#1d232a", "mark": "#58b4e5", "on": "#0b0f13",
    "other": "#f0955a", "band": "#1c3544", "wrong": "#ff8f8f", "warn": "#ffb37a", "new": "#4d4013",
}  # fmt: skip


def color_variables(selector: str = ":root") -> str:
    """The colours as CSS variables of whatever a selector selects, light and dark."""
    light, dark = (
        "".join(f"--{name}: {color}; " for name, color in colors.items())
        for colors in (LIGHT, DARK)
    )
    return (
        f"{selector} {{ color-scheme: light dark; {light}}}\n"
        f"@media (prefers-color-scheme: dark) {{ {selector} {{ {dark}}} }}\n"
    )


def style_sheet(*own: Path) -> str:
    """The colours as CSS variables, light and dark, what all pages share, and the page's own."""
    files = (TEMPLATES / "shared.css", *own)
    return color_variables() + "".join(path.read_text(encoding="utf-8") for path in files)
