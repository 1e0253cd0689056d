from darc.analysis.paper import checks_summary, checks_table, paper_checks

WRONG = {
    ("main table", "Overall, Llama/AlpacaEval, DARC", -7.33, -7.09),
    ("main table", "High-Variance, Qwen/MT-Bench, Base", -7.12, -6.88),
    ("main table", "High-Variance, Qwen/MT-Bench, MC-Dropout", -5.25, -5.75),
    ("human table", "High-Disagreement, DARC", 7.00, 6.70),
    ("human table", "High-Disagreement, DARC-epsilon", 7.34, 7.04),
    ("case", "political framing, DARC-epsilon", 7.6, 7.2),
    ("latency", "N_aug 16", 3.12, 3.5),
    ("mismatch case", "race riddle", 1.195, 3.19),
    ("mismatch case", "race riddle", 0.033, 0.0),
    ("mismatch case", "blue and green", 0.187, 0.0),
}


def test_exactly_these_cells_do_not_follow() -> None:
    checks = paper_checks()
    wrong = {
        (check.table, check.cell, check.printed, round(check.computed, 2))
        for check in checks
        if not check.follows
    }
    assert wrong == WRONG
    assert len(checks) == 2 * 13 * 4 + 2 * 13 + 2 * 6 + 2 + 3 * 2 * 2 + 3 + 2 * 2


def test_the_words() -> None:
    text = checks_summary(paper_checks())
    assert text.endswith("10 do not follow, 153 do")
    assert "latency, N_aug 16: increase in % is printed as 3.12 and follows as 3.503" in text
    assert "proxy sigma is printed as 1.195 and in the text as 3.195" in text
    assert "tradeoff is printed as 7.34 and follows as 7.04" in text
    assert checks_table(paper_checks()).column("follows").count("no") == 10
