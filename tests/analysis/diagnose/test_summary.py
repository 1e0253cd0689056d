import dataclasses
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.diagnose.panels import Array, noise_only, source, uneven

from darc.analysis.diagnose.diagnosis import diagnose
from darc.analysis.diagnose.summary import DiagnosisSummary, summarize_diagnosis
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY


def summarize(ratings: Ratings) -> DiagnosisSummary:
    return summarize_diagnosis(diagnose(ratings, splits=50, draws=100))


def test_noise_is_called_noise() -> None:
    summary = summarize(source(noise_only(5, prompts=100, raters=4)))
    assert summary.sentences[0].startswith(
        "With 4 raters your disagreement estimate is mostly noise (reliability "
    )
    assert summary.sentences[0].endswith("near-tie breaking by sigma will not help.")
    assert summary.verdict == "noise"


def test_signal_is_called_signal() -> None:
    summary = summarize(source(uneven(1, raters=10)))
    assert "is mostly signal" in summary.sentences[0]
    assert summary.verdict == "signal"


def test_part_of_both() -> None:
    summary = summarize(source(uneven(1, prompts=150, raters=4, strength=0.4)))
    assert "part signal, part noise" in summary.sentences[0]
    assert any(" 0.7 with about " in sentence for sentence in summary.sentences)
    assert summary.verdict == "some"


def test_three_raters_are_said_to_be_too_few() -> None:
    summary = summarize(source(uneven(1, raters=3)))
    assert "cannot be checked, which takes 4" in summary.sentences[0]
    noise = summarize(source(noise_only(5, prompts=100, raters=3)))
    assert noise.verdict == "noise"
    assert "if the ratings are Gaussian" in noise.sentences[0]


@pytest.mark.parametrize(
    ("ratings", "sentence", "note"),
    [
        (noise_only(0, raters=1), "There is one rating per candidate", "There is one rater"),
        (noise_only(0, prompts=1), "With 6 raters", "There is one prompt"),
        (noise_only(0, candidates=1), "Every prompt has one candidate", "one candidate"),
        (np.full((12, 4, 5), 3.0), "All ratings are equal", ""),
        (np.full((1, 1, 1), 3.0), "All ratings are equal", "There is one prompt"),
        (noise_only(0, prompts=3), "With 6 raters", "only 3 prompts"),
    ],
)
def test_thin_data_gets_a_sentence(ratings: Array, sentence: str, note: str) -> None:
    summary = summarize(source(ratings))
    assert summary.sentences[0].startswith(sentence)
    assert note in " ".join(summary.notes)


def test_unknown_raters_are_noted_and_the_rest_is_made() -> None:
    given = source(uneven(1))
    hidden = np.full_like(given.raters, NOBODY)
    for one in (
        dataclasses.replace(given, raters=hidden),
        dataclasses.replace(given, rater_names=["", *given.rater_names[1:]]),
    ):
        diagnosis = diagnose(one, splits=50, draws=100)
        summary = summarize_diagnosis(diagnosis)
        assert summary.verdict == "signal"
        assert any("no rater" in note for note in summary.notes)
        assert diagnosis.raters == []
        assert diagnosis.contention.prompts


def test_rewrites_are_not_people() -> None:
    summary = summarize(source(uneven(1), kind="rewrite"))
    assert summary.sentences[0].startswith("With 10 samples")
    assert any("rewrites, not people" in note for note in summary.notes)


def test_notes_on_the_file_are_repeated() -> None:
    ratings = replace(source(noise_only(1)), notes=["rows are copied"])
    assert "rows are copied" in summarize(ratings).notes


def test_raters_are_counted_rightly() -> None:
    ratings = noise_only(1, prompts=30, raters=5)
    absent = np.random.default_rng(0).integers(0, 5, (30, 8))
    np.put_along_axis(ratings, absent[..., None], np.nan, axis=2)
    assert summarize(source(ratings)).sentences[0].startswith("With 5 raters, 4 per candidate, ")


def test_a_mean_at_the_end_of_the_scale_is_mentioned() -> None:
    draw = np.random.default_rng(0)
    quality = draw.normal(8, 2, (80, 8, 1))
    ratings = np.minimum(quality + draw.normal(0, 1.5, (80, 8, 9)), 10.0)
    assert any("follows the mean" in sentence for sentence in summarize(source(ratings)).sentences)


def test_groups_and_odd_raters_are_named() -> None:
    ratings = noise_only(0, 40, 6, 10)
    ratings += np.random.default_rng(1).normal(size=(40, 6, 1)) * np.where(np.arange(10) < 5, 1, -1)
    ratings[..., 9] -= 5
    groups = {f"r{j}": "old" if j < 5 else "new" for j in range(10)}
    text = " ".join(summarize(source(ratings, groups=groups)).sentences)
    assert "Groups prefer different candidates: new and old" in text
    assert "Raters seem to fall into two camps" in text
    assert "r9 (severe)" in text


def test_a_large_panel_is_done_in_time() -> None:
    ratings = np.rint(noise_only(0, 100, 16, 8))
    started = time.perf_counter()
    diagnose(source(ratings))
    taken = time.perf_counter() - started
    print(f"100 x 16 x 8: {taken:.1f} s")
    assert taken < 30
