import pytest
from tests.checkpoints import tiny

from darc.integrations.trl import reward

GOOD = "The Moon pulls on the sea, so there are two tides a day."


def test_rewards_are_one_a_completion() -> None:
    rewards = reward(scorers=["form"], n_aug=2, guard=False)
    found = rewards(prompts=["Why are there two tides?"] * 2, completions=[GOOD, "no"], step=3)
    assert found[0] > found[1]
    turns = [[{"role": "user", "content": "Why are there two tides?"}]]
    assert rewards(turns, [[{"role": "assistant", "content": GOOD}]]) == [found[0]]


@pytest.mark.train
def test_a_trainer_takes_it(tmp_path: object) -> None:
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    loaded = tiny("Llama", "LlamaForCausalLM")
    rows = datasets.Dataset.from_dict({"prompt": ["Why are there two tides?"] * 2})
    settings = trl.GRPOConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, num_generations=2,
        max_completion_length=4, report_to=[], use_cpu=True,
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        model=loaded.model, args=settings, train_dataset=rows, processing_class=loaded.tokenizer,
        reward_funcs=reward(scorers=["form"], n_aug=1, guard=False),
    )  # fmt: skip
    trainer.train()
    assert any("rewards/darc_reward/mean" in row for row in trainer.state.log_history)
