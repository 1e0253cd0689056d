"""Write a tidy file of simulated ratings: raters of two minds, and some polarising answers."""

import argparse
from pathlib import Path

from darc.simulate import simulate, two_minds
from darc.simulate.write import write_ratings
from darc.tables import atomic_writer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--raters", type=int, default=9)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    recipe = two_minds(given.prompts, given.candidates, given.raters)
    with atomic_writer(given.path) as file:
        write_ratings(file, simulate(recipe, given.seed))


if __name__ == "__main__":
    main()
