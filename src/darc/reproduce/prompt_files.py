"""The prompts of a benchmark: a file, or one that is downloaded once."""

import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from darc.errors import DarcError, InputError
from darc.files import atomic_path
from darc.reproduce.experiment import BenchmarkConfig
from darc.reproduce.folder import ExperimentFolder
from darc.runs.questions import EXAMPLES, Questions, find_questions

# A file of prompts is smaller than this.
_MAX_BYTES = 50_000_000
_TIMEOUT = 60.0


def read_questions(benchmark: BenchmarkConfig, folder: ExperimentFolder, seed: int) -> Questions:
    """Read the prompts of a benchmark, downloaded at the first use.

    Args:
        benchmark: The benchmark.
        folder: Where downloads are kept.
        seed: The seed of a sample of the questions.

    Returns:
        The questions.

    Raises:
        InputError: There is no such file.
        DarcError: The download failed.
    """
    source = benchmark.prompts
    if _is_address(source):
        source = str(_download(benchmark, folder))
    check_prompts(benchmark)
    return find_questions(source, benchmark.sample, seed)


def check_prompts(benchmark: BenchmarkConfig) -> None:
    """Refuse a benchmark whose file of prompts is missing.

    Raises:
        InputError: There is no such file.
    """
    source = benchmark.prompts
    if source != EXAMPLES and not _is_address(source) and not Path(source).is_file():
        raise InputError(f"there is no file of prompts {source}", f"give {benchmark.name} another")


def _is_address(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _download(benchmark: BenchmarkConfig, folder: ExperimentFolder) -> Path:
    ending = Path(urlsplit(benchmark.prompts).path).suffix or ".jsonl"
    path = folder.prompts(benchmark.name, ending)
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with urllib.request.urlopen(benchmark.prompts, timeout=_TIMEOUT) as reply:
            content = reply.read(_MAX_BYTES + 1)
    except (urllib.error.URLError, OSError) as problem:
        reason = getattr(problem, "reason", problem)
        raise DarcError(
            f"{benchmark.prompts} cannot be downloaded ({reason})",
            f"save it as {path}, or name a file as the prompts of {benchmark.name}",
        ) from None
    if len(content) > _MAX_BYTES:
        raise InputError(f"{benchmark.prompts} is larger than a file of prompts", "name another")
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)
    return path
