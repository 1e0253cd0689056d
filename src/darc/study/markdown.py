"""Markdown to HTML in which nothing runs, loads or leads elsewhere."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from darc.errors import MissingExtra

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Links and pictures stay the text that they are written as, so nothing is fetched or followed.
OFF = ("link", "image", "autolink", "reference", "html_block", "html_inline")
HEADINGS = 2


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
    from html import escape

    return f"<pre><code>{escape(tokens[index].content)}</code></pre>\n"
