"""The HTML shell: one file, no outside assets, readable on a phone and in the dark."""

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --pale: #5a6573; --line: #d8dee6;
  --back: #ffffff; --card: #f6f8fa; --mark: #0b6fa4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaef; --pale: #9aa5b1; --line: #3a4450;
  --back: #14181d; --card: #1d232a; --mark: #58b4e5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; color: var(--ink);
  background: var(--back); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.answer, .text { white-space: pre-wrap; overflow-wrap: anywhere; }
.answer { border-left: 4px solid var(--mark); padding: .5rem 1rem; background: var(--card); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr.chosen { font-weight: 600; background: var(--card); }
details { border: 1px solid var(--line); border-radius: 6px; padding: .4rem .8rem;
  margin: .5rem 0; }
summary { cursor: pointer; } .pale { color: var(--pale); font-size: .9rem; }
figure { margin: 1rem 0; background: #fff; border-radius: 6px; }
figure svg { width: 100%; height: auto; }
th:last-child, td:last-child { text-align: left; white-space: normal; min-width: 9rem; }
"""


def page(title: str, body: str, style: str = "") -> str:
    """A whole HTML page; the body and the added style are trusted, the title is not."""
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )


def element(tag: str, text: str, **attributes: str) -> str:
    """An element with escaped text; `kind` is its class."""
    given = "".join(
        f' {"class" if name == "kind" else name}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{given}>{escape(text)}</{tag}>"


def table(header: list[str], rows: list[list[str]], kinds: list[str]) -> str:
    """A table of escaped cells; `kinds` are the rows' classes."""
    head = "".join(element("th", cell) for cell in header)
    lines = []
    for row, kind in zip(rows, kinds, strict=True):
        cells = "".join(element("td", cell) for cell in row)
        lines.append(f'<tr class="{escape(kind)}">{cells}</tr>')
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(lines)}</table></div>'
