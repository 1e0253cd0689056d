import pytest
from tests.checkpoints import tiny

from darc.integrations.transformers import best_of

pytestmark = pytest.mark.hf


@pytest.mark.parametrize("prompts", [["Why are there two tides?"], ["Why?", "How high is it?"]])
def test_generate_returns_one_of_its_samples(prompts: list[str]) -> None:
    torch = pytest.importorskip("torch")
    loaded = tiny("Llama", "LlamaForCausalLM")
    loaded.tokenizer.padding_side = "left"
    given = loaded.tokenizer(prompts, return_tensors="pt", padding=True)
    given = {name: given[name] for name in ("input_ids", "attention_mask")}
    settings = {"max_new_tokens": 12, "do_sample": True, "temperature": 0.9}
    torch.manual_seed(5)
    samples = loaded.model.generate(**given, **settings, num_return_sequences=4)
    torch.manual_seed(5)
    choosing = best_of(loaded.tokenizer, k=4, scorers=["form"], n_aug=0)
    chosen = loaded.model.generate(**given, **settings, custom_generate=choosing)
    assert chosen.shape == (len(prompts), samples.shape[1])
    for row, own in zip(chosen, samples.view(len(prompts), 4, -1), strict=True):
        assert any(torch.equal(row, each) for each in own)
