"""The loss that TRL's trainer really optimises, value and gradient, against the formulas."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.checkpoints import causal
from tests.train.policies import TINY, loss_value, preferences

from darc.train.losses import FORMS, Loss

pytestmark = pytest.mark.train


def torch_value(loss: Loss, z: Any, probability: Any) -> Any:
    """The formulas once more, for automatic differentiation."""
    from torch.nn.functional import softplus

    noise = loss.noise

    def of(x: Any) -> Any:
        return {
            "dpo": softplus(-x),
            "cdpo": softplus(-x) + noise * x,
            "unbiased": softplus(-x) - noise * x / (1 - 2 * noise),
            "sup": softplus(-x) + noise * x.clamp(min=0),
        }[loss.form]

    return probability * of(z) + (1 - probability) * of(-z)


def stirred_trainer(folder: Path, loss: Loss, rows: list[dict[str, Any]]) -> Any:
    """A trainer whose adapter is random, so that z is spread over both signs."""
    import torch

    from darc.models.transformers.loading import resolve
    from darc.train.base_model import load_base
    from darc.train.trainer import TrainingData, make_trainer

    recipe = TINY.changed(model=causal(folder / "model"), beta=0.5)
    model, tokenizer = load_base(resolve(recipe.model), recipe)
    trainer = make_trainer(model, tokenizer, TrainingData(rows), recipe, loss, folder / "out")
    torch.manual_seed(3)
    for name, parameter in trainer.model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.08)
    return trainer


def own_margins(trainer: Any, batch: dict[str, Any]) -> Any:
    """z from plain log-softmax sums, the reference being the model without its adapter."""
    import torch

    def sums() -> Any:
        logits = trainer.model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).logits
        tokens = logits[:, :-1].log_softmax(-1).gather(2, batch["input_ids"][:, 1:, None])[..., 0]
        return (tokens * batch["completion_mask"][:, 1:]).sum(1)

    ours = sums()
    with torch.no_grad(), trainer.model.disable_adapter():
        theirs = sums()
    chosen, rejected = (ours - theirs).chunk(2)
    return trainer.beta * (chosen - rejected)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_the_optimised_loss_is_the_formula(tmp_path: Path, form: str, soft: bool) -> None:
    import torch

    loss = Loss(form, 0.2)
    rows = preferences(8)
    shares = np.linspace(0.55, 1.0, 8) if soft else np.ones(8)
    for row, share in zip(rows, shares, strict=True):
        row["probability"] = float(share)
    trainer = stirred_trainer(tmp_path, loss, rows)
    assert (type(trainer).__name__ == "DPOTrainer") == (form != "sup" and not soft)
    batch = trainer.data_collator([trainer.train_dataset[i] for i in range(8)])
    parameters = [p for p in trainer.model.parameters() if p.requires_grad]
    trainer.model.train()
    theirs = trainer.compute_loss(trainer.model, batch)
    gradients = torch.autograd.grad(theirs, parameters)
    z = own_margins(trainer, batch)
    assert z.min() < -0.05 < 0.05 < z.max()
    ours = torch_value(loss, z, torch.tensor(shares, dtype=z.dtype)).mean()
    expected = torch.autograd.grad(ours, parameters)
    formula = loss_value(loss, z.detach().double().numpy(), shares).mean()
    assert float(theirs.detach()) == pytest.approx(formula, rel=1e-4, abs=1e-5)
    assert float(ours.detach()) == pytest.approx(formula, rel=1e-4, abs=1e-5)
    for one, other in zip(gradients, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-5)


def test_label_smoothing_alone_would_change_nothing(tmp_path: Path) -> None:
    trainer = stirred_trainer(tmp_path, Loss("dpo"), preferences(4))
    batch = trainer.data_collator([trainer.train_dataset[i] for i in range(4)])
    plain = float(trainer.compute_loss(trainer.model, batch).detach())
    trainer.label_smoothing = 0.3
    assert float(trainer.compute_loss(trainer.model, batch).detach()) == plain


def test_long_texts_are_cut_and_dropout_stays(tmp_path: Path) -> None:
    import torch

    from darc.models.transformers.loading import resolve
    from darc.train.base_model import load_base
    from darc.train.trainer import TrainingData, make_trainer

    recipe = TINY.changed(
        model=causal(tmp_path / "model"), prompt_tokens=5, response_tokens=3, dropout=0.05
    )
    model, tokenizer = load_base(resolve(recipe.model), recipe)
    trainer = make_trainer(
        model, tokenizer, TrainingData(preferences(2)), recipe, Loss("dpo"), tmp_path / "o"
    )
    batch = trainer.data_collator([trainer.train_dataset[i] for i in range(2)])
    assert batch["input_ids"].shape == (4, 8)
    assert batch["completion_mask"].sum(1).tolist() == [3, 3, 3, 3]
    text = tokenizer.decode(batch["input_ids"][0][:5])
    assert text.endswith("assistant\n"[-4:])
    rates = {m.p for n, m in trainer.model.named_modules() if isinstance(m, torch.nn.Dropout)}
    assert 0.05 in rates
