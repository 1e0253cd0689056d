import pytest

from darc.cli.decision_rows import Detail
from darc.cli.prompt_view import PromptView, detail_lines
from darc.decide.standards import NO_STANDARDS
from darc.ratings.decisions import DecidedBatch


def test_a_prompt_is_printed_with_the_texts_that_are_known(
    decided: DecidedBatch, capsys: pytest.CaptureFixture[str]
) -> None:
    view = PromptView(
        prompt_id="p",
        decisions=decided.of(0),
        texts={"a": "A bold answer."},
        detail=Detail(),
        standards=NO_STANDARDS,
    )
    view.print()
    output = capsys.readouterr().out
    assert output.splitlines()[0] == "prompt p"
    assert "Best-of-K (mean) took a" in output
    assert "A bold answer." in output
    assert "entropic took b" not in output


def test_lines_have_what_was_asked_for(decided: DecidedBatch) -> None:
    decision = decided.of(0)[0]
    detail = Detail(explain=True, bounds=(0, 10))
    bound, explanation = detail_lines(decision, detail, "mean: ")
    assert bound.strip().startswith("mean: lower_bound: ")
    assert explanation.strip() == f"mean: {decision.explain()}"
    assert len(detail_lines(decision, detail, explain=False)) == 1
    assert detail_lines(decision, Detail()) == []
