"""The lead's page: progress, flags, agreement and decisions, blind until the study is closed."""

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.study import people
from darc.study.export import files
from darc.study.settings import SCALE
from darc.study.site import Site, form_token, read_form, secret_of
from darc.study.status import close, details, status
from darc.study.store import Refusal
from darc.web.keys import hash_token
from darc.web.problems import Problem

COOKIE = "darc_lead"
COUNT = re.compile(r"[1-9][0-9]?|100")
SHOWN = 200
LONGEST = 2000
DECISIONS: dict[str, Any] = {
    "exclude": people.exclude_by_name,
    "reinstate": people.reinstate,
    "clear": people.clear,
    "renew": people.issue_links,
    "revoke": people.revoke,
    "erase": people.erase,
}


class LeadPages:
    """Handlers of the lead's page, behind the lead's own secret."""

    def __init__(self, site: Site) -> None:
        self._site, self._store = site, site.store

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
        if action not in DECISIONS:
            raise Problem(400, "Choose what to do.")
        more = [fields.get("reason", "")] if action == "exclude" else []
        made = DECISIONS[action](self._store, [rater] if action == "renew" else rater, *more)
        return self._page(token, made) if action == "renew" else self._site.go("/lead")

    def links(self, request: Request) -> Response:
        """Make links for more annotators, and show them once."""
        token, fields = self._form(request)
        count = fields.get("count", "")
        if not COUNT.fullmatch(count):
            raise Problem(400, "Give a number from 1 to 100.")
        return self._page(token, people.add_links(self._store, int(count)))

    def close(self, request: Request) -> Response:
        """Close the study."""
        _, fields = self._form(request)
        if fields.get("sure") == "yes":
            close(self._store)
        return self._site.go("/lead")

    def export(self, request: Request) -> Response:
        """A file, or all as a zip; of an open study only if the lead says so."""
        _, fields = self._form(request)
        made = files(self._store, unblind=fields.get("sure") == "yes")
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
        if not token or hash_token(token) != self._store.row()["lead_hash"]:
            self._site.count_stranger(request)
            raise Refusal("no_lead")
        self._site.count("lead")

    def _page(self, token: str, links: Sequence[tuple[str, str]] = ()) -> Response:
        """The whole page; `links` are new ones as (rater, token), shown this once."""
        found = status(self._store)
        shown = found.ranked[:SHOWN]
        return self._site.page(
            "lead",
            found.title,
            token=form_token(token),
            status=found,
            items=shown,
            details=details(self._store, [item.label for item in shown]),
            links=links,
            before=f"{self._site.url.rstrip('/')}{self._site.root}/join/",
            clock=lambda at, form: datetime.fromtimestamp(at, UTC).strftime(form),
            scale=range(SCALE[0], SCALE[1] + 1),
            longest=LONGEST,
        )
