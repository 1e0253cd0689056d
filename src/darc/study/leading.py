"""What the study's lead may ask of the server."""

import io
import re
import zipfile
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from darc.errors import DarcError
from darc.study import exclusion, people, schema
from darc.study.export import files
from darc.study.files import Unavailable
from darc.study.pages.lead import SHOWN, lead_page
from darc.study.status import close, details, status
from darc.study.tokens import form_token
from darc.study.visits import (
    BAD_LINK,
    LEAD,
    Site,
    go,
    page_response,
    read_form,
    secret_of,
    with_cookie,
)
from darc.web.keys import digest_of
from darc.web.problems import Problem

NO_LEAD = (
    "This page is for the study's lead. Open the lead's link, which darc study init printed; "
    "darc study links --lead makes a new one, and the old one then works no more."
)
COUNT = re.compile(r"[1-9][0-9]?|100")


class Leading:
    """Handlers of the lead's page, behind the lead's own secret."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store

    async def join(self, request: Request) -> Response:
        """Follow the lead's link."""
        token = secret_of(request)
        await run_in_threadpool(self._check, request, token)
        return with_cookie(self._site, go(self._site, "/lead"), LEAD, token)

    async def home(self, request: Request) -> Response:
        """The lead's page."""
        return await self._page(await self._visitor(request))

    async def decide(self, request: Request) -> Response:
        """Exclude, reinstate, clear, renew, revoke or erase an annotator."""
        token = await self._visitor(request)
        fields = await read_form(request, token)
        rater, reason = fields.get("rater", ""), fields.get("reason", "")
        links = await self._tried(self._decide, fields.get("action", ""), rater, reason)
        return await self._page(token, links) if links else go(self._site, "/lead")

    async def links(self, request: Request) -> Response:
        """Make links for more annotators, and show them once."""
        token = await self._visitor(request)
        fields = await read_form(request, token)
        count = fields.get("count", "")
        if not COUNT.fullmatch(count):
            raise Problem(400, "Give a number from 1 to 100.")
        made = await self._tried(people.add_links, self._store, int(count))
        return await self._page(token, self._addresses(made))

    async def close(self, request: Request) -> Response:
        """Close the study."""
        token = await self._visitor(request)
        fields = await read_form(request, token)
        if fields.get("sure") == "yes":
            await self._tried(close, self._store)
        return go(self._site, "/lead")

    async def export(self, request: Request) -> Response:
        """A file, or all as a zip; of an open study only if the lead says so."""
        token = await self._visitor(request)
        fields = await read_form(request, token)
        made = await self._tried(partial(files, unblind=fields.get("sure") == "yes"), self._store)
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

    async def _visitor(self, request: Request) -> str:
        token = request.cookies.get(LEAD, "")
        await run_in_threadpool(self._check, request, token)
        return token

    def _check(self, request: Request, token: str) -> None:
        """Turn away whoever does not carry the lead's secret, before looking too often."""
        with self._store.read() as connection:
            digest = connection.execute(select(schema.study.c.lead_hash)).scalar_one()
        if not token or digest_of(token) != digest:
            self._site.count_stranger(request)
            raise Problem(403, NO_LEAD, code=BAD_LINK)
        self._site.count("lead")

    async def _page(self, token: str, links: Sequence[tuple[str, str]] = ()) -> Response:
        found = await run_in_threadpool(status, self._store)
        shown = [item.label for item in found.ranked[:SHOWN]]
        more = await run_in_threadpool(details, self._store, shown)
        return page_response(lead_page(self._site.root, form_token(token), found, more, links))

    async def _tried(self, work: Any, *given: Any) -> Any:
        try:
            return await run_in_threadpool(work, *given)
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
