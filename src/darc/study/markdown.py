"""Markdown as HTML in which nothing runs, loads or leads on."""

from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt

# Links and pictures stay the text that they are written as, so nothing is fetched or followed.
_RULES_OFF = ["link", "image", "autolink", "reference", "html_block", "html_inline"]
_PLAIN_TOKENS = ("heading_open", "heading_close", "th_open", "td_open", "fence", "code_block")
# The page has headings of its own above those of a text.
_HEADING_OFFSET = 2
_LOWEST_HEADING = 6


def render_markdown(text: str, *, breaks: bool = True) -> str:
    """Render Markdown, the same whoever wrote it.

    Args:
        text: The Markdown.
        breaks: Whether the end of a line is a line break, as in chats; in prose it is not.

    Returns:
        HTML.
    """
    return str(_parser(breaks).render(text.replace("\x00", "\ufffd")))


@cache
def _parser(breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    parser.disable(_RULES_OFF)
    for token_type in _PLAIN_TOKENS:
        parser.add_render_rule(token_type, _render_plain)
    return parser


def _render_plain(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Headings below the page's own, cells without style, and code without its language's name."""
    token = tokens[index]
    if token.type in ("fence", "code_block"):
        return f"<pre><code>{escape(token.content)}</code></pre>\n"
    tag = token.tag
    if tag.startswith("h"):
        level = int(tag[1]) + _HEADING_OFFSET
        tag = f"h{min(_LOWEST_HEADING, level)}"
    if token.nesting < 0:
        return f"</{tag}>"
    return f"<{tag}>"
