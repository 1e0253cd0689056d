"""The lead's page: progress, flags, agreement and decisions, blind until the study is closed."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from darc.study.config import SCALE
from darc.study.pages.charts import agreement_chart, bars, progress_chart
from darc.study.pages.layout import form, page
from darc.study.status import Details, ItemStatus, PersonStatus, Status

SHOWN = 200
LONGEST = 2000
RATINGS = list(range(SCALE[0], SCALE[1] + 1))
SIDES = {-1: "left", 0: "tie", 1: "right"}
ACTIONS = {
    "exclude": "exclude (give a reason)",
    "reinstate": "reinstate",
    "clear": "dismiss the flags",
    "renew": "make a new link",
    "revoke": "end the link",
    "erase": "erase the person",
}


def lead_page(
    root: str,
    token: str,
    status: Status,
    details: Details,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """The whole page; `links` are new ones, shown this once."""
    body = (
        f'<main class="wide"><h1>{escape(status.title)}</h1>'
        f"{_links(links)}{_summary(root, status, details)}"
        f"{_people(root, token, status, details)}{_items(status, details)}"
        f"{_exports(root, token, status)}{_actions(root, token, status)}</main>"
    )
    return page(root, status.title, body, kind="lead")


def _summary(root: str, status: Status, details: Details) -> str:
    total = len(status.items) * status.ratings
    state = "closed" if status.closed else "open; systems stay hidden until it is closed"
    at = datetime.fromtimestamp(details.now, UTC).strftime("%d %b %Y, %H:%M:%S UTC")
    groups = "".join(
        f"<p>{escape(name)}: "
        + ", ".join(f"{escape(group)} ({count})" for group, count in sorted(counts.items()))
        + "</p>"
        for name, counts in details.groups.items()
        if counts
    )
    alphas = {"all ratings": status.before, "after exclusion": status.after}
    return (
        f'<p>The study is {state}. <span class="pale">As of {at}.</span> '
        f'<a href="{escape(root)}/lead">Refresh</a></p><p><label>{status.given} of {total} valid '
        f"ratings, {status.complete} of {len(status.items)} items complete "
        f'<progress max="{max(1, total)}" value="{status.given}"></progress></label></p>'
        f'<h2>Progress and agreement</h2><div class="charts">'
        f"{progress_chart(details.times, total, details.now)}{agreement_chart(alphas)}</div>"
        + (f"<h2>Groups</h2>{groups}" if groups else "")
    )


def _people(root: str, token: str, status: Status, details: Details) -> str:
    given = "sides chosen" if status.mode == "pairwise" else "ratings, 0 to 10"
    header = (
        "rater", "state", "flags", "items", "skipped", "seconds, median", given,
        "attention failed", "gold failed", "decide",
    )  # fmt: skip
    rows = "".join(_person(root, token, each, status, details) for each in status.people)
    return f"<h2>Annotators</h2>{_table(header, rows)}"


def _person(root: str, token: str, person: PersonStatus, status: Status, details: Details) -> str:
    care = person.care
    flags = ", ".join(care.flags)
    told = f"{flags} (looked at)" if flags and person.cleared else flags
    state = person.state + (f": {person.reason}" if person.reason else "")
    counts = details.given.get(person.name, Counter())
    drawn = (
        bars(counts, list(SIDES), list(SIDES.values()))
        if status.mode == "pairwise"
        else bars(counts, RATINGS, [str(value) for value in RATINGS])
    )
    cells = [
        escape(state),
        escape(told),
        str(care.items),
        str(care.skipped),
        _number(care.median_seconds),
        drawn,
        f"{care.attention_failed} of {care.attention}",
        f"{care.gold_failed} of {care.gold}",
        _decide(root, token, person, status.closed),
    ]
    kind = "flagged" if flags and not person.cleared else ""
    wraps = ' class="wrap"'
    row = "".join(f"<td{wraps if n < 2 else ''}>{cell}</td>" for n, cell in enumerate(cells))
    return f'<tr class="{kind}"><th scope="row">{escape(person.name)}</th>{row}</tr>'


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
    options = "".join(
        f'<option value="{name}">{ACTIONS[name]}</option>' for name in (*actions, "erase")
    )
    name = escape(person.name)
    fields = (
        f'<select name="action" aria-label="Decision on {name}" required>'
        f'<option value="">Choose…</option>{options}</select> '
        f'<input name="reason" size="16" maxlength="200" aria-label="Reason for {name}" '
        f'placeholder="Reason"> <button type="submit">Apply</button>'
    )
    decision = form(root, "/lead/decide", token, fields, rater=person.name)
    return f'<details><summary aria-label="Decide on {name}">Decide</summary>{decision}</details>'


def _items(status: Status, details: Details) -> str:
    measure = "share against the majority" if status.mode == "pairwise" else "standard deviation"
    names = ("prompt", "candidate") if status.closed else ()
    header = ("item", *names, "valid", "in hand", "set aside", "skipped", measure)
    ranked = status.ranked
    rows = "".join(_item(item, status, details) for item in ranked[:SHOWN])
    more = f"<p>{len(ranked) - SHOWN} more.</p>" if len(ranked) > SHOWN else ""
    return f"<h2>Items, most disagreement first</h2>{_table(header, rows)}{more}"


def _item(item: ItemStatus, status: Status, details: Details) -> str:
    prompt, *responses = details.texts.get(item.label, ("",))
    names = ["Answer"] if len(responses) == 1 else ["An answer", "The other answer"]
    parts = [("Question", prompt), *zip(names, responses, strict=True)]
    parts += [(f"Comment of {name}", text) for name, text in details.comments.get(item.label, [])]
    said = len(details.comments.get(item.label, []))
    noted = f" ({said} comment{'' if said == 1 else 's'})" if said else ""
    texts = "".join(
        f'<p class="role">{escape(name)}</p><p class="text">{escape(_short(text))}</p>'
        for name, text in parts
    )
    cells = [
        *((item.prompt_id, item.candidates) if status.closed else ()),
        f"{item.valid} of {status.ratings}",
        str(item.leased),
        str(item.set_aside),
        str(item.skipped),
        _number(item.disagreement),
    ]
    return (
        f'<tr><th scope="row"><details><summary>{escape(item.label)}{noted}</summary>{texts}'
        f"</details></th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    )


def _exports(root: str, token: str, status: Status) -> str:
    name = "comparisons" if status.mode == "pairwise" else "ratings"
    sure = (
        '<p><label class="tick"><input type="checkbox" name="sure" value="yes" required> '
        "The study is open, and the files name the systems: I want them all the same</label></p>"
    )
    choices = {f"{name}.csv": "CSV", f"{name}.jsonl": "JSON lines", "zip": "All files (zip)"}
    buttons = " ".join(
        f'<button type="submit" name="file" value="{value}">{text}</button>'
        for value, text in choices.items()
    )
    fields = f"{'' if status.closed else sure}<p>{buttons}</p>"
    return f"<h2>Download</h2>{form(root, '/lead/export', token, fields)}"


def _actions(root: str, token: str, status: Status) -> str:
    if status.closed:
        return ""
    add = (
        '<label>More annotators: <input type="number" name="count" min="1" max="100" value="1">'
        '</label> <button type="submit">Make links</button>'
    )
    close = (
        '<p><label class="tick"><input type="checkbox" name="sure" value="yes" required> '
        'No more answers are taken, and systems are shown</label></p><p><button type="submit">'
        "Close the study</button></p>"
    )
    return (
        f"<h2>Links</h2>{form(root, '/lead/links', token, add)}"
        f"<h2>Close</h2>{form(root, '/lead/close', token, close)}"
    )


def _links(links: Sequence[tuple[str, str]]) -> str:
    if not links:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><code>{escape(link)}</code></td></tr>'
        for name, link in links
    )
    return (
        '<section class="note"><h2>New links</h2><p>They are shown this once.</p>'
        f"{_table(('rater', 'link'), rows)}</section>"
    )


def _table(header: Sequence[str], rows: str) -> str:
    """A table that scrolls in its own box, by keys too; the rows are trusted."""
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="table: {header[0]}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.2f}"
