"""The lead's page: progress, flags, agreement and decisions, blind until the study is closed."""

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.errors import DarcError
from darc.study import people
from darc.study.export import files
from darc.study.settings import SCALE
from darc.study.site import BAD_LINK, Site, form_token, read_form, secret_of
from darc.study.status import PersonStatus, close, details, status
from darc.study.store import Unavailable
from darc.web.clients import digest_of
from darc.web.problems import Problem

COOKIE = "darc_lead"
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


class LeadPages:
    """Handlers of the lead's page, behind the lead's own secret."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store

    def join(self, request: Request) -> Response:
        """Follow the lead's link."""
        token = secret_of(request)
        self._check(request, token)
        return self._site.go("/lead", COOKIE, token)

    def home(self, request: Request) -> Response:
        """The lead's page."""
        token = request.cookies.get(COOKIE, "")
        self._check(request, token)
        return self._page(token)

    def decide(self, request: Request) -> Response:
        """Exclude, reinstate, clear, renew, revoke or erase an annotator."""
        token, fields = self._form(request)
        action, rater = fields.get("action", ""), fields.get("rater", "")
        work: dict[str, Callable[[], Any]] = {
            "exclude": lambda: people.exclude_by_name(self._store, rater, fields.get("reason", "")),
            "reinstate": lambda: people.reinstate(self._store, rater),
            "clear": lambda: people.clear(self._store, rater),
            "renew": lambda: people.issue_links(self._store, [rater]),
            "revoke": lambda: people.revoke(self._store, rater),
            "erase": lambda: people.erase(self._store, rater),
        }
        if action not in work:
            raise Problem(400, "Choose what to do.")
        made = _tried(work[action])
        return self._page(token, made) if action == "renew" else self._site.go("/lead")

    def links(self, request: Request) -> Response:
        """Make links for more annotators, and show them once."""
        token, fields = self._form(request)
        count = fields.get("count", "")
        if not COUNT.fullmatch(count):
            raise Problem(400, "Give a number from 1 to 100.")
        return self._page(token, _tried(lambda: people.add_links(self._store, int(count))))

    def close(self, request: Request) -> Response:
        """Close the study."""
        _, fields = self._form(request)
        if fields.get("sure") == "yes":
            _tried(lambda: close(self._store))
        return self._site.go("/lead")

    def export(self, request: Request) -> Response:
        """A file, or all as a zip; of an open study only if the lead says so."""
        _, fields = self._form(request)
        made = _tried(lambda: files(self._store, unblind=fields.get("sure") == "yes"))
        name = fields.get("file", "")
        if name in made:
            content = made[name].encode()
            kind = "text/csv" if name.endswith(".csv") else "application/x-ndjson"
            kind += "; charset=utf-8"
        else:
            name, kind, stream = "study.zip", "application/zip", io.BytesIO()
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                for inner, text in made.items():
                    archive.writestr(inner, text)
            content = stream.getvalue()
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, 200, headers, kind)

    def _form(self, request: Request) -> tuple[str, dict[str, str]]:
        token = request.cookies.get(COOKIE, "")
        self._check(request, token)
        return token, read_form(request, token)

    def _check(self, request: Request, token: str) -> None:
        """Turn away whoever does not carry the lead's secret, before looking too often."""
        if not token or digest_of(token) != self._store.row()["lead_hash"]:
            self._site.count_stranger(request)
            raise Problem(403, NO_LEAD, code=BAD_LINK)
        self._site.count("lead")

    def _page(self, token: str, links: Sequence[tuple[str, str]] = ()) -> Response:
        """The whole page; `links` are new ones as (rater, token), shown this once."""
        found = status(self._store)
        shown = found.ranked[:SHOWN]
        more = details(self._store, [item.label for item in shown])
        total, pairwise = len(found.items) * found.ratings, found.mode == "pairwise"
        values = ("left", "tie", "right") if pairwise else range(SCALE[0], SCALE[1] + 1)
        return self._site.page(
            "lead",
            found.title,
            token=form_token(token),
            status=found,
            details=more,
            links=links,
            before=f"{self._site.url.rstrip('/')}{self._site.root}/join/",
            total=total,
            pairwise=pairwise,
            items=shown,
            alphas={"all ratings": found.before, "after exclusion": found.after},
            as_of=_clock(more.now, "%d %b %Y, %H:%M:%S UTC"),
            clock=_clock,
            values=values,
            actions=ACTIONS,
            actions_of=partial(_actions, closed=found.closed),
            longest=LONGEST,
        )


def _tried(work: Callable[[], Any]) -> Any:
    """What the work gives; a mistake of the lead's becomes a page."""
    try:
        return work()
    except Unavailable:
        raise
    except DarcError as problem:
        raise Problem(400, str(problem)) from None


def _actions(person: PersonStatus, closed: bool) -> list[str]:
    """What the lead may decide on a person."""
    first = ["reinstate"] if person.state == "excluded" else ["exclude"]
    if person.flagged and person.state != "excluded":
        first.append("clear")
    return [*first, *([] if closed else ["renew", "revoke"]), "erase"]


def _clock(at: float, form: str = "%d %b %H:%M") -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)
