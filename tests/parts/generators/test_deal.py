from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.checkpoints import causal

import darc.parts.scorers  # noqa: F401 - registers the default reward
from darc.errors import InputError
from darc.models.transformers import Checkpoint
from darc.models.transformers.batching import prompt_ids
from darc.parts.generators import DealGenerator, SamplingParameters
from darc.parts.generators.deal import Cost, shorten_prompt
from darc.registry import generators
from darc.types import Message, Prompt

pytestmark = pytest.mark.hf

HELLO = Prompt("hello", (Message("user", "Hello"),))
SEA = Prompt("sea", (Message("user", "The sea?"),))
ONE = SamplingParameters(k=1, max_tokens=24)
END = 2


class Plan(TypedDict):
    k: int
    lookahead: int
    g: float


def plan(k: int, lookahead: int, g: float) -> Plan:
    return {"k": k, "lookahead": lookahead, "g": g}


class Vowels:
    """A reward that counts vowels and remembers what it was shown."""

    name = "vowels"
    version = "1"

    def __init__(self) -> None:
        self.seen: list[tuple[Prompt, str]] = []

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        self.seen += pairs
        return np.array([sum(c in "aeiouAEIOU" for c in text) for _, text in pairs], dtype=float)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return Checkpoint(causal(tmp_path_factory.mktemp("causal")))


def reference(checkpoint: Checkpoint, prompt: Prompt, options: Plan, limit: int) -> list[int]:
    """The same decoding by whole forward passes, one text at a time, without any cache."""
    import torch

    model = checkpoint.loaded.model
    tokenizer = checkpoint.loaded.tokenizer
    before = prompt_ids(tokenizer, prompt.messages)
    reward = Vowels()
    k = options["k"]
    g = options["g"]

    def logs(ids: list[int]) -> "torch.Tensor":
        with torch.no_grad():
            return model(input_ids=torch.tensor([ids])).logits[0, -1].log_softmax(-1)

    written: list[int] = []
    while len(written) < limit:
        now = logs(before + written)
        best = -np.inf
        choice = -1
        for token in now.argsort(descending=True)[:k].tolist():
            rolled = [token]
            while rolled[-1] != END and len(rolled) <= options["lookahead"]:
                rolled.append(int(logs(before + written + rolled).argmax()))
            rolled = [entry for entry in rolled if entry != END]
            text = tokenizer.decode(written + rolled, skip_special_tokens=True)
            total = float(now[token]) + g * float(reward.score([(prompt, text)])[0])
            if total > best:
                best = total
                choice = token
        if choice == END:
            break
        written.append(choice)
    return written


@pytest.mark.parametrize("options", [plan(4, 3, 0.3), plan(8, 6, 1.0), plan(3, 0, 0.5)])
@pytest.mark.parametrize("prompt", [HELLO, SEA], ids=["hello", "sea"])
def test_it_writes_what_a_plain_loop_writes(
    checkpoint: Checkpoint, options: Plan, prompt: Prompt
) -> None:
    ((deal,),) = DealGenerator(checkpoint, reward=Vowels(), **options).generate([prompt], ONE)
    expected = reference(checkpoint, prompt, options, 24)
    tokenizer = checkpoint.loaded.tokenizer
    assert deal.text == tokenizer.decode(expected, skip_special_tokens=True)
    assert deal.tokens == len(expected)
    assert deal.truncated == (len(expected) == 24)
    assert deal.log_likelihood is not None
    assert deal.log_likelihood < 0


def test_the_reward_draws_the_text(checkpoint: Checkpoint) -> None:
    deal = [DealGenerator(checkpoint, reward=Vowels(), lookahead=2, g=g) for g in (0.0, 5.0)]
    texts = [entry.generate([HELLO], ONE)[0][0].text for entry in deal]
    plain, rewarded = (sum(c in "aeiouAEIOU" for c in text) / len(text) for text in texts)
    print(f"vowels: {plain:.2f} without reward, {rewarded:.2f} with it")
    assert rewarded > plain


def test_without_weight_it_is_greedy(checkpoint: Checkpoint) -> None:
    from darc.models.transformers import TransformersModel
    from darc.parts.generators import ChatGenerator

    greedy = ChatGenerator(TransformersModel(checkpoint.source.text)).generate(
        [HELLO], SamplingParameters(k=1, max_tokens=24, temperature=0)
    )
    deal = DealGenerator(checkpoint, reward=Vowels(), **plan(4, 1, 0.0)).generate([HELLO], ONE)
    assert deal[0][0].text == greedy[0][0].text
    assert deal[0][0].log_likelihood == pytest.approx(greedy[0][0].log_likelihood, abs=1e-5)


def test_it_writes_up_to_its_own_limit_unless_fewer_are_asked_for(checkpoint: Checkpoint) -> None:
    class Long(Vowels):
        def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
            return np.array([float(len(text)) for _, text in pairs])

    generator = DealGenerator(checkpoint, reward=Long(), lookahead=0, g=100.0, reward_tokens=2000)
    assert generator.max_tokens == 512
    ((one,),) = generator.generate([HELLO], SamplingParameters(k=1))
    assert (one.tokens, one.truncated) == (512, True)
    ((few,),) = generator.generate([HELLO], SamplingParameters(k=1, max_tokens=7))
    assert few.tokens == 7


def test_costs_are_counted(checkpoint: Checkpoint) -> None:
    reward = Vowels()
    generator = DealGenerator(checkpoint, reward=reward, max_tokens=5, **plan(4, 3, 0.3))
    ((one,), _) = generator.generate([HELLO, SEA], ONE)
    assert one.tokens == 5
    assert set(generator.costs) == {"hello", "sea"}
    cost = generator.costs["hello"]
    length = len(prompt_ids(checkpoint.loaded.tokenizer, HELLO.messages))
    assert (cost.rollouts, cost.reward_calls) == (20, 20)
    # The prompt, five times three rollout steps of four rows, and four tokens put behind it.
    assert cost.forward_tokens == length + 5 * 3 * 4 + 4
    assert len(reward.seen) == generator.cost.reward_calls
    assert generator.cost == Cost() + generator.costs["hello"] + generator.costs["sea"]
    assert generator.cost.seconds > 0


def test_the_reward_sees_few_tokens(checkpoint: Checkpoint) -> None:
    reward = Vowels()
    long = Prompt("long", (Message("system", "Be kind."), Message("user", "a long question " * 5)))
    generator = DealGenerator(checkpoint, reward=reward, reward_tokens=24, **plan(2, 4, 0.0))
    generator.generate([long, HELLO], ONE)
    tokenizer = checkpoint.loaded.tokenizer
    for prompt, text in reward.seen:
        question_text = "".join(message.content for message in prompt.messages)
        assert len(tokenizer(question_text + text, add_special_tokens=False)["input_ids"]) <= 24
    assert {prompt.question for prompt, _ in reward.seen} == {"a long quest", "Hello"}
    assert shorten_prompt(checkpoint.loaded, HELLO, 5) is HELLO


def test_one_answer_only(checkpoint: Checkpoint) -> None:
    generator = DealGenerator(checkpoint, reward=Vowels())
    with pytest.raises(InputError, match="one answer per prompt, not 4; use -k 1"):
        generator.generate([HELLO], SamplingParameters(k=4))
    with pytest.raises(InputError, match="at least 1"):
        DealGenerator(checkpoint, k=0)


def test_the_table_makes_it(checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = checkpoint.source.text
    deal = generators.make(f"deal:{folder},reward=form,k=2,lookahead=2,g=0.1,max_tokens=3")
    ((one,),) = deal.generate([HELLO], ONE)
    assert one.tokens <= 3
    assert deal.judge.name == "form"
    assert (deal.k, deal.lookahead, deal.g, deal.max_tokens) == (2, 2, 0.1, 3)
    other = generators.make(f"deal:{folder},k=3")
    assert deal.version
    assert deal.version != other.version
    small = causal(tmp_path / "small", max_position_embeddings=30)
    with pytest.raises(InputError, match="'hello' has 24 tokens"):
        generators.make(f"deal:{small}").generate([HELLO], ONE)
