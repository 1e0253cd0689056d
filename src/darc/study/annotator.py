"""The annotators' pages: what they ask for and what they send."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.study import answers, people, schema
from darc.study.claims import Step, next_step
from darc.study.schema import LEARNING, outcome_of, side_of
from darc.study.settings import SCALE, StudySettings
from darc.study.site import BAD_LINK, Site, form_token, read_form, secret_of
from darc.web.clients import digest_of
from darc.web.problems import Problem

COOKIE = "darc_study"
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
        return self._site.go("/", COOKIE, token)

    def home(self, request: Request) -> Response:
        """Wherever the annotator is."""
        token, person = self._visitor(request)
        step = next_step(self._store, person["id"])
        if step.name in ("task", "feedback"):
            return self._task(step, token)
        if step.name == "done":
            return self._step("done", "Thank you", code=self._code(), done=step.done)
        if step.reason == "comprehension":
            return self._step("ended", "Thank you for your time")
        if step.name in ("closed", "excluded"):
            text = answers.CLOSED if step.name == "closed" else EXCLUDED
            return self._site.message("Thank you", text)
        return self._step(step.name, token=form_token(token), tries=step.tries)

    def back(self, request: Request) -> Response:
        """The last answer, to be changed."""
        token, person = self._visitor(request)
        task = answers.last_answer(self._store, person["id"])
        step = next_step(self._store, person["id"])
        if task is None or step.name not in ("task", "done"):
            return self._site.go("/")
        shown = Step("task", task, max(0, step.done - 1), step.left + 1, step.seconds_each)
        return self._task(shown, token, again=True)

    def consent(self, request: Request) -> Response:
        """Remember the consent."""
        person, fields = self._form(request)
        if fields.get("agreed") == "yes":
            answers.agree(self._store, person["id"], "consented")
        return self._site.go("/")

    def groups(self, request: Request) -> Response:
        """Remember what the annotator says of themselves; untold answers are empty."""
        person, fields = self._form(request)
        groups = self._config.groups
        given = {each.name: _chosen(fields, n, each.choices) for n, each in enumerate(groups)}
        answers.describe(self._store, person["id"], given)
        return self._site.go("/")

    def comprehension(self, request: Request) -> Response:
        """Take the answers to the questions on the instructions."""
        person, fields = self._form(request)
        asked, tries = self._config.comprehension, fields.get("tries", "")
        if tries not in ("0", "1"):
            raise Problem(400, "The form is not whole; open your link again.")
        right = all(_chosen(fields, n, each.choices) == each.answer for n, each in enumerate(asked))
        answers.understand(self._store, person["id"], int(tries), right)
        return self._site.go("/")

    def instructions(self, request: Request) -> Response:
        """Go on from the instructions."""
        person, _ = self._form(request)
        answers.agree(self._store, person["id"], "instructed")
        return self._site.go("/")

    def answer(self, request: Request) -> Response:
        """Keep an answer; the redirect is sent when it is on disk."""
        person, fields = self._form(request)
        code, value = self._value(person, fields)
        revision = fields.get("revision", "")
        if not revision.isdecimal() or len(revision) > 9:
            raise Problem(400, "The form has no revision; open your link again.")
        comment = fields.get("comment", "").strip()[:COMMENT]
        answers.submit(self._store, person["id"], code, int(revision), value, comment)
        return self._site.go("/")

    def draft(self, request: Request) -> Response:
        """Keep a choice that was not sent yet."""
        person, fields = self._form(request)
        code, value = self._value(person, {**fields, "skip": ""})
        answers.save_draft(self._store, person["id"], code, value)
        return Response(status_code=204)

    def seen(self, request: Request) -> Response:
        """Go on from feedback."""
        person, fields = self._form(request)
        answers.mark_seen(self._store, person["id"], fields.get("task", ""))
        return self._site.go("/")

    def enrol(self, request: Request) -> Response:
        """The door of open enrolment; it keeps nothing."""
        self._check_enrolment(request, secret_of(request))
        query = request.query_params
        hidden = {
            "key": secret_of(request),
            "person": query.get("PROLIFIC_PID", "")[:100],
            "session": query.get("SESSION_ID", "")[:100],
        }
        return self._step("enrol", token="", hidden=hidden)

    def take_part(self, request: Request) -> Response:
        """Enrol whoever pressed the button."""
        fields = read_form(request, "")
        self._check_enrolment(request, fields.get("key", ""))
        person, session = fields.get("person", "")[:100], fields.get("session", "")[:100]
        return self._site.go("/", COOKIE, people.enrol(self._store, person, session))

    def _visitor(self, request: Request) -> tuple[str, Any]:
        token = request.cookies.get(COOKIE, "")
        return token, self._person(request, token, NO_LINK)

    def _form(self, request: Request) -> tuple[Any, dict[str, str]]:
        token, person = self._visitor(request)
        return person, read_form(request, token)

    def _person(self, request: Request, token: str, wrong: str) -> Any:
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
        row = self._store.row()
        if self._config.panel is not None or row["enrol_hash"] != digest_of(key):
            raise Problem(404, NO_ENROLMENT, code=BAD_LINK)
        if row["closed"] is not None:
            raise answers.StudyClosed

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
        return code, outcome_of(given, answers.is_flipped(self._store, person["id"], code))

    def _step(self, step: str, title: str = "", **values: Any) -> Response:
        title = title or self._config.study.title
        return self._site.page("steps", title, step=step, config=self._config, **values)

    def _code(self) -> str:
        """The completion code, "" where nobody asks for one."""
        asked = self._config.panel is None or self._config.study.completion_code
        return str(self._store.row()["completion_code"]) if asked else ""

    def _task(self, step: Step, token: str, *, again: bool = False) -> Response:
        """A task to be answered, its feedback, or with `again` one whose answer may be changed."""
        task, config = step.task, self._config
        assert task is not None
        row, unit, low, high = task.row, task.unit, *SCALE

        def said(value: float | None) -> Any:
            return (
                side_of(value, row["flipped"]) if config.pairwise and value is not None else value
            )

        def words(value: float) -> str:
            return CHOICES[said(value)].lower() if config.pairwise else f"{value:g}"

        feedback = None
        if step.name == "feedback":
            feedback = {
                "close": schema.passed(row["answer"], unit["reference"], unit["tolerance"]),
                "own": words(row["answer"]),
                "reference": words(unit["reference"]),
                "rationale": unit["rationale"],
            }
        left = max(1, round(step.left * (step.seconds_each or 0) / 60))
        return self._site.page(
            "task",
            config.study.title,
            token=form_token(token),
            config=config,
            again=again,
            feedback=feedback,
            hidden={"task": row["code"], **({} if feedback else {"revision": row["revision"]})},
            kind=row["kind"],
            learning=row["kind"] in LEARNING,
            turns=unit["turns"],
            sides=task.sides,
            chosen=said(row["answer"] if again else row["draft"]),
            choices={
                name: text for name, text in CHOICES.items() if name != "tie" or config.study.tie
            },
            scale=range(low, high + 1),
            ends={low: config.texts.low, high: config.texts.high},
            comment=row["comment"],
            longest=COMMENT,
            done=step.done,
            total=step.done + step.left,
            minutes=left if step.seconds_each is not None and step.left else 0,
        )


def _chosen(fields: dict[str, str], place: int, choices: Sequence[str]) -> str:
    """The text of what was chosen in a question, "" where it is none of its choices."""
    return {str(n): text for n, text in enumerate(choices)}.get(fields.get(f"q{place}", ""), "")
