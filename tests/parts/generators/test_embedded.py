import pytest

from darc.errors import InputError
from darc.models.embedded import EmbeddedModel
from darc.parts.generators import ChatGenerator, Generator, SamplingParameters, candidate_seeds
from darc.registry import generators
from darc.types import Message, Prompt

SEA = Prompt("sea", (Message("user", "Write one line about the sea."),))
EGG = Prompt("egg", (Message("user", "How do I boil an egg?"),))
SHORT = SamplingParameters(k=3, max_tokens=10, seed=7)


def test_candidates_are_in_order_and_complete(model: EmbeddedModel) -> None:
    generator = ChatGenerator(model)
    assert isinstance(generator, Generator)
    candidates = generator.generate([SEA, EGG], SHORT)
    assert [[(one.prompt_id, one.index) for one in row] for row in candidates] == [
        [("sea", 0), ("sea", 1), ("sea", 2)],
        [("egg", 0), ("egg", 1), ("egg", 2)],
    ]
    for row, prompt in zip(candidates, (SEA, EGG), strict=True):
        assert [one.seed for one in row] == candidate_seeds(SHORT, prompt.id)
        assert all(one.text and 0 < one.tokens <= 10 for one in row)
        assert all(one.log_likelihood is not None and one.log_likelihood < 0 for one in row)
    assert any(one.truncated for row in candidates for one in row)
    assert candidates[::-1] == generator.generate([EGG, SEA], SHORT)
    more = generator.generate([SEA], SamplingParameters(k=4, max_tokens=10, seed=7))
    assert more[0][:3] == candidates[0]


def test_greedy_duplicates_are_kept(model: EmbeddedModel) -> None:
    settings = SamplingParameters(k=2, max_tokens=6, temperature=0)
    (row,) = ChatGenerator(model).generate([SEA], settings)
    assert row[0].text == row[1].text
    assert ChatGenerator(model).generate([], settings) == []


def test_without_an_installed_model(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="run: darc models install"):
        generators.make("embedded")
