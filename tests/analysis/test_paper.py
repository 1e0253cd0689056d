from darc.analysis.paper import checks_summary, checks_table, paper_checks

OVERALL = "Overall"
SUBSET = "High-Disagreement (Top 20%)"
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
    ("bucket table", "Q5", 1.037, 0.72),
    ("scalarisation", f"{OVERALL}, DARC S0", 0.096, 0.28),
    ("scalarisation", f"{SUBSET}, DARC S0", 0.269, 0.56),
    ("scalarisation", f"{OVERALL}, DARC-epsilon S0", 0.13, 0.52),
    ("scalarisation", f"{SUBSET}, DARC-epsilon S0", 0.347, 0.72),
    ("scalarisation", f"{SUBSET}, DARC-epsilon S0", 0.347, 1.04),
    ("scalarisation", f"{OVERALL}, DARC-epsilon S0", 259, 155),
    ("scalarisation", f"{OVERALL}, DARC-epsilon S0", 166, 301),
    ("scalarisation", f"{OVERALL}, DARC-epsilon S0", 75, 44),
    ("scalarisation", f"{SUBSET}, DARC-epsilon S0", 36, 51),
    ("scalarisation", f"{SUBSET}, DARC-epsilon S0", 53, 45),
    ("scalarisation", f"{SUBSET}, DARC-epsilon S0", 11, 4),
    ("human table", "Overall, Base", 6.22, 6.46),
    ("human table", "Overall, DeAL", 0.17, 0.26),
    ("human table", "Overall, RBoN", 0.25, 0.32),
    ("human table", "Overall, DARC-epsilon", 0.76, 0.67),
    ("latency", "N_aug 16", 3.12, 3.2),
}


def test_exactly_these_cells_do_not_follow() -> None:
    checks = paper_checks()
    wrong = {
        (check.table, check.cell, round(check.printed, 4), round(check.computed, 2))
        for check in checks
        if not check.follows
    }
    assert wrong == WRONG
    within_a_table = 2 * 13 * 4 + 2 * 13 + 2 * 6 + 2 + 3 * 2 * 2 + 3 + 2 * 2
    assert len(checks) == within_a_table + 2 + 4 + 8 + 4 + 9 + 3


def test_tables_that_agree_are_compared_too() -> None:
    agreeing = {
        (check.table, check.cell, check.quantity) for check in paper_checks() if check.follows
    }
    assert ("human table", "Overall, DARC-epsilon", "mean change") in agreeing
    assert ("families", "DARC-epsilon + style", "tradeoff") in agreeing
    assert ("families", "style", "Spearman") in agreeing
    assert ("latency", "N_aug 8", "increase in %") in agreeing


def test_the_summary_has_a_line_for_each_contradiction() -> None:
    text = checks_summary(paper_checks())
    assert "latency, N_aug 16: increase in % printed as 3.12, follows as 3.503" in text
    assert "proxy sigma printed as 1.195, in the text 3.195" in text
    assert "DARC-epsilon S0: wins printed as 259, by the buckets 155" in text
    assert text.endswith("28 do not follow, 165 do")
    assert checks_table(paper_checks()).column("follows").count("no") == 28
