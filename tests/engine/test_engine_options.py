from pathlib import Path
from typing import Any

import pytest
from tests.engine.makers import Vowels, Words

from darc.engine.engine import Engine
from darc.engine.parts import Parts
from darc.engine.score_cache import ScoreCache
from darc.engine.stopping import Stopping
from darc.errors import InputError, UnknownName
from darc.parts.generators.base import SamplingParameters
from darc.settings.engine import EngineSettings


def test_an_engine_has_the_defaults_of_the_settings() -> None:
    settings = EngineSettings()
    with Engine() as engine:
        assert engine.parts == Parts()
        assert engine.sampling.k == settings.k
        assert engine.sampling.max_tokens == settings.max_tokens
        assert engine.method.text == settings.rule
        assert engine.method.min_samples is settings.min_samples is None
        assert (engine.method.beta, engine.method.gamma) == (settings.beta, settings.gamma)
        assert engine.cache is None
        assert engine.workers.processes == 0


def test_keywords_win_over_settings() -> None:
    settings = EngineSettings(k=3, temperature=0.5, beta=2.0, scorers=("form",), cache=False)
    with Engine(settings=settings, k=5) as engine:
        assert (engine.sampling.k, engine.sampling.temperature) == (5, 0.5)
        assert engine.method.beta == 2.0
        assert engine.parts.scorers == ("form",)


def test_settings_may_be_objects(tmp_path: Path) -> None:
    with ScoreCache(tmp_path / "scores.sqlite") as cache:
        sampling = SamplingParameters(k=2)
        stop = Stopping(cost=0.5)
        with Engine(
            Words(), scorers=[Vowels()], cache=cache, sampling=sampling, stop=stop, caution=0.5
        ) as engine:
            assert engine.cache is cache
            assert engine.sampling.k == 2
            assert engine.stopping == stop
            assert engine.method.caution == 0.5
            assert [scorer.name for scorer in engine.tools.scorers] == [Vowels().name]
        # A cache that was given stays open.
        assert len(cache) == 0


def test_a_file_of_scores_is_kept_only_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darc.engine.score_cache.cache_folder", lambda: tmp_path, raising=False)
    with Engine(scorers=["form"], cache=True) as engine:
        assert engine.cache is not None
        assert engine.cache.path.parent == tmp_path


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k"),
        ({"normalize": "no"}, "normalize"),
        ({"repeats": 2}, "repeats"),
        ({"panel": 2, "scorers": ["form"]}, "not both"),
        ({"side": {"nothing": "form"}}, "nothing"),
        ({"stop": "box"}, "stop"),
    ],
)
def test_options_that_cannot_be_used_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Engine(**options)


def test_an_unknown_option_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'temperature'"):
        Engine(temprature=1.0)
