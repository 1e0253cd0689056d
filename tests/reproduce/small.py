"""A small experiment that needs no model: given answers, rewrites by rule, scores by functions."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from darc.reproduce.experiment import Experiment, read_experiment

PROMPTS = 12
CANDIDATES = 4
RATERS = 5
WORDS = ("However", "it is important to begin", "because many people often want to help quickly")


def score_length(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """A reward that depends on the wording."""
    return [len(answer) % 17 / 4 + answer.count("e") / 5 for _, answer in pairs]


def score_vowels(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Another one."""
    return [answer.count("a") / 3 - answer.count("o") / 4 for _, answer in pairs]


def write_experiment(folder: Path, ratings: bool = True) -> Path:
    """Write prompts, answers, ratings and a configuration; the path of the configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(3)
    prompts = [f"p{number}" for number in range(PROMPTS)]
    with (folder / "prompts.jsonl").open("w", encoding="utf-8") as file:
        for prompt in prompts:
            file.write(json.dumps({"id": prompt, "prompt": f"Why is {prompt} good?"}) + "\n")
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for prompt in prompts:
            for number in range(CANDIDATES):
                text = (
                    f"{WORDS[0]}, {WORDS[1]} {prompt} {'x' * number} {WORDS[2]}. Try plan {number}."
                )
                row = {"prompt_id": prompt, "candidate_id": f"c{number}", "response": text}
                file.write(json.dumps(row) + "\n")
    with (folder / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        for prompt in prompts:
            for number in range(CANDIDATES):
                centre = draw.uniform(3, 8)
                for rater in range(RATERS):
                    rating = float(np.clip(round(draw.normal(centre, 1.5)), 0, 10))
                    writer.writerow([prompt, f"c{number}", f"r{rater}", rating])
    human = 'ratings = { Base = "ratings.csv" }' if ratings else ""
    text = f"""
name = "small"
seed = 1
[sampling]
k = {CANDIDATES}
[rewrites]
rewriter = "rules"
n_aug = 4
[[generators]]
name = "given"
model = "given:{folder / "answers.jsonl"}"
paper = "Llama"
benchmarks = ["small"]
scorers = ["RM1", "RM2"]
[[benchmarks]]
name = "small"
paper = "MT-Bench"
prompts = "prompts.jsonl"
turns = {PROMPTS}
[[reward_models]]
name = "RM1"
model = "python:tests.reproduce.small:score_length"
[[reward_models]]
name = "RM2"
model = "python:tests.reproduce.small:score_vowels"
[[methods]]
label = "Base (Best-of-K)"
[[methods]]
label = "DARC"
rule = "entropic"
tables = ["main", "human", "scorers"]
[[methods]]
label = "DARC-epsilon"
rule = "epsilon:epsilon=0.25"
tables = ["main", "human", "scorers"]
[evaluation]
splits = 2
draws = 50
[human]
generator = "given"
benchmark = "small"
{human}
[latency]
generator = "given"
benchmark = "small"
prompts = 2
n_aug = [0, 2]
"""
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


def small_experiment(folder: Path, ratings: bool = True) -> Experiment:
    """The experiment that `write_experiment` writes."""
    return read_experiment(str(write_experiment(folder, ratings)))
