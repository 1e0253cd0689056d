"""Ten questions of daily life on the playground, graded by a panel whose opinions are known."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.browser.page import Browser
from tests.browser.questions import QUESTIONS, RATERS, Answer, Question
from tests.browser.visit import Visit
from tests.engine.test_panel_samples import rater_of
from tests.fakes import FakeServer, Fault
from tests.serve.running import Running, parts, running

import darc

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

DIVISIVE = QUESTIONS[0]
POOR = QUESTIONS[2]
REPEATED = QUESTIONS[3]
LEVELS = ("medium", "none", "high")


def reply(body: dict[str, Any], _: int) -> str:
    """The answer with the seed's place, or a rater's grade of an answer."""
    *_, last = body["messages"]
    question = next(known for known in QUESTIONS if known.text in last["content"])
    if "grade answers" not in body["messages"][0]["content"]:
        written = question.written
        return written[(body.get("seed") or 0) % len(written)]
    answers = [known for known in question.answers if known.text in last["content"]]
    answers.sort(key=lambda answer: last["content"].index(answer.text))
    rater = RATERS.index(rater_of(body))
    return json.dumps({"grades": [answer.grades[rater] for answer in answers]})


@pytest.fixture(scope="module")
def backend() -> Iterator[FakeServer]:
    with FakeServer() as server:
        server.ignores.add("logprobs")
        server.reply = reply
        yield server


@pytest.fixture(scope="module")
def gateway(backend: FakeServer) -> Iterator[Running]:
    with running(backend, parts=parts(panel=darc.Panel())) as one:
        yield one


def ask(browser: Browser, gateway: Running, question: Question, device: str = "desktop") -> Visit:
    """A visit at whose end the question is answered."""
    visit = Visit(browser, gateway.url, device)
    visit.until(lambda: visit.find("#model").get_attribute("value"))
    visit.type("#k", str(len(question.written)))
    visit.ask(question.text)
    return visit


def title(place: int) -> str:
    return f"Answer {place + 1}"


def row(place: int) -> str:
    return f".answer-row[data-index='{place}']"


def unhappy_words(answer: Answer) -> str:
    """What the page says of who is unhappy with an answer."""
    names = answer.unhappy
    if not names:
        return "nobody unhappy"
    if len(names) == len(RATERS):
        return "all 8 unhappy"
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{len(names)} of 8 unhappy: {who}"


def check_picture(visit: Visit, question: Question) -> None:
    """Every answer is one row with a dot per rater, of which the unhappy ones are marked."""
    assert visit.count(".answer-row") == visit.count(".candidate") == len(question.answers)
    for place, answer in enumerate(question.answers):
        assert visit.count(f"{row(place)} .dot") == len(RATERS)
        assert visit.count(f"{row(place)} .dot.is-low path.low") == len(answer.unhappy)
        assert visit.count(f"{row(place)} .dot circle.happy") == 8 - len(answer.unhappy)
        assert visit.count(f"{row(place)} .mean") == 1
        label = visit.text(f"{row(place)} .dot-label")
        assert title(place) in label
        assert unhappy_words(answer) in label
        assert ("written" in label) == (answer.times > 1)
    assert visit.texts(".dot-axis text") == [str(tick) for tick in range(11)]
    assert visit.text(".dot-head") == "unhappy below 5"


def check_choice(visit: Visit, question: Question, caution: str) -> None:
    """The chosen answer, the sentence, the list of the unhappy and the picture say the same."""
    place = question.chosen[caution]
    chosen = question.answers[place]
    leader = question.answers[question.leader]
    assert visit.chosen == place
    assert visit.text("#text") == chosen.text
    assert visit.text("#answer-title") == f"Chosen: {title(place)}"
    rows = visit.texts(".answer-row.is-chosen b")
    assert rows == visit.texts(".candidate.is-chosen summary b") == [title(place)]
    assert visit.texts(".answer-row.is-leader b") == [title(question.leader)]
    reason = visit.text("#reason")
    assert reason.startswith(title(place))
    lines = visit.texts("#unhappy li")
    if chosen is leader:
        assert "has the highest average" in reason
        assert not visit.find("#leader").is_displayed()
        assert lines == [f"{title(place)} (chosen, highest average): {unhappy_words(chosen)}"]
    else:
        assert f"not answer {question.leader + 1}" in reason
        assert f"{len(leader.unhappy)} of 8" in reason
        assert visit.text("#other") == leader.text
        assert lines == [
            f"{title(place)} (chosen): {unhappy_words(chosen)}",
            f"{title(question.leader)} (highest average): {unhappy_words(leader)}",
        ]
    assert visit.find("#held").is_displayed() == question.held


@pytest.mark.parametrize(
    "question", QUESTIONS, ids=lambda question: question.text.split("?")[0][:40]
)
def test_choice_sentence_and_picture_agree(
    browser: Browser, gateway: Running, question: Question
) -> None:
    visit = ask(browser, gateway, question)
    for words in question.words:
        assert words in visit.text("#reason")
    assert visit.text("#sure").startswith("How sure: ")
    assert "expected to average" in visit.text("#sure")
    for caution in LEVELS:
        visit.caution(caution)
        check_picture(visit, question)
        check_choice(visit, question, caution)
    assert browser.problems() == []


def test_the_panel_is_named(browser: Browser, gateway: Running) -> None:
    visit = Visit(browser, gateway.url)
    visit.until(lambda: visit.text("#raters"))
    assert visit.text("#raters").startswith("8 raters will grade the answers: hurried, expert,")
    assert not visit.find("#n_aug").is_displayed()
    visit.ask(DIVISIVE.text)
    assert "8 raters graded the answers" in visit.text("#status")
    assert visit.text("#sure").startswith("How sure: ")


def test_caution_decides_again_without_a_call_to_a_model(
    browser: Browser, gateway: Running, backend: FakeServer
) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    calls = len(backend.received)
    assert visit.find("#caution").is_displayed()
    assert visit.find("#caution").get_attribute("aria-valuetext") == "medium"
    assert not visit.find("#rule").is_displayed()
    visit.caution("none")
    assert visit.find("#caution-number").get_attribute("value") == "0"
    visit.type("#caution-number", "3.5")
    visit.settled()
    assert visit.text("#caution-control output") == "3.5"
    assert "Caution 3.5 gives up" in visit.text("#reason")
    assert visit.chosen == DIVISIVE.chosen["high"]
    visit.keys("#reset", Keys.ENTER)
    visit.settled()
    assert visit.find("#caution-number").get_attribute("value") == "1"
    assert len(backend.received) == calls
    assert browser.problems() == []


def test_a_lowest_rating_is_respected(browser: Browser, gateway: Running) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    visit.caution("none")
    assert visit.chosen == 0
    visit.keys("#ways summary", Keys.ENTER)
    visit.type("#no_rating_below", "5")
    visit.settled()
    assert visit.chosen == 1
    assert "3 of 8 rate it below 5" in visit.text("#reason")


def test_other_rules_have_no_caution(browser: Browser, gateway: Running) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    visit.keys("#ways summary", Keys.ENTER)
    visit.rule("mean")
    assert visit.chosen == DIVISIVE.leader
    assert not visit.find("#caution").is_displayed()
    assert "takes no caution" in visit.text("#no-caution")


def test_dots_are_reached_by_the_keyboard(browser: Browser, gateway: Running) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    assert visit.count(".dot[tabindex='0']") == 1
    visit.keys(".dot[tabindex='0']", Keys.ARROW_DOWN)
    focused = browser.driver.switch_to.active_element
    assert focused.get_attribute("data-index") == "0"
    focused.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    focused = browser.driver.switch_to.active_element
    place = int(focused.get_attribute("data-sample"))
    grade = DIVISIVE.answers[0].grades[place]
    expected = f"Answer 1, {RATERS[place]}: {grade}"
    assert visit.text(".tip").startswith(expected)
    assert focused.get_attribute("aria-label") == visit.text(".tip")
    assert visit.count(".dot.same") == len(DIVISIVE.answers)
    focused.send_keys(Keys.ENTER)
    assert visit.find(".candidate[data-index='0']").get_attribute("open")
    body = visit.text(".candidate[data-index='0'] .body")
    assert "sigma" in body
    assert all(name in body for name in RATERS)


def test_a_name_opens_the_card(browser: Browser, gateway: Running) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    card = visit.find(".candidate[data-index='2']")
    summary = card.find_element("css selector", "summary").text
    assert "mean 3.2, all 8 unhappy" in summary or "mean 3.3, all 8 unhappy" in summary
    assert "sigma" not in summary
    visit.keys(f"{row(2)} .dot-label", Keys.ENTER)
    assert card.get_attribute("open")
    assert "value" in card.text


def test_copies_are_one_answer(browser: Browser, gateway: Running) -> None:
    visit = ask(browser, gateway, REPEATED)
    assert visit.texts(".candidate .times") == ["written 3 times", "written 2 times", ""]
    assert visit.text(f"{row(0)} .times") == "written 3 times"


def test_numbers_are_folded_away(browser: Browser, gateway: Running) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    shown = visit.text("body")
    assert "sigma" not in shown
    assert "premium" not in shown
    visit.keys("#numbers summary", Keys.ENTER)
    visit.until(lambda: visit.count("#plane .point") == len(DIVISIVE.answers))
    assert visit.texts("#table tbody th") == ["Answer 2", "Answer 1", "Answer 3"]
    visit.caution("none")
    assert visit.find("#plane .point[tabindex='0']").get_attribute("data-index") == "0"


def test_answers_ruled_out_early_show_no_numbers(
    browser: Browser, gateway: Running, tmp_path: Any
) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    browser.script("URL.createObjectURL = (b) => { window.saved = b; return '#' }")
    visit.keys("#save", Keys.ENTER)
    content = browser.driver.execute_async_script(
        "let done = arguments[0]; window.saved.text().then(text => {"
        "let saved = JSON.parse(text); saved.said.candidates[2].bounded = true;"
        "saved.said.scores[0][2].fill(null, 3); done(JSON.stringify(saved)) })"
    )
    file = tmp_path / "early.json"
    file.write_text(content)
    visit = Visit(browser, gateway.url)
    visit.until(lambda: visit.find("#model").get_attribute("value"))
    visit.find("#open").send_keys(str(file))
    visit.until(lambda: visit.text("#status").startswith("Done"))
    visit.settled()
    assert "ruled out early, after 3 ratings" in visit.text(".candidate[data-index='2'] summary")
    assert visit.count(f"{row(2)} .mean") == 0
    assert visit.count(f"{row(2)} .dot") == 3
    visit.keys(f"{row(2)} .dot-label", Keys.ENTER)
    assert "numbers are not known" in visit.text(".candidate[data-index='2'] .body")


def test_errors_of_the_backend_say_what_to_do(
    browser: Browser, gateway: Running, backend: FakeServer
) -> None:
    visit = Visit(browser, gateway.url)
    visit.until(lambda: visit.find("#model").get_attribute("value"))
    for status, advice in ((401, "Enter a key"), (404, "Check the name of the model")):
        backend.faults = [Fault(status=status, message="no such thing")] * 20
        visit.type("#prompt", DIVISIVE.text)
        visit.keys("#prompt", Keys.CONTROL + Keys.ENTER)
        visit.until(lambda: "No such thing" in visit.text("#status"))
        assert advice in visit.text("#status")
        backend.faults = []


def test_what_is_folded_away_looks_well_too(
    browser: Browser, accessible: Callable[[], list[str]], gateway: Running
) -> None:
    visit = ask(browser, gateway, DIVISIVE)
    for selector in ("#ways summary", "#numbers summary", ".candidate.is-chosen summary"):
        visit.keys(selector, Keys.ENTER)
    visit.rule("epsilon")
    for look in browser.looks("playground-people-open"):
        assert browser.overflow() == 0, look
        assert accessible() == [], look


@pytest.mark.parametrize("question", [DIVISIVE, POOR, REPEATED], ids=["divisive", "poor", "copies"])
def test_the_page_looks_well_everywhere(
    browser: Browser, accessible: Callable[[], list[str]], gateway: Running, question: Question
) -> None:
    ask(browser, gateway, question)
    place = QUESTIONS.index(question)
    for look in browser.looks(f"playground-people-{place}"):
        assert browser.overflow() == 0, look
        assert accessible() == [], look
