from pathlib import Path

from tests.runs.makers import Words, start

from darc.runs.questions import Question
from darc.train.examples import read_examples
from darc.types import Candidate, Prompt

QUESTIONS = [Question(f"q{i}", (f"Why is number {i} odd or even?",)) for i in range(9)]


class Cut(Words):
    """Answers of which every second was cut off."""

    def _one(self, prompt: Prompt, index: int) -> Candidate:
        made = super()._one(prompt, index)
        return Candidate(prompt.id, index, made.text, made.tokens, index % 2 == 1, -1.0, index)


def test_whole_answers_of_a_run_are_typical(tmp_path: Path) -> None:
    start(tmp_path / "run", generator=Cut(), questions=QUESTIONS)
    pairs = read_examples(tmp_path / "run")
    assert len(pairs) == 18
    assert {prompt.question for prompt, _ in pairs} == {q.turns[0] for q in QUESTIONS}
    start(tmp_path / "all", questions=QUESTIONS)
    assert len(read_examples(tmp_path / "all")) == 36


def test_forms_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    lines = [
        f'{{"prompt": [{{"role": "user", "content": "Why {i}?"}}], '
        f'"chosen": [{{"role": "assistant", "content": "So {i}."}}]}}'
        for i in range(8)
    ]
    path.write_text("\n".join([*lines, *lines]), encoding="utf-8")
    pairs = read_examples(path)
    assert len(pairs) == 8
    assert (pairs[0][0].question, pairs[0][1]) == ("Why 0?", "So 0.")
