from pathlib import Path

import numpy as np
import pytest

from darc.ratings.candidate_judgements import joined_judgements, judgements_of_ratings
from darc.ratings.load import load_table
from darc.ratings.text_judgements import judgements_of_texts


def test_raters_who_grade_everything_are_judgements_of_their_own(tmp_path: Path) -> None:
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    for prompt in ("p", "q"):
        for answer, (mild, strict) in enumerate([(5, 3), (4, 1), (3, 2)]):
            lines.append(f"{prompt},{answer},mild,{mild}")
            lines.append(f"{prompt},{answer},strict,{strict}")
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(lines) + "\n")
    judgements = judgements_of_ratings(load_table(path))
    assert list(judgements.numbers) == ["mean", "mild", "strict"]
    assert judgements.numbers["strict"]["q", "1"] == 1
    both = joined_judgements([judgements, judgements_of_ratings(load_table(path), "2:")])
    assert "2:strict" in both.numbers


def test_severity_does_not_blur_means(tmp_path: Path) -> None:
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    generator = np.random.default_rng(0)
    for prompt in range(40):
        for answer in range(3):
            quality = float(answer)
            first, second = generator.choice(6, 2, replace=False).tolist()
            lines.append(f"p{prompt},{answer},r{first},{quality + 2 * first}")
            lines.append(f"p{prompt},{answer},r{second},{quality + 2 * second}")
    path = tmp_path / "grades.csv"
    path.write_text("\n".join(lines) + "\n")
    judgements = judgements_of_ratings(load_table(path))
    numbers = judgements.numbers["mean"]
    wrong = sum(numbers[f"p{prompt}", "0"] > numbers[f"p{prompt}", "2"] for prompt in range(40))
    assert wrong <= 8


def test_texts_are_judged_by_length_and_likeness() -> None:
    texts = {
        ("p", "a"): ("How do cats sleep?", "Cats sleep curled up, for most of the day."),
        ("p", "b"): ("How do cats sleep?", "They sleep curled up for most of the day."),
        ("p", "c"): ("How do cats sleep?", "No."),
        ("q", "a"): ("", ""),
    }
    numbers = judgements_of_texts(texts).numbers
    assert numbers["text:log_words"]["p", "a"] > numbers["text:log_words"]["p", "c"]
    assert numbers["text:likeness"]["p", "b"] > numbers["text:likeness"]["p", "c"]
    assert numbers["text:question_overlap"]["q", "a"] == pytest.approx(0)
