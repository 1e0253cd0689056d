"""The style sheet that all pages share."""

from collections.abc import Mapping
from pathlib import Path

from darc.views.palette import DARK, LIGHT

TEMPLATES = Path(__file__).parent / "templates"


def style_sheet(*page_styles: Path) -> str:
    """Join the colours, the style that all pages share, and the styles of one page.

    Args:
        *page_styles: The style sheets of the page and of its parts.

    Returns:
        One style sheet.
    """
    files = (TEMPLATES / "shared.css", *page_styles)
    return color_variables() + "".join(path.read_text(encoding="utf-8") for path in files)


def color_variables(selector: str = ":root") -> str:
    """Write the colours as CSS variables, light and dark.

    Args:
        selector: The elements that get the variables.

    Returns:
        CSS rules for both colour schemes.
    """
    return (
        f"{selector} {{ color-scheme: light dark; {_declarations(LIGHT)}}}\n"
        f"@media (prefers-color-scheme: dark) {{ {selector} {{ {_declarations(DARK)}}} }}\n"
    )


def _declarations(colors: Mapping[str, str]) -> str:
    return "".join(f"--{name}: {color}; " for name, color in colors.items())
