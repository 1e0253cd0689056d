import json
import random
import resource
import time
from pathlib import Path

import httpx
import pytest
from tests.viewer.makers import index_of
from tests.web.raw import served

from darc.viewer.app import make_app
from darc.viewer.index import DecisionIndex

PROMPTS = 100_000
LIMIT = 0.2
WORDS = [
    *("river", "bread", "window", "summer", "garden", "letter", "machine", "village", "doctor"),
    *("music", "paper", "winter", "island", "market", "teacher", "engine", "forest", "story"),
]


def write_many(folder: Path) -> Path:
    """100,000 prompts with three answers, each rated by four of 200 people, and their texts."""
    draw = random.Random(0)
    path = folder / "many.csv"
    texts = folder / "many.texts.jsonl"
    with path.open("w") as ratings, texts.open("w") as file:
        ratings.write("prompt_id,candidate_id,rater_id,rating,rater_group\n")
        for prompt in range(PROMPTS):
            question = " ".join(draw.choices(WORDS, k=12))
            raters = draw.sample(range(200), 4)
            for name in ("a", "b", "c"):
                answer = " ".join(draw.choices(WORDS, k=60))
                row = {"prompt_id": f"q{prompt}", "candidate_id": name}
                file.write(json.dumps({**row, "prompt": question, "response": answer}) + "\n")
                middle = draw.randint(3, 8)
                for rater in raters:
                    rating = min(10, max(1, round(draw.gauss(middle, 2))))
                    ratings.write(f"q{prompt},{name},r{rater},{rating},g{rater % 3}\n")
    return path


@pytest.mark.slow
def test_pages_of_many_decisions_are_quick(tmp_path: Path) -> None:
    path = write_many(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    with index_of(path) as index:
        built = time.perf_counter() - started
        growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"index of {index.total} decisions: {built:.0f} s, {growth:.0f} MB more memory")
        assert index.total == PROMPTS
        # The table of ratings may take 400 MB; texts are read one batch after the other.
        assert growth < 1200
        with served(make_app(index)) as port, httpx.Client() as client:
            for address in (
                "/",
                "/?page=2000",
                "/?sort=unhappy&page=1000",
                "/?show=differs",
                "/?show=divided&page=100",
                "/?show=flagged&sort=mean",
                "/?system=b&group=g1",
                "/?q=river",
                "/?q=river+bread+village&show=differs&sort=unhappy",
                "/?q=r",
                "/?q=q99999",
                "/decision/50000?at=0",
                "/decision/99999?sort=file&at=99998",
                "/decision/7?q=river&at=3",
            ):
                seconds = min(
                    time_of(client, index, f"http://127.0.0.1:{port}{address}") for _ in range(3)
                )
                print(f"{address}: {1000 * seconds:.0f} ms, limit {1000 * LIMIT:.0f} ms")
                assert seconds < 3 * LIMIT, address


def time_of(client: httpx.Client, index: DecisionIndex, url: str) -> float:
    """How long a page takes for which nothing was counted before."""
    index.forget_counts()
    started = time.perf_counter()
    response = client.get(url, timeout=60)
    assert response.status_code == 200
    return time.perf_counter() - started
