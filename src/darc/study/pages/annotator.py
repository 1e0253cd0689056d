"""The annotator's pages: consent, instructions, tasks, feedback and the end."""

from html import escape

from darc.study.claims import Step, Task
from darc.study.config import SCALE, Config
from darc.study.markdown import render
from darc.study.pages.layout import form, page

KEYS_SCALAR = "Keys: 0 to 9, x for 10, Enter to send, u to change the last answer."
KEYS_PAIR = "Keys: ← answer 1, → answer 2, {tie}Enter to send, u to change the last answer."
CHOICES = {
    "left": "Answer 1 is better",
    "tie": "They are equally good",
    "right": "Answer 2 is better",
}


def consent_page(root: str, token: str, config: Config) -> str:
    """What taking part means, and a box to tick."""
    agree = (
        '<p><label class="tick"><input type="checkbox" name="agreed" value="yes" required> '
        "I have read this and want to take part.</label></p>"
        '<p><button type="submit">Go on</button></p>'
    )
    body = f"{render(config.texts.consent)}{form(root, '/consent', token, agree)}"
    return _narrow(root, config.study.title, body)


def instructions_page(root: str, token: str, config: Config) -> str:
    """How to rate, with the rubric."""
    begin = '<p><button type="submit">Begin</button></p>'
    body = (
        f"<h2>Instructions</h2>{render(config.texts.instructions)}"
        f"<h2>The scale</h2>{render(config.texts.rubric)}"
        f"{form(root, '/instructions', token, begin)}"
    )
    return _narrow(root, config.study.title, body)


def task_page(root: str, token: str, config: Config, step: Step, *, again: bool = False) -> str:
    """A task to be answered, or with `again` one whose answer may be changed."""
    task = step.task
    assert task is not None
    chosen = task.row["answer"] if again else task.row["draft"]
    fields = _pair_fields(task, config, chosen) if config.pairwise else _scalar_fields(chosen)
    keys = KEYS_PAIR.format(tie="t tie, " if config.study.tie else "")
    hint = keys if config.pairwise else KEYS_SCALAR
    back = ""
    if again:
        back = f'<a href="{escape(root)}/">Leave it as it is</a>'
    elif step.done and task.row["kind"] not in ("training", "calibration"):
        back = f'<a id="undo" href="{escape(root)}/back">Change the last answer</a>'
    controls = (
        f'{fields}<p class="actions"><button type="submit">Send</button> {back}</p>'
        f'<p class="keys">{escape(hint)}</p>'
        '<p id="notice" role="status" aria-live="polite"></p>'
    )
    answering = form(
        root, "/answer", token, controls, task=task.row["code"], revision=str(task.row["revision"])
    ).replace("<form ", f'<form id="answer" data-root="{escape(root)}" ', 1)
    above = '<p class="note">This is your last answer. You may change it.</p>' if again else ""
    body = (
        f"{_progress(config, step)}{above}<div class='task'><main>{shown(task, config)}</main>"
        f'<div class="side">{_rubric(config)}{answering}</div></div>'
    )
    return page(root, config.study.title, body, script=True, kind="work")


def feedback_page(root: str, token: str, config: Config, step: Step) -> str:
    """A training task with the reference and why it is so."""
    task = step.task
    assert task is not None
    own, reference = _said(task, config, "answer"), _said(task, config, "reference")
    close = abs(task.row["answer"] - task.unit["reference"]) <= task.unit["tolerance"] + 1e-9
    verdict = "Your answer fits the reference." if close else "The reference differs."
    why = render(task.unit["rationale"]) if task.unit["rationale"] else ""
    go_on = '<p><button type="submit" autofocus>Go on</button></p>'
    body = (
        f"{_progress(config, step)}<div class='task'><main>{shown(task, config)}</main>"
        f'<div class="side">{_rubric(config)}<section class="feedback" role="status">'
        f"<h2>Feedback</h2><p><strong>{verdict}</strong></p>"
        f"<p>You: {escape(own)}. Reference: {escape(reference)}.</p>{why}"
        f"{form(root, '/seen', token, go_on, task=task.row['code'])}</section></div></div>"
    )
    return page(root, config.study.title, body, kind="work")


def done_page(root: str, config: Config, code: str, step: Step) -> str:
    """Thanks, and the completion code under open enrolment."""
    body = "<h1>Thank you</h1><p>You have answered everything there is for you.</p>"
    if config.panel is None:
        body += f"<p>Your completion code: <strong id='code'>{escape(code)}</strong></p>"
        if config.study.completion_url:
            address = escape(config.study.completion_url)
            body += f'<p><a href="{address}" rel="noreferrer">Complete the study</a></p>'
    if step.done:
        body += f'<p><a href="{escape(root)}/back">Change the last answer</a></p>'
    return page(root, "Thank you", f'<main class="narrow">{body}</main>')


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
    return f'<section class="rubric" aria-label="Rubric">{render(config.texts.rubric)}</section>'


def _scalar_fields(chosen: float | None) -> str:
    low, high = SCALE
    radios = "".join(
        f'<label><input type="radio" name="answer" value="{value}" required'
        f"{' checked' if chosen == value else ''}><span>{value}</span></label>"
        for value in range(low, high + 1)
    )
    return (
        f'<fieldset class="scale"><legend>Your rating, {low} to {high}</legend>{radios}</fieldset>'
    )


def _pair_fields(task: Task, config: Config, chosen: float | None) -> str:
    picked = "" if chosen is None else side_name(chosen, task.row["flipped"])
    radios = "".join(
        f'<label><input type="radio" name="answer" value="{value}" required'
        f"{' checked' if picked == value else ''}><span>{escape(text)}</span></label>"
        for value, text in CHOICES.items()
        if value != "tie" or config.study.tie
    )
    return f'<fieldset class="sides"><legend>Which answer is better?</legend>{radios}</fieldset>'


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
    if task is not None and task.row["kind"] in ("training", "calibration"):
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
