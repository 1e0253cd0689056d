import re

import darc
from darc.views.html import RADIUS, CandidateView, StripRow, decision_page, strip


def test_page_has_everything_and_escapes_it() -> None:
    scores = [[[0.9, 0.8], [0.2, 0.4]]]
    decision = darc.select(scores[0], "entropic")
    shown = [
        CandidateView(
            "good <b>",
            False,
            "",
            [("original", "good <b>", [0.9]), ("rewrite 1", "fine", [0.8])],
            [],
        ),
        CandidateView(
            "bad",
            True,
            "ranked lower",
            [("original", "bad", [0.2]), ("rewrite 1", "worse", [None])],
            [("number", "9")],
        ),
    ]
    html = decision_page("a <script>?", decision, shown, ["taste"], "<svg></svg>", ["a note"])
    assert "<script>" not in html
    assert "good &lt;b&gt;" in html
    assert "cut off at the token limit" in html
    assert "1 rewrites were refused" in html
    assert "<svg></svg>" in html
    assert html.count("<details") == 2
    assert "default-src 'none'" in html
    assert not re.search(r"""(src|href)=["']""", html)


def test_every_sample_is_a_mark_of_its_own() -> None:
    rows = [StripRow("selects", [1.0, 5.0, 5.0]), StripRow("judges", [2.0, 2.0], hollow=True)]
    svg = strip(rows, 1.0, 5.0, "samples")
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)
    squares = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', svg)
    assert len(set(dots)) == 3
    assert len(set(squares)) == 2
    assert dots[1][0] == dots[2][0]
    assert abs(float(dots[1][1]) - float(dots[2][1])) >= 2 * RADIUS - 1


def test_text_is_escaped_and_equal_samples_have_a_place() -> None:
    svg = strip([StripRow("<b>", [3.0, 3.0])], 3.0, 3.0, '"x"')
    assert "<b>" not in svg
    assert "&#34;x&#34;" in svg
    assert svg.count("<circle") == 2


def test_many_equal_samples_stay_low() -> None:
    svg = strip([StripRow("", [1.0] * 40)], 0.0, 2.0, "")
    found = re.search(r'height="(\d+)"', svg)
    assert found is not None
    assert int(found.group(1)) < 80
