"""Pages from templates, every value in them escaped unless it is marked as safe."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.views.palette import TEMPLATES, style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment


@lru_cache
def environment(folder: Path = TEMPLATES) -> "Environment":
    """The templates of a folder, beside those that all pages share.

    `file.html` is the frame of a page that is one file without outside assets, and `parts.html`
    has macros such as `table`. An unknown name in a template is an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, folder: Path = TEMPLATES, **values: Any) -> str:
    """A template of the folder with these values; a `.css` of the same name is its own style."""
    from markupsafe import Markup

    own = (folder / name).with_suffix(".css")
    style = style_sheet(own) if own.exists() else style_sheet()
    return environment(folder).get_template(name).render(style=Markup(style), **values)
