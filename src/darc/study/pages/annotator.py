"""The annotator's pages: consent, instructions, tasks, feedback and the end."""

from collections.abc import Sequence
from html import escape

from darc.study.claims import LEARNING, Step, Task
from darc.study.config import SCALE, Comprehension, Config, Group
from darc.study.markdown import render
from darc.study.pages.layout import form, page

KEYS_SCALAR = "Keys: 0 to 9, x for 10, Enter to send, u to change the last answer."
KEYS_PAIR = "Keys: ← answer 1, → answer 2, {tie}Enter to send, u to change the last answer."
CHOICES = {
    "left": "Answer 1 is better",
    "tie": "They are equally good",
    "right": "Answer 2 is better",
}

GO_ON = '<p><button type="submit">Go on</button></p>'
UNTOLD = "Prefer not to say"
SKIP = '<button type="submit" class="quiet" name="skip" value="yes" formnovalidate>Skip</button>'
COMMENT = 1000


def consent_page(root: str, token: str, config: Config) -> str:
    """What taking part means, and a box to tick."""
    agree = (
        '<p><label class="tick"><input type="checkbox" name="agreed" value="yes" required> '
        f"I have read this and want to take part.</label></p>{GO_ON}"
    )
    body = f"{_prose(config.texts.consent)}{form(root, '/consent', token, agree)}"
    return _narrow(root, config.study.title, body)


def groups_page(root: str, token: str, config: Config) -> str:
    """Questions about the person, none of which must be answered."""
    fields = _questions(config.groups, UNTOLD) + GO_ON
    body = (
        "<h2>About you</h2><p>Your answers tell groups of people apart, and nobody by name.</p>"
        f"{form(root, '/groups', token, fields)}"
    )
    return _narrow(root, config.study.title, body)


def instructions_page(root: str, token: str, config: Config) -> str:
    """How to rate, with the rubric."""
    body = f"{_instructions(config)}{form(root, '/instructions', token, GO_ON)}"
    return _narrow(root, config.study.title, body)


def comprehension_page(root: str, token: str, config: Config, tries: int) -> str:
    """Questions on the instructions, which can be read again."""
    told = "<p>A few questions on the instructions, which you can read again below them.</p>"
    if tries:
        told = (
            '<p class="note" role="alert">Not all of your answers match the instructions. Please '
            "read them again below; you have one more try.</p>"
        )
    fields = _questions(config.comprehension) + GO_ON
    again = f"<details{' open' if tries else ''}><summary>Read the instructions again</summary>"
    body = (
        f"<h2>Before you begin</h2>{told}"
        f"{form(root, '/comprehension', token, fields, tries=str(tries))}"
        f"{again}{_instructions(config)}</details>"
    )
    return _narrow(root, config.study.title, body)


def _instructions(config: Config) -> str:
    heading = "How to compare" if config.pairwise else "The scale"
    return (
        f"<h2>Instructions</h2>{_prose(config.texts.instructions)}"
        f"<h2>{heading}</h2>{_prose(config.texts.rubric)}"
    )


def _prose(text: str) -> str:
    """A text of the study, whose lines are wrapped in its file."""
    return render(text, breaks=False)


def _questions(questions: Sequence[Comprehension | Group], last: str = "") -> str:
    """A fieldset for each question; the value of a choice is its place, that of `last` empty."""
    parts = []
    for place, each in enumerate(questions):
        choices = [*enumerate(each.choices), *([("", last)] if last else [])]
        radios = "".join(
            f'<label class="tick"><input type="radio" name="q{place}" value="{value}" required> '
            f"{escape(text)}</label>"
            for value, text in choices
        )
        parts.append(
            f'<fieldset class="asked"><legend>{escape(each.question)}</legend>{radios}</fieldset>'
        )
    return "".join(parts)


def task_page(root: str, token: str, config: Config, step: Step, *, again: bool = False) -> str:
    """A task to be answered, or with `again` one whose answer may be changed."""
    task = step.task
    assert task is not None
    chosen = task.row["answer"] if again else task.row["draft"]
    choices = _pair_choices(task, config, chosen) if config.pairwise else _scale(config, chosen)
    legend = f"<legend>{escape(config.texts.question)}</legend>"
    learning = task.row["kind"] in LEARNING
    keys = KEYS_PAIR.format(tie="t tie, " if config.study.tie else "")
    hint = keys if config.pairwise else KEYS_SCALAR
    back = ""
    if again:
        back = f'<a href="{escape(root)}/">Leave it as it is</a>'
    elif step.done and not learning:
        back = f'<a id="undo" href="{escape(root)}/back">Change the last answer</a>'
    skip = SKIP if config.study.skip and not learning else ""
    above = '<p class="note">This is your last answer. You may change it.</p>' if again else ""
    controls = (
        f"{above}<fieldset>{legend}{choices}</fieldset>{_comment(task, config)}"
        f'<p class="actions"><button type="submit">Send</button> {skip} {back}</p>'
        f'<p class="keys">{escape(hint)}</p>'
        '<p id="notice" role="status" aria-live="polite"></p>'
    )
    answering = form(
        root, "/answer", token, controls, task=task.row["code"], revision=str(task.row["revision"])
    ).replace("<form ", f'<form id="answer" data-root="{escape(root)}" ', 1)
    body = (
        f'{_progress(config, step)}<div class="task"><main>{shown(task, config)}</main>'
        f'<aside class="side" aria-label="Your answer">{_rubric(config)}{answering}</aside></div>'
    )
    return page(root, config.study.title, body, script=True, kind="work")


def feedback_page(root: str, token: str, config: Config, step: Step) -> str:
    """A training task with the reference and why it is so."""
    task = step.task
    assert task is not None
    own, reference = _said(task, config, "answer"), _said(task, config, "reference")
    close = abs(task.row["answer"] - task.unit["reference"]) <= task.unit["tolerance"] + 1e-9
    verdict = "Your answer fits the reference." if close else "The reference differs."
    why = _prose(task.unit["rationale"])
    go_on = '<p><button type="submit" autofocus>Go on</button></p>'
    body = (
        f'{_progress(config, step)}<div class="task"><main>{shown(task, config)}</main>'
        f'<aside class="side" aria-label="Feedback">{_rubric(config)}'
        '<section class="feedback" role="status">'
        f"<h2>Feedback</h2><p><strong>{verdict}</strong></p>"
        f"<p>You: {escape(own)}. Reference: {escape(reference)}.</p>{why}"
        f"{form(root, '/seen', token, go_on, task=task.row['code'])}</section></aside></div>"
    )
    return page(root, config.study.title, body, kind="work")


def done_page(root: str, config: Config, code: str, step: Step) -> str:
    """Thanks, what happens next, and the completion code where there is one."""
    body, close = _prose(config.texts.thanks), "You may close this page."
    if config.panel is None or config.study.completion_code:
        close = "After that you may close this page."
        body += (
            '<div class="note"><p>Your completion code, to be entered where you came from:</p>'
            f'<p><strong id="code">{escape(code)}</strong></p></div>'
        )
    if config.study.completion_url:
        address = escape(config.study.completion_url)
        body += f'<p><a class="button" href="{address}" rel="noreferrer">Complete the study</a></p>'
    body += f"<p>{close}</p>"
    if step.done:
        body += f'<p><a href="{escape(root)}/back">Change the last answer</a></p>'
    return _narrow(root, "Thank you", body)


def ended_page(root: str, config: Config) -> str:
    """The end for whoever failed the comprehension check."""
    return _narrow(root, "Thank you for your time", _prose(config.texts.ended))


def enrol_page(root: str, config: Config, **hidden: str) -> str:
    """The door of open enrolment: nothing is kept before the button is pressed."""
    go_on = '<p><button type="submit">Take part</button></p>'
    text = "<p>You have been invited to rate answers to questions.</p>"
    return _narrow(root, config.study.title, text + form(root, "/enrol", "", go_on, **hidden))


def shown(task: Task, config: Config) -> str:
    """The prompt and one response, or two; rendered alike for all systems."""
    turns = task.unit["turns"]
    prompt = "".join(
        f'<div class="turn">{_role(role) if len(turns) > 1 else ""}{render(text)}</div>'
        for role, text in turns
    )
    left, right = task.sides
    parts = [f'<section class="prompt"><h2>Question</h2>{prompt}</section>']
    if config.pairwise:
        answers = "".join(
            f'<section class="answer"><h2>Answer {number}</h2>{render(text)}</section>'
            for number, text in ((1, left), (2, right))
        )
        parts.append(f'<div class="pair">{answers}</div>')
    else:
        parts.append(f'<section class="answer"><h2>Answer</h2>{render(left)}</section>')
    return "".join(parts)


def _role(role: str) -> str:
    return f'<p class="role">{escape(role.capitalize())}</p>'


def _rubric(config: Config) -> str:
    return f'<section class="rubric" aria-label="Rubric">{_prose(config.texts.rubric)}</section>'


def _scale(config: Config, chosen: float | None) -> str:
    """The numbers in a row, its ends in words, which their buttons are read out with."""
    low, high = SCALE
    ends = {low: config.texts.low, high: config.texts.high}
    radios = "".join(
        _choice(str(value), str(value), chosen == value, ends.get(value, ""))
        for value in range(low, high + 1)
    )
    words = "".join(f"<span>{value}: {escape(text)}</span>" for value, text in ends.items())
    return f'<div class="scale">{radios}</div><p class="ends" aria-hidden="true">{words}</p>'


def _pair_choices(task: Task, config: Config, chosen: float | None) -> str:
    picked = "" if chosen is None else side_name(chosen, task.row["flipped"])
    radios = "".join(
        _choice(value, text, picked == value)
        for value, text in CHOICES.items()
        if value != "tie" or config.study.tie
    )
    return f'<div class="sides">{radios}</div>'


def _choice(value: str, text: str, checked: bool, more: str = "") -> str:
    label = f' aria-label="{escape(f"{text}: {more}")}"' if more else ""
    return (
        f'<label><input type="radio" name="answer" value="{value}" required{label}'
        f"{' checked' if checked else ''}><span>{escape(text)}</span></label>"
    )


def _comment(task: Task, config: Config) -> str:
    if not config.study.comments or task.row["kind"] in LEARNING:
        return ""
    return (
        f'<p><label class="comment">Comment (optional)<textarea name="comment" rows="2" '
        f'maxlength="{COMMENT}">{escape(task.row["comment"])}</textarea></label></p>'
    )


def side_name(answer: float, flipped: bool) -> str:
    """The choice on the page that an outcome (0 first, 1 second, 0.5 tie) is."""
    return "tie" if answer == 0.5 else ("right" if (answer == 1.0) != flipped else "left")


def _said(task: Task, config: Config, name: str) -> str:
    value = task.row["answer"] if name == "answer" else task.unit["reference"]
    if config.pairwise:
        return CHOICES[side_name(value, task.row["flipped"])].lower()
    return f"{value:g}"


def _progress(config: Config, step: Step) -> str:
    task = step.task
    total = step.done + step.left
    stage = ""
    if task is not None and task.row["kind"] in LEARNING:
        stage = "Training" if task.row["kind"] == "training" else "Calibration"
    minutes = ""
    if step.seconds_each is not None and step.left:
        left = max(1, round(step.left * step.seconds_each / 60))
        minutes = f", about {left} minute{'' if left == 1 else 's'} left"
    words = f"{stage + ' ' if stage else ''}{min(step.done + 1, total)} of {total}{minutes}"
    return (
        f'<header><h1>{escape(config.study.title)}</h1><label class="progress">'
        f'<span>{words}</span><progress max="{max(1, total)}" value="{step.done}">'
        f"</progress></label></header>"
    )


def _narrow(root: str, title: str, body: str) -> str:
    return page(root, title, f'<main class="narrow"><h1>{escape(title)}</h1>{body}</main>')
