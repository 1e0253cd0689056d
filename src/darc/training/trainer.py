"""TRL's trainer with a recipe, a loss and pairs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from darc.training.preferences import Row, as_texts
from darc.training.recipe import Loss, TrainingRecipe

Report = Callable[[int, int], None]


def make_trainer(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    held_out: Sequence[Row],
    recipe: TrainingRecipe,
    loss: Loss,
    folder: Path,
    report: Report | None = None,
) -> Any:
    """A `trl.DPOTrainer` that puts a LoRA adapter on the model and trains it.

    The reference's log-probabilities are computed once, before the first step. TRL's own class is
    used wherever a weighted sum of its losses is the loss; `sup` and soft labels need one method
    more.
    """
    import torch
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    torch.manual_seed(recipe.seed)
    soft = any(row.get("probability", 1.0) < 1.0 for row in (*rows, *held_out))
    settings = DPOConfig(
        output_dir=str(folder),
        **loss.settings(),
        beta=recipe.beta,
        learning_rate=recipe.learning_rate,
        per_device_train_batch_size=recipe.batch,
        per_device_eval_batch_size=recipe.batch,
        gradient_accumulation_steps=recipe.accumulation,
        num_train_epochs=recipe.epochs,
        max_steps=recipe.steps or -1,
        max_length=None,
        precompute_ref_log_probs=True,
        # It would switch off the adapter's dropout as well.
        disable_dropout=recipe.dropout == 0,
        gradient_checkpointing=recipe.quantised,
        bf16=recipe.dtype == "bf16" and torch.cuda.is_available(),
        use_cpu=not torch.cuda.is_available(),
        seed=recipe.seed,
        data_seed=recipe.seed,
        logging_steps=1,
        eval_strategy="steps" if held_out else "no",
        eval_steps=recipe.every,
        save_strategy="steps",
        save_steps=recipe.every,
        save_total_limit=2,
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
        report_to=[],
        disable_tqdm=True,
    )
    plain = not tokenizer.chat_template
    extended = extended_trainer(DPOTrainer, loss) if soft or loss.ceiling else DPOTrainer

    def dataset(part: Sequence[Row]) -> Any:
        kept = [as_texts(row) if plain else row for row in part]
        if soft:
            kept = [{"probability": 1.0, **row} for row in kept]
        return Dataset.from_list([{k: v for k, v in row.items() if v is not None} for row in kept])

    trainer = extended(
        model=model,
        args=settings,
        train_dataset=dataset(rows),
        eval_dataset=dataset(held_out) if held_out else None,
        processing_class=tokenizer,
        peft_config=adapter_settings(recipe),
        data_collator=collator(tokenizer.pad_token_id, recipe),
    )
    _listen(trainer, report)
    return trainer


def adapter_settings(recipe: TrainingRecipe) -> Any:
    """LoRA on every linear layer but the output."""
    from peft import LoraConfig

    return LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear",
        bias="none",
        task_type="CAUSAL_LM",
    )


def collator(
    padding: int, recipe: TrainingRecipe
) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """Rows to a batch: prompts cut at their beginning and answers at their end, then padded."""
    import torch
    from trl.trainer.dpo_trainer import DataCollatorForPreference

    inner = DataCollatorForPreference(pad_token_id=padding, max_length=None)

    def collate(examples: list[dict[str, Any]]) -> dict[str, Any]:
        cut = [
            {
                **example,
                "prompt_ids": example["prompt_ids"][-recipe.prompt_tokens :],
                "chosen_ids": example["chosen_ids"][: recipe.response_tokens],
                "rejected_ids": example["rejected_ids"][: recipe.response_tokens],
            }
            for example in examples
        ]
        batch: dict[str, Any] = inner(cut)
        # While the reference is computed, everything in the batch is handed to the model.
        if "probability" in examples[0] and "ref_chosen_logps" in examples[0]:
            batch["probability"] = torch.tensor([float(e["probability"]) for e in examples])
        return batch

    return collate


def extended_trainer(trainer: Any, loss: Loss) -> Any:
    """A trainer class whose loss has noise max(z, 0) and (1 - probability) slope z added."""
    import torch

    class ExtendedTrainer(trainer):  # type: ignore[misc]
        """TRL's trainer with one method more."""

        def compute_loss(
            self,
            model: Any,
            inputs: dict[str, Any],
            return_outputs: bool = False,
            num_items_in_batch: Any = None,
        ) -> Any:
            """TRL's loss plus what no weighted sum of its losses gives."""
            rest = {name: value for name, value in inputs.items() if name != "probability"}
            seen: list[Any] = []

            def watched(*arguments: Any, **named: Any) -> Any:
                seen.append(model(*arguments, **named))
                return seen[-1]

            result = super().compute_loss(watched, rest, return_outputs, num_items_in_batch)
            z = self.beta * margins(seen[0].log_probs, rest)
            added = loss.ceiling * torch.relu(z)
            if "probability" in inputs:
                added = added + loss.slope * (1.0 - inputs["probability"].to(z)) * z
            if return_outputs:
                return result[0] + added.mean(), result[1]
            return result + added.mean()

    return ExtendedTrainer


def margins(log_probabilities: Any, inputs: dict[str, Any]) -> Any:
    """Delta of each pair, (n,): from token log-probabilities and the reference's sums."""
    length = inputs["completion_mask"].shape[1] - 1
    chosen, rejected = log_probabilities[:, -length:].sum(dim=1).chunk(2)
    return (chosen - inputs["ref_chosen_logps"]) - (rejected - inputs["ref_rejected_logps"])


def _listen(trainer: Any, report: Report | None) -> None:
    """Have steps reported, and nothing printed."""
    from transformers import PrinterCallback, TrainerCallback

    trainer.remove_callback(PrinterCallback)
    if report is None:
        return
    tell = report

    class Listener(TrainerCallback):  # type: ignore[misc]
        """Tells how many steps are done."""

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Report after each step."""
            tell(state.global_step, state.max_steps)

    trainer.add_callback(Listener())
