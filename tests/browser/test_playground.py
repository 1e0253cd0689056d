"""The playground in a real browser, before a real gateway."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.browser.page import WIDTHS, Browser
from tests.browser.visit import PROMPT, Visit
from tests.fakes import FakeServer, Fault
from tests.serve.running import Running, parts, running

from darc.decide.registry import rules
from darc.web.keys import make_key

Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

ANSWERS = [
    "It's a way to think slowly. You write down what happened, and you notice what matters.",
    "People don't keep one for others. They keep it because a page can't interrupt them.",
    "However, a diary isn't for everyone. Many people start in January and stop by 3 February.",
    "Firstly, it helps you to remember. Secondly, it helps you to forget. Finally, it is cheap.",
    "I think that it's mostly habit. A large number of diaries say little, but do so every day.",
    "A diary shows how you've changed. In order to see that, you need only ten minutes a week.",
]
ROWS = "return [...document.querySelectorAll('.candidate')].map(e => +e.dataset.index)"


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with FakeServer() as server:
        server.reply = lambda body, index: ANSWERS[body.get("seed", 0) % len(ANSWERS)]
        yield server


@pytest.fixture
def gateway(fake: FakeServer) -> Iterator[Running]:
    scorers = ("form", f"{fake.url}/plain,name=reward,location=0,scale=8")
    with running(fake, k=len(ANSWERS), parts=parts(scorers=scorers, n_aug=6)) as one:
        yield one


def named(explanation: str) -> str:
    """An explanation of the API in the page's words: candidate 0 is its answer 1."""
    return re.sub(
        r"candidate (\d+)", lambda match: f"answer {int(match[1]) + 1}", explanation.lower()
    )


def decision(url: str, **method: Any) -> dict[str, Any]:
    """The decision of the API for the same request."""
    body = {
        "model": "fake",
        "messages": [{"role": "user", "content": PROMPT}],
        "seed": 0,
        "darc": {"full": True, "metadata": "full", **method},
    }
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["darc"])


@pytest.mark.parametrize("device", WIDTHS)
def test_a_prompt_is_answered(browser: Browser, gateway: Running, device: str) -> None:
    visit = Visit(browser, gateway.url, device)
    assert browser.overflow() == 0
    visit.ask()
    expected = decision(gateway.url)
    assert visit.chosen == expected["index"]
    assert visit.text("#text") == ANSWERS[expected["index"]]
    assert visit.count(".candidate") == visit.count(".answer-row") == len(ANSWERS)
    means = [candidate["mean"] for candidate in expected["candidates"]]
    rows = browser.script(ROWS)
    assert rows == sorted(rows, key=lambda k: (k != expected["index"], -means[k]))
    assert visit.texts(".answer-row.is-chosen b") == [f"Answer {expected['index'] + 1}"]
    visit.keys("#numbers summary", Keys.ENTER)
    visit.until(lambda: visit.count("#plane .point") == len(ANSWERS))
    assert browser.overflow() == 0
    assert browser.problems() == []


def test_candidates_are_seen_as_they_arrive(
    browser: Browser, gateway: Running, fake: FakeServer
) -> None:
    visit = Visit(browser, gateway.url)
    visit.until(lambda: visit.find("#model").get_attribute("value"))
    # Without a seed of the reader's own, two answers may otherwise be the same.
    fake.reply = lambda body, index: f"{ANSWERS[0]} That was answer {body.get('seed')}."
    fake.faults = [Fault("hang")]
    visit.keys("#prompt", PROMPT, Keys.CONTROL + Keys.ENTER)
    there = "return document.querySelectorAll('.candidate').length"
    visit.until(lambda: browser.script(there) == len(ANSWERS) - 1)
    assert "5 of 6" in visit.text("#status")
    assert visit.text("#go") == "Stop"
    visit.keys("#go", Keys.ENTER)
    visit.until(lambda: visit.text("#status") == "Stopped.")
    assert visit.text("#go") == "Ask"


def test_sliders_decide_again_without_a_call_to_a_model(
    browser: Browser, gateway: Running, fake: FakeServer
) -> None:
    visit = Visit(browser, gateway.url)
    visit.ask()
    calls = len(fake.received)
    first = visit.chosen
    visit.keys("#ways summary", Keys.ENTER)
    assert not visit.find("#reset").is_displayed()
    seen: dict[tuple[str, str, str], int] = {}
    for rule, slider in (("epsilon", "epsilon"), ("epsilon", "beta"), ("tau", "tau")):
        visit.rule(rule)
        for key in (Keys.HOME, Keys.PAGE_UP, Keys.PAGE_UP, Keys.ARROW_RIGHT, Keys.END):
            visit.keys(f"#{slider}", key)
            visit.settled()
            names = ("beta", rule)
            numbers = [visit.find(f"#{n}-number").get_attribute("value") for n in names]
            seen[rule, *numbers] = visit.chosen
            assert visit.text("#text") == ANSWERS[visit.chosen]
    assert len(fake.received) == calls
    assert len(set(seen.values())) > 1
    for (rule, beta, level), index in seen.items():
        method = {"rule": rule, "beta": float(beta), **({rule: float(level)} if level else {})}
        assert decision(gateway.url, **method)["index"] == index, method
    visit.keys("#reset", Keys.ENTER)
    visit.settled()
    assert visit.chosen == first
    assert visit.find("#rule").get_attribute("value") == "auto"
    assert visit.text("#reason").lower() == named(decision(gateway.url)["explanation"])
    assert browser.problems() == []


def test_a_candidate_opens_with_its_rewrites(browser: Browser, gateway: Running) -> None:
    visit = Visit(browser, gateway.url)
    visit.ask()
    outcome = decision(gateway.url)
    visit.keys("#numbers summary", Keys.ENTER)
    visit.until(lambda: visit.count("#plane .point"))
    point = visit.find("#plane .point[tabindex='0']")
    assert int(point.get_attribute("data-index")) == outcome["index"]
    browser.script("arguments[0].focus()", point)
    point.send_keys(Keys.ARROW_RIGHT)
    focused = browser.driver.switch_to.active_element
    index = int(focused.get_attribute("data-index"))
    assert index != outcome["index"]
    assert visit.text("#caption").startswith(f"Answer {index + 1}")
    focused.send_keys(Keys.ENTER)
    body = visit.text(f".candidate[data-index='{index}'] .body")
    texts = outcome["texts"][index]
    assert ANSWERS[index] in body
    assert texts["variants"]
    assert all(variant["text"] in body for variant in texts["variants"])
    for rejected in texts["rejected"]:
        assert rejected["reason"] in body
        assert rejected["text"] in body
    assert body.count("reward ") == 1 + len(texts["variants"])
    assert any(candidate["rejected"] for candidate in outcome["texts"])
    assert browser.problems() == []


def test_one_candidate_and_one_sample(browser: Browser, gateway: Running) -> None:
    visit = Visit(browser, gateway.url)
    visit.keys("#n_aug", Keys.CONTROL + "a" + Keys.NULL, "0")
    visit.ask()
    visit.keys("#numbers summary", Keys.ENTER)
    visit.until(lambda: "No answer has a sigma" in visit.text("#plane"))
    assert "did without it" in visit.text("#flags")
    visit.keys("#k", Keys.CONTROL + "a" + Keys.NULL, "1")
    visit.keys("#prompt", Keys.CONTROL + Keys.ENTER)
    visit.until(lambda: "nothing was chosen" in visit.text("#reason"))
    assert not visit.find("#picture").is_displayed()
    assert visit.text("#text") == ANSWERS[0]
    assert browser.problems() == []


def test_wordings_are_dots_without_caution(browser: Browser, gateway: Running) -> None:
    visit = Visit(browser, gateway.url)
    visit.ask()
    outcome = decision(gateway.url)
    assert not visit.find("#caution").is_displayed()
    assert "sensitivity to wording" in visit.text("#no-caution")
    assert visit.text("#dots-title") == "What each wording scores"
    assert visit.texts("#unhappy li") == []
    assert visit.count(".dot.is-low") == 0
    for place, scorer in enumerate(outcome["scorers"]):
        script = "let s = document.getElementById('scorer'); s.value = arguments[0];"
        browser.script(script + "s.dispatchEvent(new Event('change'))", str(place))
        assert f"Answer 1, the original wording: {outcome['scores'][place][0][0]:.4g}" in [
            dot.get_attribute("aria-label").replace("\N{MINUS SIGN}", "-")
            for dot in browser.driver.find_elements("css selector", ".dot[data-index='0']")
        ], scorer["name"]
    known = [score for score in outcome["scores"][0][0] if score is not None]
    assert visit.count(".dot[data-index='0']") == len(known)


def test_every_rule_is_offered_and_decides_as_the_gateway_does(
    browser: Browser, fake: FakeServer
) -> None:
    scorers = ("form", f"{fake.url}/plain,name=reward,location=0,scale=8")
    with running(fake, k=6, rule="cvar:alpha=0.3", parts=parts(scorers=scorers)) as gateway:
        visit = Visit(browser, gateway.url)
        visit.ask()
        outcome = decision(gateway.url)
        assert (outcome["rule"], visit.chosen) == ("cvar", outcome["index"])
        assert visit.find("#rule").get_attribute("value") == "cvar"
        offered = browser.script("return [...document.querySelectorAll('#rule option')]"
                                 ".filter(e => !e.disabled).map(e => e.value)")  # fmt: skip
        assert {"auto", "epsilon", "lcb", "worst", "soft", "poisson"} <= set(offered)
        assert ("median" in offered) == ("median" in list(rules)), "a plugin's rule"
        assert "mc_dropout" not in offered, "nothing makes its side input"
        for name in offered:
            visit.rule(name)
            assert visit.chosen == decision(gateway.url, rule=name)["index"], name
        assert browser.problems() == []


def test_markdown_is_drawn_and_never_markup(browser: Browser, fake: FakeServer) -> None:
    text = (
        "## Why\n\nIt **matters** to `a < b`:\n\n- one\n- two\n\n```js\nlet x = '<b>';\n```\n\n"
        "<img src=x onerror=alert(1)> [fine](https://example.org) [bad](javascript:alert(1))"
    )
    fake.reply = lambda body, index: text
    with running(fake, k=2) as gateway:
        visit = Visit(browser, gateway.url)
        visit.ask()
        inside = (
            "return [...document.getElementById('text').querySelectorAll(arguments[0])]"
            ".map(e => e.textContent)"
        )
        assert browser.script(inside, "li") == ["one", "two"]
        assert browser.script(inside, "pre code") == ["let x = '<b>';"]
        assert browser.script(inside, "strong") == ["matters"]
        assert browser.script(inside, "a") == ["fine"]
        assert browser.script(inside, "img, b, script") == []
        assert "<img src=x onerror=alert(1)>" in visit.text("#text")
        assert browser.problems() == []


@pytest.mark.parametrize(
    "text",
    [
        "`a` " * 20_000,
        "**a " * 25_000,
        "[" * 80_000,
        "# a" + " " * 60_000 + "a",
        "a|b\n" + "-" * 60_000,
    ],
    ids=["code", "strong", "brackets", "heading", "table"],
)
def test_hostile_markdown_takes_no_time(browser: Browser, gateway: Running, text: str) -> None:
    Visit(browser, gateway.url)
    milliseconds = browser.driver.execute_async_script(
        """
        const [text, done] = arguments;
        import("/markdown.js").then(({ renderMarkdown }) => {
          const started = performance.now();
          renderMarkdown(text);
          done(performance.now() - started);
        }).catch((error) => done(String(error)));
        """,
        text + "x",
    )
    assert milliseconds < 2000


def test_long_answers_are_folded(browser: Browser, fake: FakeServer) -> None:
    fake.reply = lambda body, index: "\n\n".join(f"Paragraph {i} of {index}." for i in range(60))
    with running(fake, k=2) as gateway:
        visit = Visit(browser, gateway.url)
        visit.ask()
        assert visit.find("#text").size["height"] < 450
        visit.keys("#chosen button", Keys.ENTER)
        assert visit.find("#text").size["height"] > 1000


def test_a_conversation_and_own_answers(
    browser: Browser, gateway: Running, fake: FakeServer
) -> None:
    visit = Visit(browser, gateway.url)
    visit.keys("#conversation summary", Keys.ENTER)
    visit.keys("#system", "Be brief.")
    for _ in range(2):
        visit.keys("#add-turn", Keys.ENTER)
    boxes = browser.driver.find_elements("css selector", "#turns textarea")
    for box, words in zip(boxes, ("Hello.", "Hello to you."), strict=True):
        box.send_keys(words)
    visit.ask()
    sent = fake.bodies[0]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in sent[:3]] == ["Be brief.", "Hello.", "Hello to you."]
    calls = [body for body in fake.bodies if "messages" in body]
    visit.keys("#own summary", Keys.ENTER)
    boxes = browser.driver.find_elements("css selector", "#answers textarea")
    for box, words in zip(boxes, ANSWERS[:2], strict=True):
        box.send_keys(words)
    visit.keys("#prompt", Keys.CONTROL + Keys.ENTER)
    visit.until(lambda: len(browser.script(ROWS)) == 2 and visit.text("#text") in ANSWERS[:2])
    assert [body for body in fake.bodies if "messages" in body] == calls, "no model wrote"
    assert browser.problems() == []


def test_a_decision_is_saved_and_opened_again(
    browser: Browser, gateway: Running, tmp_path: Path
) -> None:
    visit = Visit(browser, gateway.url)
    visit.ask()
    chosen = visit.chosen
    browser.script("URL.createObjectURL = (b) => { window.saved = b; return '#' }")
    visit.keys("#save", Keys.ENTER)
    content = browser.driver.execute_async_script("window.saved.text().then(arguments[0])")
    file = tmp_path / "decision.json"
    file.write_text(content)
    visit = Visit(browser, gateway.url)
    visit.until(lambda: visit.find("#model").get_attribute("value"))
    visit.find("#open").send_keys(str(file))
    visit.until(lambda: visit.text("#status").startswith("Done"))
    visit.settled()
    assert visit.chosen == chosen
    assert visit.find("#prompt").get_attribute("value") == PROMPT
    bad = tmp_path / "bad.json"
    bad.write_text("[")
    visit.find("#open").send_keys(str(bad))
    visit.until(lambda: "did not save that file" in visit.text("#status"))


def test_a_scorer_that_fails_is_left_out_of_the_arithmetic(
    browser: Browser, fake: FakeServer
) -> None:
    scorers = ("form", f"{fake.url}/broken.json,name=reward,location=0,scale=8")
    with running(fake, k=6, parts=parts(scorers=scorers)) as gateway:
        visit = Visit(browser, gateway.url)
        visit.ask()
        outcome = decision(gateway.url)
        assert "scorer_failed:reward" in outcome["flags"]
        assert visit.chosen == outcome["index"]
        assert "Scorer reward failed" in visit.text("#flags")
        assert browser.problems() == []


def test_errors_are_sentences(browser: Browser, gateway: Running, fake: FakeServer) -> None:
    visit = Visit(browser, gateway.url)
    visit.until(lambda: visit.find("#model").get_attribute("value"))
    fake.faults = [Fault(status=400, message="the model is asleep")] * 6
    visit.keys("#prompt", PROMPT, Keys.CONTROL + Keys.ENTER)
    visit.until(lambda: "asleep" in visit.text("#status"))
    assert "try another model" in visit.text("#status")
    assert visit.text("#go") == "Ask"


def test_a_key_is_asked_for_and_kept_in_the_tab(
    browser: Browser, fake: FakeServer, tmp_path: Path
) -> None:
    file = tmp_path / "keys.jsonl"
    key = make_key(file, "reader", 0.0)
    with running(fake, api_keys=file) as gateway:
        visit = Visit(browser, gateway.url)
        visit.until(lambda: "API key" in visit.text("#status"))
        assert browser.problems() == []
        visit.keys("#key", key, Keys.TAB)
        visit.until(lambda: visit.find("#model").get_attribute("value") == "fake")
        visit.keys("#prompt", PROMPT, Keys.CONTROL + Keys.ENTER)
        visit.until(lambda: visit.text("#status").startswith("Done"))
        stored = "return JSON.stringify([{...sessionStorage}, {...localStorage}])"
        assert json.loads(browser.script(stored)) == [{"darc-key": key}, {}]
        assert browser.problems() == []
        browser.script("sessionStorage.clear()")


def test_the_page_is_accessible(
    browser: Browser, accessible: Callable[[], list[str]], gateway: Running
) -> None:
    visit = Visit(browser, gateway.url)
    for look in browser.looks("playground-empty"):
        assert accessible() == [], look
    visit.ask()
    for look in browser.looks("playground"):
        assert browser.overflow() == 0, look
        assert accessible() == [], look


def test_answers_that_repeat_are_one_card(browser: Browser, fake: FakeServer) -> None:
    fake.reply = lambda body, index: ANSWERS[body["seed"] % 2]
    with running(fake, k=4, parts=parts(n_aug=2)) as gateway:
        visit = Visit(browser, gateway.url)
        visit.ask()
        visit.settled()
        cards = browser.script(
            "return [...document.querySelectorAll('.candidate .times')].map(e => e.textContent)"
        )
    assert cards == ["written 2 times"] * 2
    assert "repeat another one" in visit.text("#flags")
