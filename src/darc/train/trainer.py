"""TRL's trainer for preference pairs, with losses that TRL does not have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darc.train.losses import Loss
from darc.train.preferences import Row, as_texts
from darc.train.recipe import TrainingRecipe

Report = Callable[[int, int], None]
Collator = Callable[[list[dict[str, Any]]], dict[str, Any]]


@dataclass(frozen=True)
class TrainingData:
    """Preference pairs."""

    #: The pairs to train on.
    rows: Sequence[Row]
    #: The pairs to measure on.
    held_out: Sequence[Row] = ()

    @property
    def has_probabilities(self) -> bool:
        """Whether a label is right with a probability below 1."""
        rows = (*self.rows, *self.held_out)
        return any(row.get("probability", 1.0) < 1.0 for row in rows)


def make_trainer(
    model: Any,
    tokenizer: Any,
    data: TrainingData,
    recipe: TrainingRecipe,
    loss: Loss,
    folder: Path,
    report: Report = lambda *_: None,
) -> Any:
    """Make a trainer; the reference's log-probabilities are computed once, at its start.

    Args:
        model: The model, which gets a LoRA adapter.
        tokenizer: Its tokenizer.
        data: The pairs.
        recipe: How to train.
        loss: The loss.
        folder: Where checkpoints are written.
        report: Called with the number of steps done, and of all steps.

    Returns:
        A `trl.DPOTrainer`.
    """
    import torch
    from trl import DPOTrainer

    torch.manual_seed(recipe.seed)
    trainer_class = DPOTrainer
    if data.has_probabilities or loss.ceiling:
        trainer_class = extended_trainer(DPOTrainer, loss)
    held_out = None
    if data.held_out:
        held_out = _make_dataset(data.held_out, tokenizer, data.has_probabilities)
    trainer = trainer_class(
        model=model,
        args=_trainer_settings(recipe, loss, folder, evaluate=bool(data.held_out)),
        train_dataset=_make_dataset(data.rows, tokenizer, data.has_probabilities),
        eval_dataset=held_out,
        processing_class=tokenizer,
        peft_config=_adapter_settings(recipe),
        data_collator=collator(tokenizer.pad_token_id, recipe),
    )
    _report_steps(trainer, report)
    return trainer


def _trainer_settings(recipe: TrainingRecipe, loss: Loss, folder: Path, evaluate: bool) -> Any:
    import torch
    from trl import DPOConfig

    has_gpu = torch.cuda.is_available()
    return DPOConfig(
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
        bf16=recipe.dtype == "bf16" and has_gpu,
        use_cpu=not has_gpu,
        seed=recipe.seed,
        data_seed=recipe.seed,
        logging_steps=1,
        eval_strategy="steps" if evaluate else "no",
        eval_steps=recipe.every,
        save_steps=recipe.every,
        save_total_limit=2,
        remove_unused_columns=False,
        dataloader_pin_memory=has_gpu,
        report_to=[],
        disable_tqdm=True,
    )


def _adapter_settings(recipe: TrainingRecipe) -> Any:
    """LoRA on every linear layer except the output."""
    from peft import LoraConfig

    return LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _make_dataset(rows: Sequence[Row], tokenizer: Any, with_probabilities: bool) -> Any:
    """Rows as a data set; without a chat template, of plain texts."""
    from datasets import Dataset

    if not tokenizer.chat_template:
        rows = [as_texts(row) for row in rows]
    if with_probabilities:
        rows = [{"probability": 1.0, **row} for row in rows]
    return Dataset.from_list(list(rows))


def collator(padding: int, recipe: TrainingRecipe) -> Collator:
    """Make the function that turns rows into a batch.

    Args:
        padding: The padding token.
        recipe: How many tokens of prompts and answers are used.

    Returns:
        A function that cuts prompts at their beginning and answers at their end, and pads them.
    """
    import torch
    from trl.trainer.dpo_trainer import DataCollatorForPreference

    pad = DataCollatorForPreference(pad_token_id=padding, max_length=None)

    def cut(example: dict[str, Any]) -> dict[str, Any]:
        return {
            **example,
            "prompt_ids": example["prompt_ids"][-recipe.prompt_tokens :],
            "chosen_ids": example["chosen_ids"][: recipe.response_tokens],
            "rejected_ids": example["rejected_ids"][: recipe.response_tokens],
        }

    def collate(examples: list[dict[str, Any]]) -> dict[str, Any]:
        batch: dict[str, Any] = pad([cut(example) for example in examples])
        # While the reference is computed, everything in the batch is handed to the model.
        if "probability" in examples[0] and "ref_chosen_logps" in examples[0]:
            probabilities = [float(example["probability"]) for example in examples]
            batch["probability"] = torch.tensor(probabilities)
        return batch

    return collate


def extended_trainer(trainer_class: Any, loss: Loss) -> Any:
    """Make a trainer class whose loss has noise max(z, 0) and (1 - probability) slope z added.

    Args:
        trainer_class: TRL's trainer.
        loss: The loss.

    Returns:
        A subclass.
    """
    import torch

    class ExtendedTrainer(trainer_class):  # type: ignore[misc]
        """TRL's trainer with terms that no weighted sum of its losses gives."""

        def compute_loss(
            self,
            model: Any,
            inputs: dict[str, Any],
            return_outputs: bool = False,
            num_items_in_batch: Any = None,
        ) -> Any:
            """TRL's loss and the added terms."""
            batch = {name: value for name, value in inputs.items() if name != "probability"}
            outputs: list[Any] = []

            def recording_model(*arguments: Any, **options: Any) -> Any:
                outputs.append(model(*arguments, **options))
                return outputs[-1]

            result = super().compute_loss(
                recording_model, batch, return_outputs, num_items_in_batch
            )
            z = self.beta * _reward_differences(outputs[0], batch)
            added = loss.ceiling * torch.relu(z)
            if "probability" in inputs:
                wrong = 1.0 - inputs["probability"].to(z)
                added = added + loss.slope * wrong * z
            if return_outputs:
                return result[0] + added.mean(), result[1]
            return result + added.mean()

    return ExtendedTrainer


def _reward_differences(output: Any, batch: dict[str, Any]) -> Any:
    """How much further the chosen answers are above the reference than the rejected ones, (n,)."""
    answer_tokens = batch["completion_mask"].shape[1] - 1
    sums = output.log_probs[:, -answer_tokens:].sum(dim=1)
    chosen, rejected = sums.chunk(2)
    return (chosen - batch["ref_chosen_logps"]) - (rejected - batch["ref_rejected_logps"])


def _report_steps(trainer: Any, report: Report) -> None:
    """Have steps reported, and nothing printed."""
    from transformers import PrinterCallback, TrainerCallback

    class StepReporter(TrainerCallback):  # type: ignore[misc]
        """Reports how many steps are done."""

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Report after each step."""
            report(state.global_step, state.max_steps)

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(StepReporter())
