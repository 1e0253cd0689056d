"""What an annotator may ask of the server."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from darc.study import answers, people, schema
from darc.study.claims import Step, next_step
from darc.study.config import SCALE, Config
from darc.study.pages import annotator as pages
from darc.study.pages.layout import message
from darc.study.tokens import form_token
from darc.study.visits import (
    ANNOTATOR,
    BAD_LINK,
    Site,
    go,
    page_response,
    read_form,
    secret_of,
    with_cookie,
)
from darc.web.keys import digest_of
from darc.web.problems import Problem

NO_LINK = (
    "This page opens by a personal link only. Open the whole link that you were given, or ask "
    "whoever invited you for it. If you just did, allow cookies for this page and open it again."
)
WRONG_LINK = (
    "It belongs to nobody in this study. It may have been cut off: copy all of it from the message "
    "that you got. Or it was replaced: open the newest one, or ask whoever invited you for another."
)
NO_ENROLMENT = (
    "Nobody can enrol by it. Open the link that you were given once more, all of it; if that does "
    "not help, tell whoever invited you."
)
EXCLUDED = "There are no more tasks for you in this study. You may close this page."
CLOSED = "This study is closed and takes no more answers. You may close this page."
ANSWERED = (
    "You have answered this before, and your first answer is kept. Open your link again to go on, "
    "or to change your last answer."
)
SIDES = {"left": 0.0, "right": 1.0, "tie": 0.5}


class Annotating:
    """Handlers of the annotator's pages; each works on the asking annotator's own tasks only."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store

    @property
    def _config(self) -> Config:
        return self._store.config

    async def join(self, request: Request) -> Response:
        """Follow a personal link: keep its token in a cookie, and out of the address."""
        token = secret_of(request)
        await run_in_threadpool(self._person, request, token, WRONG_LINK)
        return with_cookie(self._site, go(self._site, "/"), ANNOTATOR, token)

    async def home(self, request: Request) -> Response:
        """Wherever the annotator is."""
        token, person = await self._visitor(request)
        step = await run_in_threadpool(next_step, self._store, person["id"])
        text = await run_in_threadpool(self._shown, step, form_token(token))
        return page_response(text)

    async def back(self, request: Request) -> Response:
        """The last answer, to be changed."""
        token, person = await self._visitor(request)
        task = await run_in_threadpool(answers.last_answer, self._store, person["id"])
        step = await run_in_threadpool(next_step, self._store, person["id"])
        if task is None or step.name not in ("task", "done"):
            return go(self._site, "/")
        shown = Step("task", task, max(0, step.done - 1), step.left + 1, step.seconds_each)
        return page_response(
            pages.task_page(self._site.root, form_token(token), self._config, shown, again=True)
        )

    async def consent(self, request: Request) -> Response:
        """Remember the consent."""
        person, fields = await self._form(request)
        if fields.get("agreed") == "yes":
            await run_in_threadpool(answers.agree, self._store, person["id"], "consented")
        return go(self._site, "/")

    async def groups(self, request: Request) -> Response:
        """Remember what the annotator says of themselves; untold answers are empty."""
        person, fields = await self._form(request)
        groups = self._config.groups
        given = {each.name: _chosen(fields, n, each.choices) for n, each in enumerate(groups)}
        await run_in_threadpool(answers.describe, self._store, person["id"], given)
        return go(self._site, "/")

    async def comprehension(self, request: Request) -> Response:
        """Take the answers to the questions on the instructions."""
        person, fields = await self._form(request)
        asked, tries = self._config.comprehension, fields.get("tries", "")
        if tries not in ("0", "1"):
            raise Problem(400, "The form is not whole; open your link again.")
        right = all(_chosen(fields, n, each.choices) == each.answer for n, each in enumerate(asked))
        await run_in_threadpool(answers.understand, self._store, person["id"], int(tries), right)
        return go(self._site, "/")

    async def instructions(self, request: Request) -> Response:
        """Go on from the instructions."""
        person, _ = await self._form(request)
        await run_in_threadpool(answers.agree, self._store, person["id"], "instructed")
        return go(self._site, "/")

    async def answer(self, request: Request) -> Response:
        """Keep an answer; the redirect is sent when it is on disk."""
        person, fields = await self._form(request)
        code, value = await self._value(person, fields)
        revision = fields.get("revision", "")
        if not revision.isdecimal() or len(revision) > 9:
            raise Problem(400, "The form has no revision; open your link again.")
        comment = fields.get("comment", "").strip()[: pages.COMMENT]
        await self._own(answers.submit, person["id"], code, int(revision), value, comment)
        return go(self._site, "/")

    async def draft(self, request: Request) -> Response:
        """Keep a choice that was not sent yet."""
        person, fields = await self._form(request)
        code, value = await self._value(person, {**fields, "skip": ""})
        await self._own(answers.save_draft, person["id"], code, value)
        return Response(status_code=204)

    async def seen(self, request: Request) -> Response:
        """Go on from feedback."""
        person, fields = await self._form(request)
        await self._own(answers.mark_seen, person["id"], fields.get("task", ""))
        return go(self._site, "/")

    async def enrol(self, request: Request) -> Response:
        """The door of open enrolment; it keeps nothing."""
        await run_in_threadpool(self._check_enrolment, request, secret_of(request))
        query = request.query_params
        hidden = {
            "key": secret_of(request),
            "person": query.get("PROLIFIC_PID", "")[:100],
            "session": query.get("SESSION_ID", "")[:100],
        }
        return page_response(pages.enrol_page(self._site.root, self._config, **hidden))

    async def take_part(self, request: Request) -> Response:
        """Enrol whoever pressed the button."""
        fields = await read_form(request, "")
        await run_in_threadpool(self._check_enrolment, request, fields.get("key", ""))
        person, session = fields.get("person", "")[:100], fields.get("session", "")[:100]
        found = await run_in_threadpool(people.enrol, self._store, person, session)
        if found.refusal:
            return page_response(message(self._site.root, "Thank you", found.refusal), 403)
        return with_cookie(self._site, go(self._site, "/"), ANNOTATOR, found.token)

    async def _visitor(self, request: Request) -> tuple[str, Any]:
        token = request.cookies.get(ANNOTATOR, "")
        return token, await run_in_threadpool(self._person, request, token)

    async def _form(self, request: Request) -> tuple[Any, dict[str, str]]:
        token, person = await self._visitor(request)
        return person, await read_form(request, token)

    def _person(self, request: Request, token: str, wrong: str = NO_LINK) -> Any:
        """The annotator whom a token belongs to; others are turned away, and not too often."""
        with self._store.read() as connection:
            row = people.annotator_by_token(connection, token) if token else None
        if row is None:
            self._site.count_stranger(request)
            raise Problem(403, wrong, code=BAD_LINK)
        self._site.count(row["name"])
        return row

    def _check_enrolment(self, request: Request, key: str) -> None:
        self._site.count_stranger(request)
        with self._store.read() as connection:
            row = connection.execute(select(schema.study)).mappings().one()
        if self._config.panel is not None or row["enrol_hash"] != digest_of(key):
            raise Problem(404, NO_ENROLMENT, code=BAD_LINK)
        if row["closed"] is not None:
            raise Problem(410, CLOSED)

    async def _value(self, person: Any, fields: dict[str, str]) -> tuple[str, float | None]:
        """The task and the answer of a form, the answer as it is stored, None to skip."""
        code, given = fields.get("task", ""), fields.get("answer", "")
        if fields.get("skip") == "yes" and self._config.study.skip:
            return code, None
        if not self._config.pairwise:
            if not given.isdecimal() or len(given) > 3 or int(given) > SCALE[1]:
                raise Problem(400, f"Choose a rating from {SCALE[0]} to {SCALE[1]}.")
            return code, float(given)
        if given not in SIDES or (given == "tie" and not self._config.study.tie):
            raise Problem(400, "Choose one of the answers.")
        flipped = await self._own(answers.is_flipped, person["id"], code)
        value = SIDES[given]
        return code, 1.0 - value if flipped else value

    async def _own(self, work: Callable[..., Any], *given: Any) -> Any:
        try:
            return await run_in_threadpool(work, self._store, *given)
        except answers.NoSuchTask:
            raise Problem(404, "You have no such task; open your link again.") from None
        except answers.AnsweredAlready:
            raise Problem(409, ANSWERED) from None
        except answers.StudyClosed:
            raise Problem(410, CLOSED) from None

    def _shown(self, step: Step, token: str) -> str:
        root, config = self._site.root, self._config
        if step.name == "consent":
            return pages.consent_page(root, token, config)
        if step.name == "groups":
            return pages.groups_page(root, token, config)
        if step.name == "comprehension":
            return pages.comprehension_page(root, token, config, step.tries)
        if step.name == "instructions":
            return pages.instructions_page(root, token, config)
        if step.name == "task":
            return pages.task_page(root, token, config, step)
        if step.name == "feedback":
            return pages.feedback_page(root, token, config, step)
        if step.name == "done":
            with self._store.read() as connection:
                code = connection.execute(select(schema.study.c.completion_code)).scalar_one()
            return pages.done_page(root, config, code, step)
        if step.reason == "comprehension":
            return pages.ended_page(root, config)
        text = CLOSED if step.name == "closed" else EXCLUDED
        return message(root, "Thank you", text)


def _chosen(fields: dict[str, str], place: int, choices: Sequence[str]) -> str:
    """The text of what was chosen in a question, "" where it is none of its choices."""
    return {str(n): text for n, text in enumerate(choices)}.get(fields.get(f"q{place}", ""), "")
