import base64
import hashlib
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import Evaluation, evaluate
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.verdict import answer, summary, verdicts
from darc.analysis.frame import Frame
from darc.analysis.report.folder import write_evaluation
from darc.analysis.report.html_tables import frame_html
from darc.analysis.report.page import report_page, sort_by_gain
from darc.ratings.ratings import Ratings

SETTINGS = ContestSettings(rules=("epsilon", "lcb"), splits=2, draws=30)
EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def result() -> Evaluation:
    proxy = make_source(kind="rewrite", scorers=2, name="run", seed=1)
    return evaluate([proxy, make_source(name="people")], SETTINGS, ablations=False)


@pytest.fixture(scope="module")
def folder(result: Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evaluation")
    paths = write_evaluation(result, ["It holds."], path, "9.9")
    assert all(each.is_file() for each in paths)
    return path


class Tags(HTMLParser):
    """The tags of a page, and whether they close in order."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def tags(text: str) -> Tags:
    parser = Tags()
    parser.feed(text)
    assert parser.stack == []
    return parser


def test_the_folder_has_tables_figures_and_the_page(result: Evaluation, folder: Path) -> None:
    assert (folder / "figures" / "gains-2-people.png").is_file()
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = tags(text)
    ids = [given["id"] for _, given in page.seen if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"] for tag, given in page.seen if tag == "a"]
    assert links
    assert all(link is not None and link[1:] in ids for link in links)
    assert {f"table-{frame.name}" for frame in result.frames} <= set(ids)
    figures = [identity for identity in ids if identity and identity.startswith("figure-")]
    assert len(figures) == len(list((folder / "figures").glob("*.svg")))
    for sentence in result.warnings:
        assert sentence.split("'")[0][:40] in text
    assert "9.9" in text
    assert "others" not in ids


def test_the_page_asks_for_nothing_from_outside(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = tags(text)
    assert "default-src 'none'" in text
    (script,) = re.findall("<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in text
    for tag, given in page.seen:
        assert tag not in ("link", "img", "iframe", "object")
        assert not any(name.startswith("on") for name in given)
        for name, value in given.items():
            if name in ("src", "href", "xlink:href"):
                assert value is not None
                assert value.startswith("#")
    assert not re.search(r"@import|url\((?!#)", text)


def test_untrusted_text_stays_text() -> None:
    source = make_source(
        prompts=12,
        name=EVIL,
        questions=[EVIL] * 12,
        texts=[[f"{EVIL} {k}" for k in range(4)] for _ in range(12)],
    )
    result = evaluate([source], SETTINGS, ablations=False)
    result.warnings.append(EVIL)
    text = report_page(result, [EVIL], [], "1")
    names = [tag for tag, _ in tags(text).seen]
    assert names.count("script") == 1  # the page's own
    assert "img" not in names
    assert "&lt;script&gt;" in text


def test_without_figures_or_a_second_source_the_page_says_so(tmp_path: Path) -> None:
    source = make_source(texts=(), questions=())
    result = evaluate([source], SETTINGS, ablations=False)
    write_evaluation(result, [], tmp_path, "1", figures=False)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not (tmp_path / "figures").exists()
    for sentence in ("There are no figures.", "No knob was moved.", "The cases have no texts"):
        assert sentence in text
    assert 'id="proxy"' not in text


def test_no_change_leaves_the_cases_out() -> None:
    source = make_source()
    same = replace(source, samples=np.full_like(source.samples, 4.0))
    result = evaluate([same], SETTINGS, ablations=False)
    text = report_page(result, [], [], "1")
    assert "No case is shown" in text
    assert 'id="cases"' not in text


def test_an_interval_shares_a_cell_with_its_value() -> None:
    columns = ("source", "method", "delta_x", "low_x", "high_x", "empty", "prompts")
    rows = [("s", "a", 0.5, 0.25, 0.75, None, 12.0), ("s", "b", -0.1, -0.2, 0.1, None, 11.5)]
    html = frame_html(
        Frame.of("t", "Title", [dict(zip(columns, row, strict=True)) for row in rows])
    )
    assert re.findall(r"<th [^>]*>([^<]*)", html) == ["method", "x change [95 %]", "prompts"]
    assert '<td class="sure">+0.500 [+0.250, +0.750]</td>' in html
    assert "<td>-0.100 [-0.200, +0.100]</td>" in html
    assert "<td>12</td>" in html
    assert "<td>11.5</td>" in html


def test_long_tables_are_folded() -> None:
    pages = []
    for rows in (3, 99):
        frame = Frame.of("t", "Title", [{"x": 1.0}] * rows)
        pages.append(report_page(Evaluation(SETTINGS, [], frames=[frame]), [], [], "1"))
    assert "<details>" not in pages[0]
    assert "<summary>99 rows</summary>" in pages[1]


def one_rater() -> Ratings:
    return make_source(raters=1)


def one_prompt() -> Ratings:
    return make_source(prompts=1)


def one_candidate() -> Ratings:
    return make_source(candidates=1)


def all_ties() -> Ratings:
    source = make_source()
    return replace(source, samples=np.full_like(source.samples, 4.0))


def no_texts() -> Ratings:
    return make_source(texts=(), questions=(), lengths=np.full((12, 4), np.nan))


def holes() -> Ratings:
    source = make_source()
    gone = np.random.default_rng(0).random(source.samples.shape) < 0.7
    return replace(
        source,
        samples=np.where(gone, np.nan, source.samples),
        raters=np.where(gone, -1, source.raters),
    )


@pytest.mark.parametrize("make", [one_rater, one_prompt, one_candidate, all_ties, no_texts, holes])
def test_poor_data_still_make_a_report(make: Callable[[], Ratings], tmp_path: Path) -> None:
    result = evaluate([make()], SETTINGS, ablations=make in (one_prompt, holes))
    said = summary(result, verdicts(result))
    write_evaluation(result, said, tmp_path, "1")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    tags(text)
    assert result.warnings or make is no_texts
    assert said[0].split(":")[0] in text


def test_ids_that_do_not_join_leave_the_rest(tmp_path: Path) -> None:
    proxy = make_source(kind="rewrite", name="run", seed=1)
    other = make_source(name="people")
    other = replace(other, prompt_ids=[f"x{p}" for p in other.prompt_ids])
    result = evaluate([proxy, other], SETTINGS, ablations=False)
    write_evaluation(result, [], tmp_path, "1")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "share no candidate" in text
    assert "Proxy and people are not compared" in text
    assert (tmp_path / "figures" / "gains-2-people.svg").exists()


def test_without_matplotlib_the_rest_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = evaluate([make_source()], SETTINGS, ablations=False)
    write_evaluation(result, [], tmp_path, "1")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "figures are left out: drawing a picture needs" in text
    assert (tmp_path / "human.csv").exists()


def test_results_come_before_warnings_and_rules_by_their_gain() -> None:
    result = evaluate(
        [make_source(25)], SETTINGS.model_copy(update={"rules": ("tau", "soft")}), ablations=False
    )
    result.warnings.append("made: something is thin")
    page = report_page(result, ["said"], [], "1")
    places = [page.index(f'<section id="{name}"') for name in ("summary", "rules", "warnings")]
    assert places == sorted(places)
    assert page.index('<section id="glossary"') > places[-1]
    human = result.frame("human")
    assert human is not None
    rows = sort_by_gain(human).where(subset="overall").records()
    gains = [row["delta_tradeoff"] for row in rows]
    assert gains == sorted(gains, reverse=True)  # type: ignore[type-var]
    assert {row["method"] for row in rows} == {"mean", "tau", "soft"}


def test_the_answer_comes_first_with_by_how_much_and_for_whom() -> None:
    result = evaluate([make_source(40)], SETTINGS, ablations=False)
    found = verdicts(result)
    page = report_page(result, ["said"], [], "1", found)
    won = [v for v in found if v.better(0) or v.better(1)]
    assert page.index('class="headline"') < page.index("<table") < page.index("said")
    assert answer(found).startswith("Yes" if won else "No rule beats Best-of-K")
    assert answer([]) == ""
    assert "all 40 prompts" in page
