"""The grid of `darc tune` against a plain loop, and how often it takes noise for a gain."""

import time
from collections.abc import Callable

import numpy as np

import darc
from benchmarks.report import Table
from darc.analysis.tune.advice import recommend
from darc.analysis.tune.grid import grid, scale_of, tunable
from darc.analysis.tune.objective import Objective
from darc.analysis.tune.trials import choices
from darc.analysis.tune.tuning import tune
from darc.decide.method import Method
from darc.decide.sample_batch import SampleBatch
from darc.ratings.ratings import Ratings
from darc.ratings.simulated import simulate, two_minds

SHAPE = (805, 16, 9)
SUBSET = 200
ROUNDS = 3
NOISY = 40


def source_of(samples: np.ndarray, name: str) -> Ratings:
    """A source of ratings (P, K, n) by the same n people."""
    prompts, candidates, size = samples.shape
    return Ratings(
        name=name,
        kind="rater",
        prompt_ids=[f"p{i}" for i in range(prompts)],
        candidate_ids=[[f"c{i}" for i in range(candidates)]] * prompts,
        scorers=["rating"],
        samples=samples[:, None],
        raters=np.broadcast_to(np.arange(size), (prompts, 1, candidates, size)),
        rater_names=[f"r{i}" for i in range(size)],
        lengths=np.full((prompts, candidates), np.nan),
    )


def plain(samples: np.ndarray, settings: list[Method]) -> np.ndarray:
    """The obvious loop: every setting by `darc.select_batch`."""
    rows = [
        darc.select_batch(samples, setting.rule, beta=setting.beta).index for setting in settings
    ]
    return np.stack(rows)


def speed() -> Table:
    samples = simulate(two_minds(*SHAPE), seed=0).ratings[:, None]
    scale = scale_of(samples, {}, False)
    settings: list[Method] = []
    for rule in tunable(1, {})[0]:
        settings += grid(rule, scale, "fine")
    batch = SampleBatch(samples, range(SHAPE[0]))
    source = source_of(samples[:, 0], "simulated")
    grid_seconds = timed(lambda: choices(batch, settings))
    tuning_seconds = timed(lambda: tune(source, size="fine", splits=1))
    step = max(1, len(settings) // SUBSET)
    # Runs of neighbours, as the grid has them, so that betas are shared as they are in the whole.
    starts = range(0, len(settings), 20 * step)
    subset = [s for start in starts for s in settings[start : start + 20]]
    ours = (np.inf, np.inf)
    theirs = (np.inf, np.inf)
    for _ in range(ROUNDS):
        ours = min(ours, timed(lambda: choices(batch, subset)))
        theirs = min(theirs, timed(lambda: plain(samples, subset)))
    same = (choices(batch, subset) == plain(samples, subset)).all()
    rows: list[list[object]] = [
        ["decisions of the whole grid", len(settings), *grid_seconds, None],
        ["darc tune, one split", len(settings), *tuning_seconds, None],
        ["decisions of a part", len(subset), *ours, theirs[0] / ours[0]],
        ["the part by darc.select_batch", len(subset), *theirs, 1.0],
    ]
    header = ["what", "settings", "seconds", "processor s", "times the plain loop"]
    comparison = "the same" if same else "DIFFERENT"
    note = f"the part: best of {ROUNDS} in turn, decisions {comparison}"
    return Table(f"tuning on {SHAPE}", header, rows, note)


def timed(job: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    started = time.perf_counter()
    used = time.process_time()
    job()
    return time.perf_counter() - started, time.process_time() - used


def false_gains() -> Table:
    rows: list[list[object]] = []
    for objective in ("tradeoff", "cvar", "mean"):
        for kind in ("noise", "quality"):
            wrong = 0
            for seed in range(NOISY):
                generator = np.random.default_rng([seed, 1])
                samples = generator.normal(6.0, 1.5, size=(60, 8, 10))
                if kind == "quality":
                    samples += generator.normal(0.0, 0.8, size=(60, 8, 1))
                source = source_of(samples, kind)
                tuning = tune(source, Objective(objective), splits=2, seed=seed)
                wrong += recommend(tuning).beyond_noise
            rows.append([objective, kind, NOISY, wrong, wrong / NOISY])
    total = sum(int(str(row[3])) for row in rows) / (NOISY * len(rows))
    note = (
        "noise: candidates do not differ; quality: they differ in mean alone; "
        f"all together {total:.3f}; 60 prompts, 8 candidates, 10 raters, all rules"
    )
    header = ["objective", "data", "sources", "beats it", "share"]
    return Table("gains seen where there are none", header, rows, note)


def run() -> list[Table]:
    return [speed(), false_gains()]
