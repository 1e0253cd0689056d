"""The lead's page: progress, flags, agreement and decisions, blind until the study is closed."""

from collections.abc import Sequence
from html import escape

from darc.study.agreement import Alpha
from darc.study.pages.layout import form, page
from darc.study.status import PersonStatus, Status

SHOWN = 500


def lead_page(root: str, token: str, status: Status, links: Sequence[tuple[str, str]] = ()) -> str:
    """The whole page; `links` are new ones, shown this once."""
    body = (
        f"<main class='wide'><h1>{escape(status.title)}</h1>"
        f"{_links(links)}{_summary(status)}{_people(root, token, status)}{_items(status)}"
        f"{_actions(root, token, status)}</main>"
    )
    return page(root, status.title, body, kind="lead")


def _summary(status: Status) -> str:
    total = len(status.items) * status.ratings
    state = "closed" if status.closed else "open; systems stay hidden until it is closed"
    return (
        f"<p>The study is {state}.</p><p><label>{status.given} of {total} valid ratings, "
        f"{status.complete} of {len(status.items)} items complete "
        f'<progress max="{max(1, total)}" value="{status.given}"></progress></label></p>'
        "<h2>Agreement</h2><div class='scroll'>"
        "<table><thead><tr><th>ratings</th><th>Krippendorff's alpha</th><th>95 % interval</th>"
        "<th>number</th></tr></thead><tbody>"
        f"{_alpha('all', status.before)}{_alpha('after exclusion', status.after)}"
        "</tbody></table></div>"
    )


def _alpha(name: str, alpha: Alpha) -> str:
    return (
        f"<tr><td>{name}</td><td>{_number(alpha.alpha)}</td>"
        f"<td>{_number(alpha.low)} to {_number(alpha.high)}</td><td>{alpha.ratings}</td></tr>"
    )


def _people(root: str, token: str, status: Status) -> str:
    header = (
        "rater", "state", "items", "seconds", "attention failed", "gold failed", "flags", "decide",
    )  # fmt: skip
    rows = "".join(_person(root, token, each, status.closed) for each in status.people)
    head = "".join(f"<th>{name}</th>" for name in header)
    return (
        f"<h2>Annotators</h2><div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _person(root: str, token: str, person: PersonStatus, closed: bool) -> str:
    care = person.care
    flags = ", ".join(care.flags)
    told = f"{flags} (looked at)" if flags and person.cleared else flags
    state = person.state + (f": {person.reason}" if person.reason else "")
    cells = (
        person.name,
        state,
        str(care.items),
        _number(care.median_seconds),
        f"{care.attention_failed} of {care.attention}",
        f"{care.gold_failed} of {care.gold}",
        told,
    )
    kind = "flagged" if flags and not person.cleared else ""
    row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr class="{kind}">{row}<td>{_decide(root, token, person, closed)}</td></tr>'


def _decide(root: str, token: str, person: PersonStatus, closed: bool) -> str:
    if person.state == "erased":
        return ""
    actions = []
    if person.state == "excluded":
        actions.append("reinstate")
    else:
        actions.append("exclude")
        if person.care.flags and not person.cleared:
            actions.append("clear")
    if not closed:
        actions += ["renew", "revoke"]
    options = "".join(f"<option>{name}</option>" for name in ("", *actions, "erase"))
    name = escape(person.name)
    fields = (
        f'<select name="action" aria-label="decision on {name}" required>{options}</select> '
        f'<input name="reason" size="12" maxlength="200" aria-label="reason for {name}" '
        'placeholder="reason"> <button type="submit">Do</button>'
    )
    return form(root, "/lead/decide", token, fields, rater=person.name)


def _items(status: Status) -> str:
    ranked = sorted(
        status.items,
        key=lambda item: -item.disagreement if item.disagreement == item.disagreement else 1.0,
    )
    names = "<th>prompt</th><th>candidate</th>" if status.closed else ""
    measure = "share against the majority" if status.mode == "pairwise" else "standard deviation"
    rows = "".join(
        f"<tr><td>{escape(item.label)}</td>"
        + (
            f"<td>{escape(item.prompt_id)}</td><td>{escape(item.candidates)}</td>"
            if status.closed
            else ""
        )
        + f"<td>{item.valid} of {status.ratings}</td><td>{item.leased}</td>"
        f"<td>{item.set_aside}</td><td>{_number(item.disagreement)}</td></tr>"
        for item in ranked[:SHOWN]
    )
    more = f"<p>{len(ranked) - SHOWN} more.</p>" if len(ranked) > SHOWN else ""
    return (
        "<h2>Items, most disagreement first</h2><div class='scroll'><table><thead><tr>"
        f"<th>item</th>{names}<th>valid</th><th>in hand</th><th>set aside</th><th>{measure}</th>"
        f"</tr></thead><tbody>{rows}</tbody></table></div>{more}"
    )


def _actions(root: str, token: str, status: Status) -> str:
    if status.closed:
        return (
            f'<h2>Export</h2><p><a href="{escape(root)}/lead/export">'
            "Download all files (zip)</a></p>"
        )
    add = (
        '<label>More annotators: <input type="number" name="count" min="1" max="100" value="1">'
        '</label> <button type="submit">Make links</button>'
    )
    close = (
        '<label><input type="checkbox" name="sure" value="yes" required> '
        'No more answers are taken, and systems are shown</label> <button type="submit">'
        "Close the study</button>"
    )
    return (
        f"<h2>Links</h2>{form(root, '/lead/links', token, add)}"
        f"<h2>Close</h2>{form(root, '/lead/close', token, close)}"
    )


def _links(links: Sequence[tuple[str, str]]) -> str:
    if not links:
        return ""
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td><code>{escape(link)}</code></td></tr>"
        for name, link in links
    )
    return (
        "<section class='note'><h2>New links</h2><p>They are shown this once.</p>"
        f"<table><tbody>{rows}</tbody></table></section>"
    )


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.2f}"
