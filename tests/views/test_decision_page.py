import re

import darc
from darc.views.decision_page import CandidateView, decision_page


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
