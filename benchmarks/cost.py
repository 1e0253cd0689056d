"""What a run will cost: calls, GPU-hours, core-hours and bytes, by full and by lazy search.

python -m benchmarks.cost [--prompts 1e6 ...] [--k 8] [--n-aug 8] [--write-rate N] ...
python -m benchmarks.cost --folder RUN     the bytes that a finished run took
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Table
from darc.errors import DarcError
from darc.runs.folder import RunFolder
from darc.runs.shard import KEEP, ORDER

SIZES = (1e4, 1e5, 1e6, 1e7, 1e8)
# Measured in this repository; docs/run.md says by which command.
LAZY_SCORES = 0.44
LAZY_REWRITES = 1.0
CORE_MS = 2.4
SEARCH_MS = 0.1
PACKED = 0.2
# Bytes besides the text itself, and those of a score; a text of n tokens has 4.5 n of them.
ANSWER = 115
REWRITE = 95
SCORE = 23
CHOICE = 270
PROMPT = 100
REFUSED = 260
TIMES = 390
TOKEN = 4.5
SHARD = 1000


@dataclass(frozen=True)
class Plan:
    """A run, and what is assumed of the models."""

    #: Candidates per prompt.
    k: int = 8
    #: Rewrites per candidate.
    n_aug: int = 8
    prompt_tokens: int = 100
    answer_tokens: int = 300
    #: Tokens per second that one GPU writes.
    write_rate: float = 2500.0
    #: Tokens per second that one GPU reads.
    read_rate: float = 20000.0
    #: The share of scores that the lazy search asks for.
    lazy_scores: float = LAZY_SCORES

    def scores(self, lazy: bool) -> float:
        """Texts scored per prompt."""
        everything = self.k * (1 + self.n_aug)
        return everything * self.lazy_scores if lazy else everything

    def rewrites(self, lazy: bool) -> float:
        """Rewrites made per prompt."""
        everything = self.k * self.n_aug
        return everything * LAZY_REWRITES if lazy else everything

    def writing(self) -> float:
        """GPU-seconds of writing a prompt's answers."""
        return self.k * self.answer_tokens / self.write_rate

    def scoring(self, lazy: bool) -> float:
        """GPU-seconds of a reward model that reads the prompt once and every text."""
        tokens = self.prompt_tokens + self.scores(lazy) * self.answer_tokens
        return tokens / self.read_rate

    def core(self, lazy: bool) -> float:
        """Seconds of a core: rewriting, bookkeeping, and the search."""
        milliseconds = self.rewrites(lazy) * CORE_MS
        if lazy:
            milliseconds += self.scores(lazy) * SEARCH_MS
        return milliseconds / 1000

    def size(self, keep: str, lazy: bool) -> float:
        """Bytes that are left of a prompt."""
        text = TOKEN * self.answer_tokens
        bytes_of = {
            "prompts.jsonl": PROMPT + TOKEN * self.prompt_tokens,
            "candidates.jsonl": self.k * (ANSWER + text),
            "rejected.jsonl": REFUSED,
            "variants.jsonl": self.rewrites(lazy) * (REWRITE + text),
            "scores.jsonl": SCORE * self.k * (1 + self.n_aug),
            "side.jsonl": 18 * self.k * self.k,
            "decisions.jsonl": self.k * CHOICE + text,
        }
        return TIMES + sum(bytes_of[name] for name in KEEP[keep])


def table(plan: Plan, sizes: tuple[float, ...] = SIZES) -> Table:
    """The cost of runs of several sizes."""
    rows: list[list[object]] = []
    for prompts in sizes:
        for search in ("full", "lazy"):
            lazy = search == "lazy"
            hours = prompts / 3600
            everything = prompts * plan.size("all", lazy)
            rows.append([
                f"{prompts:.0e}".replace("e+0", "e"), search, _short(prompts * plan.k),
                _short(prompts * plan.scores(lazy)), _short(hours * plan.writing()),
                _short(hours * plan.scoring(lazy)), _short(hours * plan.core(lazy)),
                _bytes(everything), _bytes(everything * PACKED),
                _bytes(prompts * plan.size("decisions", lazy)), _short(max(1, prompts / SHARD)),
            ])  # fmt: skip
    header = [
        "prompts", "search", "answers", "scores", "GPU h write", "GPU h score", "core h",
        "keep all", "packed", "keep decisions", "shards",
    ]  # fmt: skip
    note = (
        f"assumed: {plan.write_rate:g} tokens/s written and {plan.read_rate:g} read by one GPU; "
        f"prompts of {plan.prompt_tokens} and answers of {plan.answer_tokens} tokens"
    )
    return Table(f"cost of a run, K = {plan.k}, n_aug = {plan.n_aug}", header, rows, note)


def measured(path: Path) -> Table:
    """The bytes per prompt of a run's files, as they are on the disk."""
    folder = RunFolder(path)
    sizes: dict[str, int] = {}
    prompts = 0
    for shard in folder.shards():
        prompts += int((shard.seal_data or {}).get("prompts", 0))
        for file in shard.path.iterdir():
            sizes[file.name] = sizes.get(file.name, 0) + file.stat().st_size
    places = {name: place for place, name in enumerate(ORDER)}
    names = sorted(sizes, key=lambda name: places.get(name.removesuffix(".zst"), len(places)))
    rows: list[list[object]] = [[name, f"{sizes[name] / max(1, prompts):.0f}"] for name in names]
    rows.append(["all", f"{sum(sizes.values()) / max(1, prompts):.0f}"])
    return Table(f"{path}: {prompts} prompts", ["file", "bytes per prompt"], rows)


def _short(number: float) -> str:
    if number >= 1e5:
        return f"{number:.2g}".replace("e+0", "e")
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _bytes(number: float) -> str:
    unit = min(4, int(math.log10(number)) // 3)
    return f"{number / 1000**unit:.3g} {('B', 'kB', 'MB', 'GB', 'TB')[unit]}"


def main(arguments: list[str] | None = None) -> None:
    """Print a table."""
    plan = Plan()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prompts", type=float, nargs="+", default=SIZES, metavar="N")
    for name in ("k", "n_aug", "prompt_tokens", "answer_tokens"):
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=getattr(plan, name))
    for name in ("write_rate", "read_rate", "lazy_scores"):
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=float, default=getattr(plan, name))
    parser.add_argument("--folder", type=Path, help="print the bytes of a run's files instead")
    options = vars(parser.parse_args(arguments))
    folder = options.pop("folder")
    sizes = tuple(options.pop("prompts"))
    if folder is None:
        print(table(Plan(**options), sizes).text(), end="")
        return
    try:
        print(measured(folder).text(), end="")
    except DarcError as problem:
        parser.error(str(problem))


if __name__ == "__main__":
    main()
