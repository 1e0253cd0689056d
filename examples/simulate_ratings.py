"""Write simulated ratings (CSV) and the answers' texts beside them: a fifth hate what most love."""

import argparse
import io
import json
from pathlib import Path

import numpy as np

from darc.files import atomic_writer
from darc.ratings.simulated import Recipe, simulate
from darc.ratings.simulated.write import candidate_id, write_ratings

QUESTION = "Write a short toast for my sister's wedding."
# The answer that divides people comes first, the others from the best to the worst.
ANSWERS = {
    "the roast": "Anna once took a puppy back to the shelter because it shed. Tom, you shed too, "
    "so I hope that she kept the receipt this time. To the happy couple!",
    "the story": "When I was five, Anna taught me to ride her bicycle and ran beside me all the "
    "way. Tom, that is whom you are marrying: she will run beside you. To Anna and Tom!",
    "the plain one": "I am so glad for you both. May you be happy together for many years. To Anna "
    "and Tom!",
    "the poem": "Two hearts, one boat, one shining sea: may all your days like summer be. To Anna "
    "and Tom!",
    "the quotation": "Love is patient, love is kind, as somebody once said. I have little to add "
    "to that. Cheers!",
}
PEOPLE = Recipe(
    prompts=40,
    candidates=len(ANSWERS),
    raters=20,
    crowd=20,
    groups=(0.8, 0.2),
    location=6.4,
    prompt_spread=0.0,
    candidate_spread=0.8,
    polarising=0.25,
    gap=7.0,
    lure=1.0,
    noise=0.8,
    severity=0.3,
    step=1.0,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=25)
    given = parser.parse_args()
    people = simulate(PEOPLE, given.seed)
    order = np.lexsort((-people.truth.mean[0], ~people.polarising[0]))
    written = io.StringIO()
    write_ratings(written, people)
    table = written.getvalue()
    for k, name in zip(order.tolist(), ANSWERS, strict=True):
        table = table.replace(f"prompt 1,{candidate_id(k)},", f"prompt 1,{name},")
    with atomic_writer(given.path) as file:
        file.write(table)
    with atomic_writer(given.path.with_suffix(".texts.jsonl")) as file:
        for name, text in ANSWERS.items():
            row = {"prompt_id": "prompt 1", "candidate_id": name}
            file.write(json.dumps({**row, "prompt": QUESTION, "response": text}) + "\n")


if __name__ == "__main__":
    main()
