"""What TRL's trainer is given: the base model, a recipe, a loss, pairs; and whether it can run."""

import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darc.errors import DarcError, InputError
from darc.models.transformers import loading
from darc.models.transformers.loading import ModelSource
from darc.train.preferences import Row, as_texts
from darc.train.recipe import Loss, TrainingRecipe

Report = Callable[[int, int], None]

# Working memory beside the weights: the runtime, activations, adapters and their optimizer.
OVERHEAD = 1_200_000_000
NF4_BYTES = 0.56
BYTES = {"fp32": 4.0, "bf16": 2.0}
GIGA = 1e9


@dataclass(frozen=True)
class Machine:
    """Free bytes of the largest GPU (None without one) and of memory, and what is installed."""

    gpu: int | None
    memory: int
    bitsandbytes: bool


def check_training(recipe: TrainingRecipe) -> ModelSource:
    """Where the weights are; refuses what cannot be trained here, having read headers alone."""
    loading.need("training", "peft", "trl", "datasets", extra="train")
    import psutil
    import torch

    if not recipe.model:
        raise InputError("there is no model to train", "name one: --model MODEL")
    sizes = [torch.cuda.mem_get_info(place)[0] for place in range(torch.cuda.device_count())]
    bitsandbytes = importlib.util.find_spec("bitsandbytes") is not None
    machine = Machine(max(sizes, default=None), psutil.virtual_memory().available, bitsandbytes)
    # A missing GPU is said before the model is looked for.
    check_machine(recipe, None, machine)
    source = loading.resolve(recipe.model)
    if source.adapter:
        raise InputError(f"{recipe.model} is an adapter", "name the model below it")
    check_machine(recipe, count_parameters(source), machine)
    return source


def check_machine(recipe: TrainingRecipe, parameters: int | None, machine: Machine) -> None:
    """Raise a `DarcError` that names what is missing; `parameters` is None where unknown."""
    if recipe.quantised and machine.gpu is None:
        raise DarcError(
            "training on 4-bit weights (QLoRA, NF4) needs a CUDA GPU, and there is none here",
            "use --preset cpu-small, or a machine with a GPU",
        )
    if recipe.quantised and not machine.bitsandbytes:
        raise DarcError(
            "training on 4-bit weights needs bitsandbytes, which is not installed",
            "install it with: pip install bitsandbytes",
        )
    if parameters is None:
        return
    needed = parameters * (NF4_BYTES if recipe.quantised else BYTES[recipe.dtype]) + OVERHEAD
    free = machine.memory if machine.gpu is None else machine.gpu
    if needed > free:
        place = "memory" if machine.gpu is None else "GPU memory"
        raise DarcError(
            f"a model of {parameters / 1e6:.0f} million parameters needs about "
            f"{needed / GIGA:.1f} GB of {place}, and {free / GIGA:.1f} GB are free",
            "choose a smaller model" + ("" if recipe.quantised else " or --dtype bf16"),
        )


def count_parameters(source: ModelSource) -> int | None:
    """How many numbers a model has, read from its files' headers; None for one on the hub."""
    folder = Path(source.weights)
    if source.gguf:
        from gguf import GGUFReader

        return sum(int(tensor.n_elements) for tensor in GGUFReader(folder / source.gguf).tensors)
    total = 0
    for path in folder.glob("*.safetensors"):
        from safetensors import safe_open

        with safe_open(path, framework="np") as opened:
            names = opened.keys()
            total += sum(math.prod(opened.get_slice(name).get_shape()) for name in names)
    return total or None


def base_name(source: ModelSource) -> str:
    """What an adapter's configuration calls its base, so that it is found from anywhere."""
    if source.text == loading.EMBEDDED:
        return loading.EMBEDDED
    local = Path(source.weights, source.gguf)
    return str(local.resolve()) if source.gguf or local.is_dir() else source.weights


def load_base(source: ModelSource, recipe: TrainingRecipe) -> tuple[Any, Any]:
    """The model and its tokenizer; quantised weights are NF4, computed with in bf16.

    Weights from a GGUF file carry the mark of a quantised model, on which no trainer works: they
    are expanded and cleared of it.
    """
    if not recipe.quantised:
        loaded = loading.load(source, loading.CAUSAL, recipe.dtype, "cpu")
        if source.gguf:
            loaded.model.hf_quantizer = loaded.model.quantization_method = None
            loaded.model.is_quantized = False
            vars(loaded.model.config).pop("quantization_config", None)
        return loaded.model, loaded.tokenizer
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    if source.gguf:
        raise InputError("weights of a GGUF file cannot be quantised again", "use the original")
    settings = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    with loading.quiet(), loading.readable(source.text):
        tokenizer = AutoTokenizer.from_pretrained(source.weights, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            source.weights,
            quantization_config=settings,
            dtype=torch.bfloat16,
            device_map={"": 0},
            trust_remote_code=False,
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def make_trainer(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    held_out: Sequence[Row],
    recipe: TrainingRecipe,
    loss: Loss,
    folder: Path,
    report: Report = lambda *_: None,
) -> Any:
    """A `trl.DPOTrainer` that puts a LoRA adapter on the model and trains it.

    The reference's log-probabilities are computed once, before the first step. TRL's own class is
    used wherever a weighted sum of its losses is the loss; `sup` and soft labels need one method
    more.
    """
    import torch
    from datasets import Dataset
    from peft import LoraConfig
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
        return Dataset.from_list([{"probability": 1.0, **row} if soft else row for row in kept])

    trainer = extended(
        model=model,
        args=settings,
        train_dataset=dataset(rows),
        eval_dataset=dataset(held_out) if held_out else None,
        processing_class=tokenizer,
        # On every linear layer but the output.
        peft_config=LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=recipe.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
        data_collator=collator(tokenizer.pad_token_id, recipe),
    )
    _listen(trainer, report)
    return trainer


def collator(
    padding: int, recipe: TrainingRecipe
) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """Rows to a batch: prompts cut at their beginning and answers at their end, then padded."""
    import torch
    from trl.trainer.dpo_trainer import DataCollatorForPreference

    inner = DataCollatorForPreference(pad_token_id=padding, max_length=None)

    def collate(examples: list[dict[str, Any]]) -> dict[str, Any]:
        cut = {"prompt_ids": slice(-recipe.prompt_tokens, None)}
        cut |= dict.fromkeys(("chosen_ids", "rejected_ids"), slice(recipe.response_tokens))
        batch: dict[str, Any] = inner(
            [
                {**each, **{name: each[name][part] for name, part in cut.items()}}
                for each in examples
            ]
        )
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
            # Of the answers' tokens alone: sums (n,), and how far each is above the reference's.
            length = rest["completion_mask"].shape[1] - 1
            chosen, rejected = seen[0].log_probs[:, -length:].sum(dim=1).chunk(2)
            delta = (chosen - rest["ref_chosen_logps"]) - (rejected - rest["ref_rejected_logps"])
            z = self.beta * delta
            added = loss.ceiling * torch.relu(z)
            if "probability" in inputs:
                added = added + loss.slope * (1.0 - inputs["probability"].to(z)) * z
            if return_outputs:
                return result[0] + added.mean(), result[1]
            return result + added.mean()

    return ExtendedTrainer


def _listen(trainer: Any, report: Report) -> None:
    """Have steps reported, and nothing printed."""
    from transformers import PrinterCallback, TrainerCallback

    class Listener(TrainerCallback):  # type: ignore[misc]
        """Tells how many steps are done."""

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """Report after each step."""
            report(state.global_step, state.max_steps)

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Listener())
