"""The lead's page: progress, flags, agreement and decisions, blind until the study is closed."""

import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.study.exclusions import clear, exclude_by_name, reinstate
from darc.study.export import files
from darc.study.forms import form_token, link_secret, read_form
from darc.study.lead_details import details
from darc.study.links import add_links, issue_links, revoke
from darc.study.messages import Refusal
from darc.study.people import erase
from darc.study.settings import SCALE
from darc.study.site import Site
from darc.study.status import close, status
from darc.study.store import Store
from darc.web.keys import hash_token
from darc.web.problems import Problem

_COOKIE = "darc_lead"
_LINK_COUNT = re.compile(r"[1-9][0-9]?|100")
_MAX_SHOWN_ITEMS = 200
_MAX_SHOWN_LENGTH = 2000
# Decisions that need nothing but the rater's name.
_DECISIONS: dict[str, Callable[[Store, str], object]] = {
    "reinstate": reinstate,
    "clear": clear,
    "revoke": revoke,
    "erase": erase,
}


class LeadPages:
    """Handlers of the lead's page, behind the lead's own secret."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store

    def join(self, request: Request) -> Response:
        """Follow the lead's link."""
        token = link_secret(request)
        self._check(request, token)
        return self._site.redirect("/lead", _COOKIE, token)

    def home(self, request: Request) -> Response:
        """Show the lead's page."""
        token = request.cookies.get(_COOKIE, "")
        self._check(request, token)
        return self._page(token)

    def decide(self, request: Request) -> Response:
        """Exclude, reinstate, clear, renew, revoke or erase an annotator."""
        token, fields = self._form(request)
        action = fields.get("action", "")
        rater = fields.get("rater", "")
        if action == "renew":
            return self._page(token, issue_links(self._store, [rater]))
        if action == "exclude":
            exclude_by_name(self._store, rater, fields.get("reason", ""))
        elif action in _DECISIONS:
            _DECISIONS[action](self._store, rater)
        else:
            raise Problem(400, "Choose what to do.")
        return self._site.redirect("/lead")

    def links(self, request: Request) -> Response:
        """Make links for more annotators, and show them once."""
        token, fields = self._form(request)
        count = fields.get("count", "")
        if not _LINK_COUNT.fullmatch(count):
            raise Problem(400, "Give a number from 1 to 100.")
        return self._page(token, add_links(self._store, int(count)))

    def close(self, request: Request) -> Response:
        """Close the study."""
        _, fields = self._form(request)
        if fields.get("sure") == "yes":
            close(self._store)
        return self._site.redirect("/lead")

    def export(self, request: Request) -> Response:
        """Send a file, or all as a zip; of an open study only if the lead confirms it."""
        _, fields = self._form(request)
        texts = files(self._store, unblind=fields.get("sure") == "yes")
        name = fields.get("file", "")
        if name in texts:
            content = texts[name].encode()
            media_type = "text/csv" if name.endswith(".csv") else "application/x-ndjson"
            media_type += "; charset=utf-8"
        else:
            name = "study.zip"
            content = _zip_texts(texts)
            media_type = "application/zip"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, 200, headers, media_type)

    def _form(self, request: Request) -> tuple[str, dict[str, str]]:
        """The lead's token and the fields of the form."""
        token = request.cookies.get(_COOKIE, "")
        self._check(request, token)
        return token, read_form(request, token)

    def _check(self, request: Request, token: str) -> None:
        """Refuse whoever does not carry the lead's secret; strangers may try only so often."""
        if not token or hash_token(token) != self._store.row()["lead_hash"]:
            self._site.count_stranger(request)
            raise Refusal("no_lead")
        self._site.count("lead")

    def _page(self, token: str, links: Sequence[tuple[str, str]] = ()) -> Response:
        """The whole page; `links` are new ones as (rater, token), shown this once."""
        current = status(self._store)
        items = current.ranked[:_MAX_SHOWN_ITEMS]
        return self._site.page(
            "lead",
            current.title,
            token=form_token(token),
            status=current,
            items=items,
            details=details(self._store, [item.label for item in items]),
            links=links,
            before=f"{self._site.url.rstrip('/')}{self._site.root}/join/",
            clock=_format_time,
            scale=range(SCALE[0], SCALE[1] + 1),
            longest=_MAX_SHOWN_LENGTH,
        )


def _zip_texts(texts: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return stream.getvalue()


def _format_time(at: float, pattern: str) -> Any:
    return datetime.fromtimestamp(at, UTC).strftime(pattern)
