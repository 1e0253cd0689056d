"""What every page has around it."""

from html import escape

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


def form(root: str, action: str, token: str, body: str, **hidden: str) -> str:
    """A form that posts to a path, with the visitor's form token and hidden fields."""
    fields = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in {"form_token": token, **hidden}.items()
    )
    return f'<form method="post" action="{escape(root)}{escape(action)}">{fields}{body}</form>'


def message(root: str, title: str, text: str) -> str:
    """A page that says one thing."""
    body = f'<main class="narrow"><h1>{escape(title)}</h1><p>{escape(text)}</p></main>'
    return page(root, title, body)
