import dspy
import pytest
from tests.clients.conftest import KEY, was_chosen
from tests.fakes import FakeServer, Fault

pytestmark = pytest.mark.clients


@pytest.fixture
def model(address: str, backend: FakeServer) -> dspy.LM:
    backend.reply = lambda body, index: (
        "[[ ## reasoning ## ]]\nThe Moon pulls.\n\n"
        f"[[ ## answer ## ]]\nTwo bulges{'!' * index}\n\n[[ ## completed ## ]]"
    )
    return dspy.LM(
        "openai/fake", api_base=address, api_key=KEY, cache=False, temperature=1.0, num_retries=0
    )


def test_a_module_is_answered(model: dspy.LM, backend: FakeServer) -> None:
    with dspy.context(lm=model):
        made = dspy.ChainOfThought("question -> answer")(question="Why are there two tides?")
    assert made.answer.startswith("Two bulges")
    was_chosen(backend)


def test_several_completions(model: dspy.LM) -> None:
    with dspy.context(lm=model):
        made = dspy.Predict("question -> answer", n=2)(question="Why are there two tides?")
    assert len(made.completions.answer) == 2


def test_errors_are_told(model: dspy.LM, backend: FakeServer) -> None:
    backend.faults = [Fault(status=400, message="no such model")] * 9
    with dspy.context(lm=model), pytest.raises(Exception, match="no such model"):
        dspy.Predict("question -> answer")(question="Why?")
