import pytest
from tests.checkpoints import causal

from darc.parts.generators import ChatGenerator, Generator, SamplingParameters, candidate_seeds
from darc.registry import generators
from darc.types import Message, Prompt

pytestmark = pytest.mark.hf

SEA = Prompt("sea", (Message("user", "Write one line about the sea."),))
EGG = Prompt("egg", (Message("user", "Egg?"),))
SHORT = SamplingParameters(k=3, max_tokens=20, seed=7)


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> ChatGenerator:
    result = generators.make(
        f"transformers:{causal(tmp_path_factory.mktemp('causal'))},batch_size=4"
    )
    assert isinstance(result, Generator)
    assert isinstance(result, ChatGenerator)
    return result


def test_candidates_are_in_order_and_complete(generator: ChatGenerator) -> None:
    result = generator.generate([SEA, EGG], SHORT)
    assert [[(one.prompt_id, one.index) for one in row] for row in result] == [
        [("sea", 0), ("sea", 1), ("sea", 2)],
        [("egg", 0), ("egg", 1), ("egg", 2)],
    ]
    for row, prompt in zip(result, (SEA, EGG), strict=True):
        assert [one.seed for one in row] == candidate_seeds(SHORT, prompt.id)
        assert len({one.text for one in row}) == 3
        assert all(0 < one.tokens <= 20 for one in row)
        assert all(one.log_likelihood is not None and one.log_likelihood < 0 for one in row)
    assert generator.version


def test_more_candidates_keep_the_first(generator: ChatGenerator) -> None:
    few = generator.generate([EGG], SHORT)[0]
    many = generator.generate([SEA, EGG], SamplingParameters(k=9, max_tokens=20, seed=7))[1]
    assert [one.text for one in many[:3]] == [one.text for one in few]
    assert [one.tokens for one in many[:3]] == [one.tokens for one in few]


def test_greedy_candidates_are_one_text(generator: ChatGenerator) -> None:
    (row,) = generator.generate([SEA], SamplingParameters(k=3, max_tokens=9, temperature=0))
    assert len({one.text for one in row}) == 1
    generator.close()
