"""The annotators' pages: what they ask for and what they send."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from darc.study import answers, people, schema
from darc.study.claims import LEARNING, Step, next_step
from darc.study.pages import message, page
from darc.study.requests import (
    ANNOTATOR,
    BAD_LINK,
    Site,
    form_token,
    go,
    page_response,
    read_form,
    secret_of,
    with_cookie,
)
from darc.study.schema import outcome_of, side_of
from darc.study.settings import SCALE, StudySettings
from darc.web.clients import digest_of
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
COMMENT = 1000
CHOICES = {
    "left": "Answer 1 is better",
    "tie": "They are equally good",
    "right": "Answer 2 is better",
}


class AnnotatorPages:
    """Handlers of the annotator's pages; each works on the asking annotator's own tasks only."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store

    @property
    def _config(self) -> StudySettings:
        return self._store.config

    def join(self, request: Request) -> Response:
        """Follow a personal link: keep its token in a cookie, and out of the address."""
        token = secret_of(request)
        self._person(request, token, WRONG_LINK)
        return with_cookie(self._site, go(self._site, "/"), ANNOTATOR, token)

    def home(self, request: Request) -> Response:
        """Wherever the annotator is."""
        token, person = self._visitor(request)
        step = next_step(self._store, person["id"])
        text = self._shown(step, form_token(token))
        return page_response(text)

    def back(self, request: Request) -> Response:
        """The last answer, to be changed."""
        token, person = self._visitor(request)
        task = answers.last_answer(self._store, person["id"])
        step = next_step(self._store, person["id"])
        if task is None or step.name not in ("task", "done"):
            return go(self._site, "/")
        shown = Step("task", task, max(0, step.done - 1), step.left + 1, step.seconds_each)
        return page_response(self._task(shown, form_token(token), again=True))

    def consent(self, request: Request) -> Response:
        """Remember the consent."""
        person, fields = self._form(request)
        if fields.get("agreed") == "yes":
            answers.agree(self._store, person["id"], "consented")
        return go(self._site, "/")

    def groups(self, request: Request) -> Response:
        """Remember what the annotator says of themselves; untold answers are empty."""
        person, fields = self._form(request)
        groups = self._config.groups
        given = {each.name: _chosen(fields, n, each.choices) for n, each in enumerate(groups)}
        answers.describe(self._store, person["id"], given)
        return go(self._site, "/")

    def comprehension(self, request: Request) -> Response:
        """Take the answers to the questions on the instructions."""
        person, fields = self._form(request)
        asked, tries = self._config.comprehension, fields.get("tries", "")
        if tries not in ("0", "1"):
            raise Problem(400, "The form is not whole; open your link again.")
        right = all(_chosen(fields, n, each.choices) == each.answer for n, each in enumerate(asked))
        answers.understand(self._store, person["id"], int(tries), right)
        return go(self._site, "/")

    def instructions(self, request: Request) -> Response:
        """Go on from the instructions."""
        person, _ = self._form(request)
        answers.agree(self._store, person["id"], "instructed")
        return go(self._site, "/")

    def answer(self, request: Request) -> Response:
        """Keep an answer; the redirect is sent when it is on disk."""
        person, fields = self._form(request)
        code, value = self._value(person, fields)
        revision = fields.get("revision", "")
        if not revision.isdecimal() or len(revision) > 9:
            raise Problem(400, "The form has no revision; open your link again.")
        comment = fields.get("comment", "").strip()[:COMMENT]
        self._own(answers.submit, person["id"], code, int(revision), value, comment)
        return go(self._site, "/")

    def draft(self, request: Request) -> Response:
        """Keep a choice that was not sent yet."""
        person, fields = self._form(request)
        code, value = self._value(person, {**fields, "skip": ""})
        self._own(answers.save_draft, person["id"], code, value)
        return Response(status_code=204)

    def seen(self, request: Request) -> Response:
        """Go on from feedback."""
        person, fields = self._form(request)
        self._own(answers.mark_seen, person["id"], fields.get("task", ""))
        return go(self._site, "/")

    def enrol(self, request: Request) -> Response:
        """The door of open enrolment; it keeps nothing."""
        self._check_enrolment(request, secret_of(request))
        query = request.query_params
        hidden = {
            "key": secret_of(request),
            "person": query.get("PROLIFIC_PID", "")[:100],
            "session": query.get("SESSION_ID", "")[:100],
        }
        return page_response(self._page("enrol", token="", hidden=hidden))

    def take_part(self, request: Request) -> Response:
        """Enrol whoever pressed the button."""
        fields = read_form(request, "")
        self._check_enrolment(request, fields.get("key", ""))
        person, session = fields.get("person", "")[:100], fields.get("session", "")[:100]
        found = people.enrol(self._store, person, session)
        if found.refusal:
            return page_response(message(self._site.root, "Thank you", found.refusal), 403)
        return with_cookie(self._site, go(self._site, "/"), ANNOTATOR, found.token)

    def _visitor(self, request: Request) -> tuple[str, Any]:
        token = request.cookies.get(ANNOTATOR, "")
        return token, self._person(request, token)

    def _form(self, request: Request) -> tuple[Any, dict[str, str]]:
        token, person = self._visitor(request)
        return person, read_form(request, token)

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

    def _value(self, person: Any, fields: dict[str, str]) -> tuple[str, float | None]:
        """The task and the answer of a form, the answer as it is stored, None to skip."""
        code, given = fields.get("task", ""), fields.get("answer", "")
        if fields.get("skip") == "yes" and self._config.study.skip:
            return code, None
        if not self._config.pairwise:
            if not given.isdecimal() or len(given) > 3 or int(given) > SCALE[1]:
                raise Problem(400, f"Choose a rating from {SCALE[0]} to {SCALE[1]}.")
            return code, float(given)
        if given not in CHOICES or (given == "tie" and not self._config.study.tie):
            raise Problem(400, "Choose one of the answers.")
        flipped = self._own(answers.is_flipped, person["id"], code)
        return code, outcome_of(given, flipped)

    def _own(self, work: Callable[..., Any], *given: Any) -> Any:
        try:
            return work(self._store, *given)
        except answers.NoSuchTask:
            raise Problem(404, "You have no such task; open your link again.") from None
        except answers.AnsweredAlready:
            raise Problem(409, ANSWERED) from None
        except answers.StudyClosed:
            raise Problem(410, CLOSED) from None

    def _shown(self, step: Step, token: str) -> str:
        if step.name in ("task", "feedback"):
            return self._task(step, token)
        if step.name == "done":
            return self._page("done", "Thank you", code=self._code(), done=step.done)
        if step.name in ("closed", "excluded"):
            if step.reason == "comprehension":
                return self._page("ended", "Thank you for your time")
            text = CLOSED if step.name == "closed" else EXCLUDED
            return message(self._site.root, "Thank you", text)
        return self._page(step.name, token=token, tries=step.tries)

    def _page(self, step: str, title: str = "", **values: Any) -> str:
        title = title or self._config.study.title
        values |= {"step": step, "config": self._config}
        return page("steps", self._site.root, title, **values)

    def _code(self) -> str:
        """The completion code, "" where nobody asks for one."""
        if self._config.panel is not None and not self._config.study.completion_code:
            return ""
        with self._store.read() as connection:
            return connection.execute(select(schema.study.c.completion_code)).scalar_one()

    def _task(self, step: Step, token: str, *, again: bool = False) -> str:
        """A task to be answered, its feedback, or with `again` one whose answer may be changed."""
        task, config = step.task, self._config
        assert task is not None
        row, unit, low, high = task.row, task.unit, *SCALE

        def said(value: float | None) -> Any:
            if value is None:
                return None
            return side_of(value, row["flipped"]) if config.pairwise else float(value)

        def words(value: float) -> str:
            return CHOICES[said(value)].lower() if config.pairwise else f"{value:g}"

        feedback = None
        if step.name == "feedback":
            feedback = {
                "close": abs(row["answer"] - unit["reference"]) <= unit["tolerance"] + 1e-9,
                "own": words(row["answer"]),
                "reference": words(unit["reference"]),
                "rationale": unit["rationale"],
            }
        ties = {name: text for name, text in CHOICES.items() if name != "tie" or config.study.tie}
        return page(
            "task",
            self._site.root,
            config.study.title,
            token=token,
            config=config,
            again=again,
            feedback=feedback,
            hidden={"task": row["code"], **({} if feedback else {"revision": row["revision"]})},
            learning=row["kind"] in LEARNING,
            turns=unit["turns"],
            sides=task.sides,
            chosen=said(row["answer"] if again else row["draft"]),
            choices=ties,
            scale=range(low, high + 1),
            ends={low: config.texts.low, high: config.texts.high},
            comment=row["comment"],
            longest=COMMENT,
            done=step.done,
            total=step.done + step.left,
            progress=_progress(step),
        )


def _progress(step: Step) -> str:
    """How far the annotator is, and how long the rest takes."""
    assert step.task is not None
    kind, total = step.task.row["kind"], step.done + step.left
    stage = f"{kind.capitalize()} " if kind in LEARNING else ""
    words = f"{stage}{min(step.done + 1, total)} of {total}"
    if step.seconds_each is None or not step.left:
        return words
    left = max(1, round(step.left * step.seconds_each / 60))
    return f"{words}, about {left} minute{'' if left == 1 else 's'} left"


def _chosen(fields: dict[str, str], place: int, choices: Sequence[str]) -> str:
    """The text of what was chosen in a question, "" where it is none of its choices."""
    return {str(n): text for n, text in enumerate(choices)}.get(fields.get(f"q{place}", ""), "")
