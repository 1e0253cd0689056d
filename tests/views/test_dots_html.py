import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
from tests.decide.test_pictures import NAMES, decide

import darc
from darc.decide.pictures import dot_picture
from darc.views.dots_html import MAX_OPEN_ROWS, dots_figure, notebook_html, picture_label


class Tags(HTMLParser):
    """Checks that all tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def test_every_rating_is_a_mark_with_its_raters_name() -> None:
    html = dots_figure(dot_picture(decide()))
    assert html.count("<circle cx") == 5 + 8 + 2
    assert len(re.findall(r'<svg x="[\d.]+%"', html)) == 3 + 6
    assert "<title>hurried: 2</title>" in html
    assert "<title>ann: 9</title>" in html
    parser = Tags()
    parser.feed(html)
    assert parser.stack == []


def test_the_unhappy_are_named_and_the_limit_is_labelled_once() -> None:
    html = dots_figure(dot_picture(decide()))
    assert "3 of 8 unhappy: hurried, sceptic and elsewhere" in html
    assert html.count('class="dots-limit-label"') == 1
    assert html.count('class="dots-limit"') == 3
    assert html.count('<line class="dots-mean"') == 3


def test_the_picture_is_picture_label() -> None:
    picture = dot_picture(decide())
    label = picture_label(picture)
    assert "story, chosen by auto: average 6.0, nobody unhappy." in label
    assert "joke, highest average (Best-of-K): average 6.4, 3 of 8 unhappy" in label
    assert 'aria-label="joke: 2 3 times, 9 5 times; average 6.4' in dots_figure(picture)


def test_texts_are_escaped_and_long_ones_folded() -> None:
    texts = {"joke": "<script>alert(1)</script>", "story": "a long <b>story " * 100}
    names = ["<i>", *NAMES[1:]]
    picture = dot_picture(decide(), texts)
    picture = replace(picture, rows=(replace(picture.rows[0], name=names[0]), *picture.rows[1:]))
    html = dots_figure(picture)
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count('<details class="dots-text">') == 1
    assert html.count("a long &lt;b&gt;story") > 100


def test_answers_after_the_first_are_folded_away() -> None:
    ratings = np.random.default_rng(0).integers(0, 11, (16, 9))
    html = dots_figure(dot_picture(darc.select(ratings, scale="0-10")))
    start, fold = html.split('<details class="dots-more">')
    assert start.count('class="dots-row') == MAX_OPEN_ROWS
    assert fold.count('class="dots-row') == 16 - MAX_OPEN_ROWS
    assert "8 more answers" in fold


def test_a_notebook_gets_its_own_colours_in_light_and_dark() -> None:
    html = notebook_html(dot_picture(decide()), answer="<b>", explanation="why", rows=[])
    assert ".darc { color-scheme" in html
    assert "prefers-color-scheme: dark" in html
    assert "&lt;b&gt;" in html
    assert ":root" not in html


def test_it_is_said_when_no_answer_is_good() -> None:
    decision = darc.select(np.full((2, 9), 2.0), scale="0-10")
    assert decision.held
    html = decision._repr_html_()
    assert '<p class="held">None of these answers is good.</p>' in html
    assert html.count("<p>") == 1
    assert "None of these answers is good" not in html.split("<p>")[1].split("</p>")[0]
    assert "None of these" not in decide()._repr_html_()


def test_a_decision_shows_itself_in_a_notebook() -> None:
    html = decide()._repr_html_()
    assert "story, not joke" in html
    assert html.count('class="dots-row') == 3
