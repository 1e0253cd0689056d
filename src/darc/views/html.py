"""Pages made from templates; every value in them is escaped unless it is marked as safe."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.views.style_sheet import TEMPLATES, style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment


@lru_cache
def environment(folder: Path = TEMPLATES) -> "Environment":
    """The templates of a folder together with those that all pages share.

    `file.html` is the frame of a page that is one file without outside assets, and `parts.html`
    has macros such as `table`. An unknown name in a template is an error.

    Args:
        folder: Where the templates are.

    Returns:
        The environment that loads them.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(
    name: str, folder: Path = TEMPLATES, part_styles: Sequence[Path] = (), **values: Any
) -> str:
    """Fill in the template of a page.

    Args:
        name: The template; a `.css` file of the same name beside it is its style.
        folder: Where the template is.
        part_styles: Style sheets of the parts that the page contains.
        **values: The values that the template names.

    Returns:
        The page.
    """
    from markupsafe import Markup

    styles = list(part_styles)
    page_style = (folder / name).with_suffix(".css")
    if page_style.exists():
        styles.append(page_style)
    style = Markup(style_sheet(*styles))
    return environment(folder).get_template(name).render(style=style, **values)
