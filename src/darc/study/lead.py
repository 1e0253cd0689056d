"""The lead's page: progress, flags, agreement and decisions, blind until the study is closed."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from darc.errors import DarcError
from darc.study import exclusion, people, schema
from darc.study.export import files
from darc.study.files import Unavailable
from darc.study.pages import page
from darc.study.quality import Alpha
from darc.study.requests import (
    BAD_LINK,
    LEAD,
    Site,
    form_token,
    go,
    page_response,
    read_form,
    secret_of,
    with_cookie,
)
from darc.study.settings import SCALE
from darc.study.status import Details, PersonStatus, Status, close, details, status
from darc.web.clients import digest_of
from darc.web.problems import Problem

NO_LEAD = (
    "This page is for the study's lead. Open the lead's link, which darc study init printed; "
    "darc study links --lead makes a new one, and the old one then works no more."
)
COUNT = re.compile(r"[1-9][0-9]?|100")
SHOWN = 200
LONGEST = 2000
ACTIONS = {
    "exclude": "exclude (give a reason)",
    "reinstate": "reinstate",
    "clear": "dismiss the flags",
    "renew": "make a new link",
    "revoke": "end the link",
    "erase": "erase the person",
}
LEFT, RIGHT, TOP, BASE = 40, 368, 14, 158
POINTS = 400


class LeadPages:
    """Handlers of the lead's page, behind the lead's own secret."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store

    def join(self, request: Request) -> Response:
        """Follow the lead's link."""
        token = secret_of(request)
        self._check(request, token)
        return with_cookie(self._site, go(self._site, "/lead"), LEAD, token)

    def home(self, request: Request) -> Response:
        """The lead's page."""
        return self._page(self._visitor(request))

    def decide(self, request: Request) -> Response:
        """Exclude, reinstate, clear, renew, revoke or erase an annotator."""
        token = self._visitor(request)
        fields = read_form(request, token)
        rater, reason = fields.get("rater", ""), fields.get("reason", "")
        links = self._tried(self._decide, fields.get("action", ""), rater, reason)
        return self._page(token, links) if links else go(self._site, "/lead")

    def links(self, request: Request) -> Response:
        """Make links for more annotators, and show them once."""
        token = self._visitor(request)
        fields = read_form(request, token)
        count = fields.get("count", "")
        if not COUNT.fullmatch(count):
            raise Problem(400, "Give a number from 1 to 100.")
        made = self._tried(people.add_links, self._store, int(count))
        return self._page(token, self._addresses(made))

    def close(self, request: Request) -> Response:
        """Close the study."""
        token = self._visitor(request)
        fields = read_form(request, token)
        if fields.get("sure") == "yes":
            self._tried(close, self._store)
        return go(self._site, "/lead")

    def export(self, request: Request) -> Response:
        """A file, or all as a zip; of an open study only if the lead says so."""
        token = self._visitor(request)
        fields = read_form(request, token)
        made = self._tried(partial(files, unblind=fields.get("sure") == "yes"), self._store)
        name = fields.get("file", "")
        if name in made:
            headers = {"content-disposition": f'attachment; filename="{name}"'}
            kind = "text/csv" if name.endswith(".csv") else "application/x-ndjson"
            return Response(made[name].encode(), 200, headers, f"{kind}; charset=utf-8")
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in made.items():
                archive.writestr(name, text)
        headers = {"content-disposition": 'attachment; filename="study.zip"'}
        return Response(stream.getvalue(), 200, headers, "application/zip")

    def _visitor(self, request: Request) -> str:
        token = request.cookies.get(LEAD, "")
        self._check(request, token)
        return token

    def _check(self, request: Request, token: str) -> None:
        """Turn away whoever does not carry the lead's secret, before looking too often."""
        with self._store.read() as connection:
            digest = connection.execute(select(schema.study.c.lead_hash)).scalar_one()
        if not token or digest_of(token) != digest:
            self._site.count_stranger(request)
            raise Problem(403, NO_LEAD, code=BAD_LINK)
        self._site.count("lead")

    def _page(self, token: str, links: Sequence[tuple[str, str]] = ()) -> Response:
        found = status(self._store)
        shown = [item.label for item in found.ranked[:SHOWN]]
        more = details(self._store, shown)
        return page_response(lead_page(self._site.root, form_token(token), found, more, links))

    def _tried(self, work: Any, *given: Any) -> Any:
        try:
            return work(*given)
        except Unavailable:
            raise
        except DarcError as problem:
            raise Problem(400, str(problem)) from None

    def _decide(self, action: str, rater: str, reason: str) -> list[tuple[str, str]]:
        if action == "exclude":
            exclusion.exclude_by_name(self._store, rater, reason)
        elif action == "reinstate":
            exclusion.reinstate(self._store, rater)
        elif action == "clear":
            exclusion.clear(self._store, rater)
        elif action == "renew":
            return self._addresses(people.issue_links(self._store, [rater]))
        elif action == "revoke":
            people.revoke(self._store, rater)
        elif action == "erase":
            people.erase(self._store, rater)
        else:
            raise Problem(400, "Choose what to do.")
        return []

    def _addresses(self, made: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(name, self._site.link(f"/join/{token}")) for name, token in made]


def lead_page(
    root: str,
    token: str,
    status: Status,
    details: Details,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """The whole page; `links` are new ones, shown this once."""
    total, pairwise = len(status.items) * status.ratings, status.mode == "pairwise"
    values = ("left", "tie", "right") if pairwise else tuple(range(SCALE[0], SCALE[1] + 1))
    alphas = {"all ratings": status.before, "after exclusion": status.after}
    return page(
        "lead",
        root,
        status.title,
        token=token,
        status=status,
        details=details,
        links=links,
        total=total,
        pairwise=pairwise,
        items=status.ranked[:SHOWN],
        charts=[progress_chart(details.times, total, details.now), agreement_chart(alphas)],
        at=_time(details.now, "%d %b %Y, %H:%M:%S UTC"),
        bars_of=lambda name: _bars(details.given.get(name, Counter()), values),
        actions=ACTIONS,
        actions_of=partial(_actions, closed=status.closed),
        longest=LONGEST,
    )


def _actions(person: PersonStatus, closed: bool) -> list[str]:
    """What the lead may decide on a person."""
    first = ["reinstate"] if person.state == "excluded" else ["exclude"]
    if person.care.flags and not person.cleared and person.state != "excluded":
        first.append("clear")
    return [*first, *([] if closed else ["renew", "revoke"]), "erase"]


def _bars(counts: Counter[str | float], values: Sequence[str | float]) -> dict[str, Any]:
    """A tiny bar for each of some values, none where all counts are 0."""
    most = max(counts[value] for value in values)
    return {
        "width": 8 * len(values),
        "heights": [24 * counts[value] / most for value in values] if most else [],
        "words": ", ".join(f"{value}: {counts[value]}" for value in values if counts[value]),
    }


@dataclass
class Chart:
    """What a chart of the page is drawn of: paths, dots (x, y) and labels (x, y, anchor, words)."""

    title: str
    words: str
    grid: list[str] = field(default_factory=list)
    curves: list[str] = field(default_factory=list)
    dots: list[tuple[float, float]] = field(default_factory=list)
    labels: list[tuple[float, float, str, str]] = field(default_factory=list)


def progress_chart(times: Sequence[float], total: int, now: float) -> Chart:
    """Valid ratings by time, up to how many are wanted."""
    chart = Chart("Valid ratings by time", f"{len(times)} of {total} valid ratings")
    begin = min(times, default=now)
    end = max(now, begin + 1)

    def place(at: float, count: float) -> str:
        across = LEFT + (at - begin) / (end - begin) * (RIGHT - LEFT)
        return f"{across:.1f} {BASE - count / max(1, total) * (BASE - TOP):.1f}"

    ordered = sorted(times)
    every = max(1, len(ordered) // POINTS)
    steps = [f"L{place(at, count)}" for count, at in enumerate(ordered, 1) if count % every == 0]
    chart.curves.append("".join([f"M{place(begin, 0)}", *steps, f"L{place(end, len(ordered))}"]))
    for share in (0.0, 0.5, 1.0):
        level = BASE - share * (BASE - TOP)
        chart.grid.append(f"M{LEFT} {level:.1f}H{RIGHT}")
        chart.labels.append((LEFT - 6, level + 4, "end", f"{round(share * total)}"))
    for x, anchor, at in ((LEFT, "start", begin), (RIGHT, "end", end)):
        chart.labels.append((x, BASE + 20, anchor, _time(at, "%d %b %H:%M")))
    return chart


def agreement_chart(rows: Mapping[str, Alpha]) -> Chart:
    """Krippendorff's alpha of each set of ratings, with its interval and customary limits."""
    told = "; ".join(f"{name}: {alpha.words}" for name, alpha in rows.items())
    chart = Chart("Krippendorff's alpha", told)
    least = min([-0.2, *(alpha.low for alpha in rows.values() if alpha.alpha == alpha.alpha)])

    def across(value: float) -> float:
        return round(LEFT + (value - least) / (1 - least) * (RIGHT - LEFT), 1)

    limits = {0.0: "0: chance", 0.667: "0.67: tentative", 0.8: "0.8: reliable", 1.0: "1"}
    for value, name in limits.items():
        chart.grid.append(f"M{across(value)} {TOP}V150")
        chart.labels.append((across(value), 184 if value == 0.8 else 168, "middle", name))
    for row, (name, alpha) in enumerate(rows.items()):
        level = 58 + 62 * row
        chart.labels.append((8, level - 18, "start", f"{name}: {alpha.words}"))
        if alpha.alpha == alpha.alpha:
            chart.curves.append(f"M{across(alpha.low)} {level}H{across(alpha.high)}")
            chart.dots.append((across(alpha.alpha), level))
    return chart


def _time(at: float, form: str) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)
