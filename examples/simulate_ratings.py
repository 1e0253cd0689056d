"""Write a tidy file of simulated ratings: raters of two minds, and some polarising answers."""

import argparse
import csv
from pathlib import Path

from darc.simulate import simulate
from darc.tables import atomic_writer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--raters", type=int, default=9)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    population = simulate(given.prompts, given.candidates, given.raters, seed=given.seed)
    with atomic_writer(given.path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        for prompt, answers in enumerate(population.ratings):
            for answer, ratings in enumerate(answers):
                for rater, rating in enumerate(ratings):
                    name = f"answer {chr(ord('A') + answer)}"
                    writer.writerow(
                        [f"prompt {prompt + 1}", name, f"rater {rater + 1}", int(rating)]
                    )


if __name__ == "__main__":
    main()
