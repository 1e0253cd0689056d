import re
from dataclasses import replace
from typing import Any

import numpy as np
from tests.decide.test_pictures import decide, ruled_out

import darc
from darc.decide.pictures import candidate_numbers, candidate_order, dot_picture
from darc.views.decision_page import CandidateView, SampleView, decision_page
from darc.views.dots import DotPicture


def page(decision: darc.Decision, question: str = "a question", **how: Any) -> str:
    views = [
        CandidateView(
            name=decision.labels.candidate(k),
            text=f"text {k} <b>",
            numbers=candidate_numbers(decision, k),
            outcome="chosen" if k == decision.index else "lower average",
            chosen=k == decision.index,
            truncated=k == 1,
            samples=[SampleView("ann", "", [3.0]), SampleView("bob", "", [None])],
            rejected=[("number", "9")] if k == 0 else [],
        )
        for k in candidate_order(decision)
    ]
    options: dict[str, Any] = {"explanation": decision.explain(), "scorers": ["taste"], **how}
    return decision_page(dot_picture(decision, title=question), views, **options)


def test_page_has_everything_and_escapes_it() -> None:
    html = page(decide(), "a <script>?", plane="<svg id='plane'></svg>", notes=["a <i>note"])
    assert "<script>" not in html
    assert "<b>" not in html
    assert "text 1 &lt;b&gt;" in html
    assert "a &lt;i&gt;note" in html
    assert "(cut off at the token limit)" in html
    assert "1 rewrites were refused" in html
    assert "default-src 'none'" in html
    assert not re.search(r"""(src|href)=["']""", html)


def test_answer_reason_and_picture_come_before_the_numbers() -> None:
    html = page(decide(), plane="<svg id='plane'></svg>")
    body = html.split("<body>")[1]
    places = [
        body.index(text)
        for text in (
            "<h1>a question",
            '<p class="answer">text 1',
            "Story, not joke",
            '<figure class="dots"',
            "<details><summary>In numbers",
            "<td>story</td>",
            "<svg id='plane'>",
            "Samples and scores",
        )
    ]
    assert places == sorted(places)


def test_bounds_are_not_shown_as_numbers() -> None:
    html = page(ruled_out())
    row = re.search("<tr><td>poem</td>.*?</tr>", html)
    assert row is not None
    assert row.group().count("<td>-</td>") == 4


def test_texts_of_samples_have_a_column_only_where_there_are_any() -> None:
    assert "<th>text</th>" in page(decide())  # that of the refused rewrites
    picture = DotPicture(rows=(), dot_label="one wording")
    view = CandidateView(
        name="a",
        text="a",
        numbers=[1.0, 1.0, 0.0, 0.0],
        outcome="chosen",
        chosen=True,
        truncated=False,
        samples=[SampleView("original", "a text", [1.0])],
    )
    html = decision_page(picture, [view, view], explanation="", scorers=["taste"])
    assert html.count("<th>text</th>") == 2
    plain = [replace(view, samples=[SampleView("ann", "", [1.0])])] * 2
    html = decision_page(picture, plain, explanation="", scorers=["taste"])
    assert "<th>text</th>" not in html


def test_it_is_said_prominently_when_no_answer_is_good() -> None:
    held = darc.select(np.full((3, 9), 2.0), scale="0-10")
    html = page(held)
    warning = html.index('<p class="held">None of these answers is good.</p>')
    assert warning < html.index('<p class="answer">')
    assert 'class="held"' not in page(decide())
