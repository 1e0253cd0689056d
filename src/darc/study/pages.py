"""Pages of a study from its templates, and Markdown in which nothing runs, loads or leads on."""

from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from darc.errors import MissingExtra
from darc.study.settings import TEMPLATES
from darc.views.html import environment

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Links and pictures stay the text that they are written as, so nothing is fetched or followed.
OFF = ("link", "image", "autolink", "reference", "html_block", "html_inline")
HEADINGS = 2


def page(name: str, root: str, title: str, **values: Any) -> str:
    """The page of a template; `root` goes before every path."""
    return _templates().get_template(f"{name}.html").render(root=root, title=title, **values)


def message(root: str, title: str, text: str) -> str:
    """A page that says one thing."""
    return page("message", root, title, text=text, again="")


@cache
def _templates() -> "Environment":
    """The templates, in which what people wrote is Markdown and a study's own texts prose."""
    from markupsafe import Markup

    found = environment(TEMPLATES)
    found.filters["markdown"] = lambda text: Markup(render(text))
    found.filters["prose"] = lambda text: Markup(render(text, breaks=False))
    return found


def render(text: str, *, breaks: bool = True) -> str:
    """HTML of a text; the same for all texts, whoever wrote them.

    With `breaks` the end of a line is one, as chat pages have it; prose wrapped in a file has none.
    """
    return str(_parser(breaks).render(text.replace("\x00", "\ufffd")))


@lru_cache(maxsize=2)
def _parser(breaks: bool) -> "MarkdownIt":
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        raise MissingExtra("showing Markdown", "study") from None
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable(list(OFF))
    for rule in ("heading_open", "heading_close"):
        parser.add_render_rule(rule, _heading)
    for rule in ("th_open", "td_open"):
        parser.add_render_rule(rule, _cell)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


def _heading(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Headings below those of the page."""
    token = tokens[index]
    level = min(6, int(token.tag[1]) + HEADINGS)
    return f"<{'/' if token.nesting < 0 else ''}h{level}>"


def _cell(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Cells without a style of their own, which the page's policy refuses."""
    return f"<{tokens[index].tag}>"


def _code(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Code without the name of its language."""
    return f"<pre><code>{escape(tokens[index].content)}</code></pre>\n"
