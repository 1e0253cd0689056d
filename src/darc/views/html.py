"""Pages from templates, every value in them escaped unless it is marked as safe."""

from collections.abc import Sequence
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


def render(name: str, folder: Path = TEMPLATES, styles: Sequence[Path] = (), **values: Any) -> str:
    """A template with these values.

    Args:
        name: The template; a `.css` of the same name beside it is its own style.
        folder: Where it is.
        styles: Style sheets of the parts that the page contains.
        **values: What the template names.
    """
    from markupsafe import Markup

    own_style = (folder / name).with_suffix(".css")
    sheets = [*styles, own_style] if own_style.exists() else styles
    style = Markup(style_sheet(*sheets))
    return environment(folder).get_template(name).render(style=style, **values)
