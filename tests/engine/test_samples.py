from collections.abc import Sequence
from dataclasses import replace

from tests.engine.makers import PROMPT, candidates

from darc.engine.engine import Engine
from darc.parts.scorers import CallableScorer
from darc.types import CutOff


def test_scorers_hear_which_answers_were_cut_off() -> None:
    text = "Air scatters blue light more than red light, so blue reaches us from every side"
    answers = candidates(f"{text}.", f"{text}!")
    cut = [replace(answers[0], truncated=True), answers[1]]
    heard: dict[str, bool] = {}

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        heard.update({str(answer): isinstance(answer, CutOff) for _, answer in pairs})
        return [1.0 for _ in pairs]

    with Engine(scorers=[CallableScorer("heard", score)], n_aug=0) as engine:
        engine.choose(PROMPT, cut, score_everything=True)
    assert heard == {f"{text}.": True, f"{text}!": False}
    with Engine(scorers=["form"], n_aug=0) as engine:
        assert engine.choose(PROMPT, answers).index == 0
        assert engine.choose(PROMPT, cut).index == 1
