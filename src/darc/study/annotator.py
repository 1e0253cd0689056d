"""The annotators' pages: what they ask for and what they send."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from darc.study import answers, schema
from darc.study.answers import Submission
from darc.study.enrolment import Visitor, enrol
from darc.study.forms import form_token, link_secret, read_form
from darc.study.messages import Refusal
from darc.study.schema import LEARNING, SIDES, side_of
from darc.study.settings import SCALE
from darc.study.site import Site
from darc.study.steps import Step, next_step
from darc.web.keys import hash_token
from darc.web.problems import Problem

Fields = dict[str, str]
FormHandler = Callable[[int, Fields], Response | None]

_COOKIE = "darc_study"
_MAX_COMMENT_LENGTH = 1000
_MAX_ID_LENGTH = 100
_MAX_REVISION_DIGITS = 9


class AnnotatorPages:
    """Handlers of the annotators' pages; each works on the visitor's own tasks only."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._store = site.store
        self._config = site.store.config

    def join(self, request: Request) -> Response:
        """Follow a personal link: keep its token in a cookie, and out of the address."""
        token = link_secret(request)
        self._find_person(request, token, "wrong_link")
        return self._site.redirect("/", _COOKIE, token)

    def home(self, request: Request) -> Response:
        """Show the page where the annotator is."""
        token, person = self._visitor(request)
        step = next_step(self._store, person["id"])
        if step.task is not None:
            return self._task_page(step, token)
        code = ""
        if step.name == "done" and self._shows_completion_code():
            code = self._store.row()["completion_code"]
        return self._page("steps", token, step=step, code=code)

    def back(self, request: Request) -> Response:
        """Show the last answer, to be changed."""
        token, person = self._visitor(request)
        task = answers.last_answer(self._store, person["id"])
        step = next_step(self._store, person["id"])
        if task is None or step.name not in ("task", "wait", "done"):
            return self._site.redirect("/")
        step_back = replace(
            step, name="task", task=task, done=max(0, step.done - 1), left=step.left + 1
        )
        return self._task_page(step_back, token, again=True)

    def handle_form(self, handler: FormHandler) -> Callable[[Request], Response]:
        """Make a handler of requests from one of forms.

        Args:
            handler: Called with the id of the annotator and the fields of the form. If it returns
                no response, the visitor goes on to the page where they are.

        Returns:
            The handler of requests.
        """

        def handle(request: Request) -> Response:
            token, person = self._visitor(request)
            response = handler(person["id"], read_form(request, token))
            return response or self._site.redirect("/")

        return handle

    def consent(self, annotator_id: int, fields: Fields) -> None:
        """Keep the consent."""
        if fields.get("agreed") == "yes":
            answers.agree(self._store, annotator_id, "consented")

    def groups(self, annotator_id: int, fields: Fields) -> None:
        """Keep what annotators say of themselves; what they do not say is empty."""
        groups = {}
        for number, question in enumerate(self._config.groups):
            groups[question.name] = _chosen_text(fields, number, question.choices)
        answers.agree(self._store, annotator_id, "groups", groups)

    def comprehension(self, annotator_id: int, fields: Fields) -> None:
        """Take the answers to the questions on the instructions."""
        tries = fields.get("tries", "")
        if tries not in ("0", "1"):
            raise Problem(400, "The form is incomplete; open your link again.")
        right = all(
            _chosen_text(fields, number, question.choices) == question.answer
            for number, question in enumerate(self._config.comprehension)
        )
        answers.understand(self._store, annotator_id, int(tries), right)

    def instructions(self, annotator_id: int, _: Fields) -> None:
        """Go on from the instructions."""
        answers.agree(self._store, annotator_id, "instructed")

    def answer(self, annotator_id: int, fields: Fields) -> None:
        """Keep an answer; the redirect is sent when it is on disk."""
        answer = self._read_answer(fields)
        revision = fields.get("revision", "")
        if not revision.isdecimal() or len(revision) > _MAX_REVISION_DIGITS:
            raise Problem(400, "The form has no revision; open your link again.")
        submission = Submission(
            code=fields.get("task", ""),
            revision=int(revision),
            answer=answer,
            comment=fields.get("comment", "").strip()[:_MAX_COMMENT_LENGTH],
        )
        answers.submit(self._store, annotator_id, submission)

    def draft(self, annotator_id: int, fields: Fields) -> Response:
        """Keep a choice that was not sent yet."""
        answer = self._read_answer({**fields, "skip": ""})
        answers.save_draft(self._store, annotator_id, fields.get("task", ""), answer)
        return Response(status_code=204)

    def finish(self, annotator_id: int, _: Fields) -> None:
        """End the work of an annotator who does not wait for the next wave."""
        answers.finish(self._store, annotator_id)

    def seen(self, annotator_id: int, fields: Fields) -> None:
        """Go on from feedback."""
        answers.mark_seen(self._store, annotator_id, fields.get("task", ""))

    def enrol(self, request: Request) -> Response:
        """Show the door of open enrolment, which keeps nothing."""
        key = link_secret(request)
        self._check_enrolment(request, key)
        hidden = {
            "key": key,
            "person": request.query_params.get("PROLIFIC_PID", "")[:_MAX_ID_LENGTH],
            "session": request.query_params.get("SESSION_ID", "")[:_MAX_ID_LENGTH],
        }
        return self._page("steps", "", step=Step("enrol"), hidden=hidden)

    def take_part(self, request: Request) -> Response:
        """Enrol whoever pressed the button."""
        fields = read_form(request, "")
        self._check_enrolment(request, fields.get("key", ""))
        person = fields.get("person", "")[:_MAX_ID_LENGTH]
        session = fields.get("session", "")[:_MAX_ID_LENGTH]
        visitor = Visitor(person, session, self._site.visitor_address(request))
        self._site.count_enrolment(visitor.address)
        return self._site.redirect("/", _COOKIE, enrol(self._store, visitor))

    def _shows_completion_code(self) -> bool:
        return self._config.panel is None or bool(self._config.study.completion_code)

    def _visitor(self, request: Request) -> tuple[str, Any]:
        """The token and the row of the annotator who sends a request."""
        token = request.cookies.get(_COOKIE, "")
        return token, self._find_person(request, token, "no_link")

    def _find_person(self, request: Request, token: str, refusal: str) -> Any:
        """The annotator to whom a token belongs; others are refused, and may try only so often."""
        annotators = schema.annotators
        query = select(annotators).where(annotators.c.token_hash == hash_token(token))
        with self._store.read() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            self._site.count_stranger(request)
            raise Refusal(refusal)
        self._site.count(row["name"])
        return row

    def _check_enrolment(self, request: Request, key: str) -> None:
        self._site.count_stranger(request)
        row = self._store.row()
        if self._config.panel is not None or row["enrol_hash"] != hash_token(key):
            raise Refusal("no_enrolment")
        if row["closed"] is not None:
            raise Refusal("closed")

    def _read_answer(self, fields: Fields) -> float | str | None:
        """The answer of a form: a rating or a side, None to skip."""
        if fields.get("skip") == "yes" and self._config.study.skip:
            return None
        answer = fields.get("answer", "")
        if self._config.pairwise:
            if answer not in SIDES or (answer == "tie" and not self._config.study.tie):
                raise Problem(400, "Choose one of the answers.")
            return answer
        if not answer.isdecimal() or len(answer) > 3 or int(answer) > SCALE[1]:
            raise Problem(400, f"Choose a rating from {SCALE[0]} to {SCALE[1]}.")
        return float(answer)

    def _task_page(self, step: Step, token: str, *, again: bool = False) -> Response:
        """A task to be answered, its feedback, or with `again` one whose answer may be changed."""
        assert step.task is not None
        row = step.task.row

        def as_shown(answer: float | None) -> Any:
            """A stored answer as the form has it: a rating, or the side of a winner."""
            if answer is None or not self._config.pairwise:
                return answer
            return side_of(answer, row["flipped"])

        return self._page(
            "task",
            token,
            step=step,
            again=again,
            as_shown=as_shown,
            scale=range(SCALE[0], SCALE[1] + 1),
            learning=row["kind"] in LEARNING,
            longest=_MAX_COMMENT_LENGTH,
            passed=schema.passed,
        )

    def _page(self, name: str, token: str, **values: Any) -> Response:
        title = self._config.study.title
        return self._site.page(name, title, config=self._config, token=form_token(token), **values)


def _chosen_text(fields: Fields, number: int, choices: Sequence[str]) -> str:
    """The text that was chosen in a question, or "" if none of its choices was."""
    for place, text in enumerate(choices):
        if fields.get(f"q{number}", "") == str(place):
            return text
    return ""
