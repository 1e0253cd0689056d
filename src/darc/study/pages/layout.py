"""What every page has around it."""

from collections.abc import Mapping
from html import escape

UNSAVED = "This was NOT saved"
KEPT_HERE = (
    "The study cannot save anything at the moment. What you sent is kept on this page: wait a "
    "minute, then press the button to send it again. If that fails, tell whoever invited you."
)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def page(root: str, title: str, body: str, *, script: bool = False, kind: str = "") -> str:
    """A whole page; the body is trusted, the title is not. `root` goes before every path."""
    code = f'<script src="{escape(root)}/static/study.js" defer></script>' if script else ""
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">'
        f'<link rel="stylesheet" href="{escape(root)}/static/study.css">{code}</head>\n'
        f'<body class="{escape(kind)}">\n{body}\n</body></html>\n'
    )


def form(root: str, action: str, token: str, body: str, /, **hidden: str) -> str:
    """A form that posts to a path, with the visitor's form token and hidden fields."""
    fields = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in {"form_token": token, **hidden}.items()
    )
    return f'<form method="post" action="{escape(root)}{escape(action)}">{fields}{body}</form>'


def message(root: str, title: str, text: str, more: str = "") -> str:
    """A page that says one thing; `more` is trusted and stands below it."""
    body = f'<main class="narrow"><h1>{escape(title)}</h1><p>{escape(text)}</p>{more}</main>'
    return page(root, title, body)


def again_page(root: str, path: str, fields: Mapping[str, str]) -> str:
    """A page that says that a form was not saved, and holds it to be sent again."""
    others = {name: value for name, value in fields.items() if name != "form_token"}
    button = '<p><button type="submit">Send again</button></p>'
    return message(
        root, UNSAVED, KEPT_HERE, form(root, path, fields.get("form_token", ""), button, **others)
    )
