"""The annotators' pages: what they ask for and what they send."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from darc.study import answers, people, schema
from darc.study.claims import Step, next_step
from darc.study.schema import LEARNING, SIDES, side_of
from darc.study.settings import SCALE
from darc.study.site import Site, form_token, read_form, secret_of
from darc.study.store import Refusal
from darc.web.keys import hash_token
from darc.web.problems import Problem

COOKIE = "darc_study"
COMMENT = 1000
NAMES = {"person": "PROLIFIC_PID", "session": "SESSION_ID"}
Fields = dict[str, str]


class AnnotatorPages:
    """Handlers of the annotator's pages; each works on the asking annotator's own tasks only."""

    def __init__(self, site: Site) -> None:
        self._site, self._store, self._config = site, site.store, site.store.config

    def join(self, request: Request) -> Response:
        """Follow a personal link: keep its token in a cookie, and out of the address."""
        token = secret_of(request)
        self._person(request, token, "wrong_link")
        return self._site.go("/", COOKIE, token)

    def home(self, request: Request) -> Response:
        """Wherever the annotator is."""
        token, person = self._visitor(request)
        step = next_step(self._store, person["id"])
        if step.task is not None:
            return self._task(step, token)
        asked = self._config.panel is None or self._config.study.completion_code
        code = self._store.row()["completion_code"] if step.name == "done" and asked else ""
        return self._page("steps", token, step=step, code=code)

    def back(self, request: Request) -> Response:
        """The last answer, to be changed."""
        token, person = self._visitor(request)
        task = answers.last_answer(self._store, person["id"])
        step = next_step(self._store, person["id"])
        if task is None or step.name not in ("task", "done"):
            return self._site.go("/")
        done = max(0, step.done - 1)
        shown = replace(step, name="task", task=task, done=done, left=step.left + 1)
        return self._task(shown, token, again=True)

    def taking(self, work: Callable[[int, Fields], Response | None]) -> Callable[..., Response]:
        """A handler that has the work done with the id and the form of who sent it."""

        def handle(request: Request) -> Response:
            token, person = self._visitor(request)
            return work(person["id"], read_form(request, token)) or self._site.go("/")

        return handle

    def consent(self, person: int, fields: Fields) -> None:
        """Remember the consent."""
        if fields.get("agreed") == "yes":
            answers.agree(self._store, person, "consented")

    def groups(self, person: int, fields: Fields) -> None:
        """Remember what the annotator says of themselves; untold answers are empty."""
        groups = enumerate(self._config.groups)
        given = {each.name: _chosen(fields, n, each.choices) for n, each in groups}
        answers.agree(self._store, person, "groups", given)

    def comprehension(self, person: int, fields: Fields) -> None:
        """Take the answers to the questions on the instructions."""
        asked, tries = self._config.comprehension, fields.get("tries", "")
        if tries not in ("0", "1"):
            raise Problem(400, "The form is not whole; open your link again.")
        right = all(_chosen(fields, n, each.choices) == each.answer for n, each in enumerate(asked))
        answers.understand(self._store, person, int(tries), right)

    def instructions(self, person: int, _: Fields) -> None:
        """Go on from the instructions."""
        answers.agree(self._store, person, "instructed")

    def answer(self, person: int, fields: Fields) -> None:
        """Keep an answer; the redirect is sent when it is on disk."""
        value, code = self._value(fields), fields.get("task", "")
        revision = fields.get("revision", "")
        if not revision.isdecimal() or len(revision) > 9:
            raise Problem(400, "The form has no revision; open your link again.")
        comment = fields.get("comment", "").strip()[:COMMENT]
        answers.submit(self._store, person, code, int(revision), value, comment)

    def draft(self, person: int, fields: Fields) -> Response:
        """Keep a choice that was not sent yet."""
        value = self._value({**fields, "skip": ""})
        answers.save_draft(self._store, person, fields.get("task", ""), value)
        return Response(status_code=204)

    def seen(self, person: int, fields: Fields) -> None:
        """Go on from feedback."""
        answers.mark_seen(self._store, person, fields.get("task", ""))

    def enrol(self, request: Request) -> Response:
        """The door of open enrolment; it keeps nothing."""
        key = secret_of(request)
        self._check_enrolment(request, key)
        known = {name: request.query_params.get(NAMES[name], "")[:100] for name in NAMES}
        return self._page("steps", "", step=Step("enrol"), hidden={"key": key, **known})

    def take_part(self, request: Request) -> Response:
        """Enrol whoever pressed the button."""
        fields = read_form(request, "")
        self._check_enrolment(request, fields.get("key", ""))
        known = (fields.get(name, "")[:100] for name in NAMES)
        return self._site.go("/", COOKIE, people.enrol(self._store, *known))

    def _visitor(self, request: Request) -> tuple[str, Any]:
        token = request.cookies.get(COOKIE, "")
        return token, self._person(request, token, "no_link")

    def _person(self, request: Request, token: str, wrong: str) -> Any:
        """The annotator whom a token belongs to; others are turned away, and not too often."""
        mine = select(schema.annotators).where(schema.annotators.c.token_hash == hash_token(token))
        with self._store.read() as connection:
            row = connection.execute(mine).mappings().first()
        if row is None:
            self._site.count_stranger(request)
            raise Refusal(wrong)
        self._site.count(row["name"])
        return row

    def _check_enrolment(self, request: Request, key: str) -> None:
        self._site.count_stranger(request)
        row = self._store.row()
        if self._config.panel is not None or row["enrol_hash"] != hash_token(key):
            raise Refusal("no_enrolment")
        if row["closed"] is not None:
            raise Refusal("closed")

    def _value(self, fields: Fields) -> float | str | None:
        """The answer of a form: a rating or a side, None to skip."""
        given = fields.get("answer", "")
        if fields.get("skip") == "yes" and self._config.study.skip:
            return None
        if self._config.pairwise:
            if given not in SIDES or (given == "tie" and not self._config.study.tie):
                raise Problem(400, "Choose one of the answers.")
            return given
        if not given.isdecimal() or len(given) > 3 or int(given) > SCALE[1]:
            raise Problem(400, f"Choose a rating from {SCALE[0]} to {SCALE[1]}.")
        return float(given)

    def _task(self, step: Step, token: str, *, again: bool = False) -> Response:
        """A task to be answered, its feedback, or with `again` one whose answer may be changed."""
        assert step.task is not None
        row = step.task.row

        def said(value: float | None) -> Any:
            if value is None or not self._config.pairwise:
                return value
            return side_of(value, row["flipped"])

        shown = {"learning": row["kind"] in LEARNING, "longest": COMMENT, "passed": schema.passed}
        scale = range(SCALE[0], SCALE[1] + 1)
        return self._page("task", token, step=step, again=again, said=said, scale=scale, **shown)

    def _page(self, name: str, token: str, **values: Any) -> Response:
        values |= {"config": self._config, "token": form_token(token)}
        return self._site.page(name, self._config.study.title, **values)


def _chosen(fields: Fields, place: int, choices: Sequence[str]) -> str:
    """The text of what was chosen in a question, "" where it is none of its choices."""
    return {str(n): text for n, text in enumerate(choices)}.get(fields.get(f"q{place}", ""), "")
