"""Reward models on transformers: all texts of one prompt, beside transformers' own pipeline."""

import importlib.util
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Table
from darc.parts.scorers import RewardScorer
from darc.types import Message, Prompt

K = 8
N_AUG = 8
PROMPT = 300
ANSWER = (40, 200)
WORDS = 2000
ROUNDS = 3
GOAL = 2.0
SHAPE = {
    "vocab_size": WORDS + 6,
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 1024,
    "num_labels": 1,
    "pad_token_id": 0,
    "initializer_range": 0.1,
}
TEMPLATE = (
    "{% for m in messages %}<turn> {{ m['role'] }} {{ m['content'] }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<turn> assistant {% endif %}"
)


def run() -> Iterator[Table]:
    absent = [name for name in ("torch", "transformers") if not importlib.util.find_spec(name)]
    if absent:
        yield Table("reward models", [], [], f"not run: {absent[0]} is not installed (extra hf)")
        return
    yield measured()


def measured() -> Table:
    """Seconds for all texts of one prompt, ours and the pipeline's in turn."""
    from darc.models.importing import import_with_sleeping_threads
    from darc.models.transformers.loading import quiet

    import_with_sleeping_threads("torch")
    prompt, answers = texts()
    rows: list[list[object]] = []
    notes = []
    for kind in ("encoder", "decoder"):
        with tempfile.TemporaryDirectory() as folder, quiet():
            scorer = RewardScorer(checkpoint(Path(folder), kind), dtype="fp32", device="cpu")
            ours, theirs = both(scorer, prompt, answers, kind == "decoder")
            ways = {"pipeline": theirs, "darc": ours}
            difference = float(np.abs(ours() - theirs()).max())
            tokens = {name: forwarded(scorer, way) for name, way in ways.items()}
            wall, busy = timed(ways)
        times = wall["pipeline"] / wall["darc"]
        for name in ways:
            share = wall["pipeline"] / wall[name]
            largest = f"{difference:.0e}" if name == "darc" else ""
            rows.append([kind, name, tokens[name], wall[name], busy[name], share, largest])
        verdict = "met" if times >= GOAL else "not met"
        notes.append(f"{kind} {verdict}")
    note = (
        f"prompt of {PROMPT} tokens, answers of {ANSWER[0]} to {ANSWER[1]}; the pipeline in "
        f"batches of 16 padded to their longest; best of {ROUNDS} in turn; goal of {GOAL:g} times: "
        + ", ".join(notes)
    )
    header = [
        "model",
        "way",
        "tokens read",
        "s",
        "processor s",
        "times pipeline",
        "largest difference",
    ]
    return Table(f"reward of {K} x {N_AUG + 1} texts of one prompt", header, rows, note)


def texts() -> tuple[Prompt, list[str]]:
    """A prompt, and K x (n_aug + 1) answers of random words."""
    dice = random.Random(0)

    def words(count: int) -> str:
        return " ".join(f"w{dice.randrange(WORDS)}" for _ in range(count))

    prompt = Prompt("p", (Message("user", words(PROMPT)),))
    return prompt, [words(dice.randint(*ANSWER)) for _ in range(K * (N_AUG + 1))]


def checkpoint(folder: Path, kind: str) -> str:
    """A random model with a reward head and its tokenizer, one token per word."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["<pad>", "<turn>", "<end>", "[SEP]", "user", "assistant"]
    names = [*special, *(f"w{number}" for number in range(WORDS))]
    inputs = ["input_ids", "attention_mask"]
    plain = Tokenizer(models.WordLevel({name: place for place, name in enumerate(names)}, "<pad>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    architecture = "Llama"
    if kind == "encoder":
        architecture = "Bert"
        inputs.append("token_type_ids")
        plain.post_processor = processors.TemplateProcessing(
            single="[SEP] $A [SEP]",
            pair="[SEP] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[SEP]", 3)],
        )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        padding_side="right",
        model_input_names=inputs,
    )
    if kind == "decoder":
        tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    settings = getattr(transformers, f"{architecture}Config")(**SHAPE)
    model = getattr(transformers, f"{architecture}ForSequenceClassification")(settings)
    model.save_pretrained(folder)
    return str(folder)


def both(
    scorer: RewardScorer, prompt: Prompt, answers: list[str], chat: bool
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Our scorer and the pipeline on the same model: from texts to scores."""
    import transformers

    from darc.models.transformers.batching import apply_template

    loaded = scorer.checkpoint.loaded
    pipeline = transformers.pipeline(
        "text-classification",
        model=loaded.model,
        tokenizer=loaded.tokenizer,
        device="cpu",
        batch_size=16,
        function_to_apply="none",
    )

    def theirs() -> Any:
        inputs: list[Any] = [{"text": prompt.question, "text_pair": text} for text in answers]
        if chat:
            turns = [(*prompt.messages, Message("assistant", text)) for text in answers]
            inputs = [apply_template(loaded.tokenizer, turn, answered=True) for turn in turns]
        return np.array([result["score"] for result in pipeline(inputs)])

    return lambda: scorer.score([(prompt, text) for text in answers]), theirs


def forwarded(scorer: RewardScorer, way: Callable[[], Any]) -> int:
    """How many tokens go through the model's layers, padding included."""
    counts: list[int] = []

    def note(_: Any, args: Any, options: dict[str, Any]) -> None:
        tokens = args[0] if args else options["input_ids"]
        counts.append(tokens.numel())

    hook = scorer.checkpoint.loaded.model.base_model.register_forward_pre_hook(
        note, with_kwargs=True
    )
    way()
    hook.remove()
    return sum(counts)


def timed(ways: dict[str, Callable[[], Any]]) -> tuple[dict[str, float], dict[str, float]]:
    """The least wall-clock and processor seconds of each way, tried in turn."""
    wall = dict.fromkeys(ways, np.inf)
    busy = dict.fromkeys(ways, np.inf)
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = time.perf_counter()
            used = time.process_time()
            way()
            busy[name] = min(busy[name], time.process_time() - used)
            wall[name] = min(wall[name], time.perf_counter() - started)
    return wall, busy
