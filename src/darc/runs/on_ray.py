"""Runs on a Ray cluster, where a shard is the unit of work and of retry."""

import os
import pickle
import platform
import socket
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

import darc
from darc.engine.engine import Engine
from darc.errors import DarcError, InputError, extra_needed
from darc.runs.cluster import Cluster
from darc.runs.folder import RunFolder
from darc.runs.questions import Question, Questions
from darc.runs.run import (
    Failures,
    Report,
    fill_shards,
    finish_run,
    prompt_counter,
    waiting_shards,
)
from darc.runs.seals import checksum
from darc.runs.shard import Shard

_RETRIES = 2
# How many seconds a worker waits for one that is cut off, or that a dead driver left behind.
_LOCK_SECONDS = 60.0
_RESUME_HINT = "correct the cause and run again: what is sealed stays"
#: Why prompts of a shard failed, by their ids; "" is the id of what failed the shard as a whole.
Causes = dict[str, DarcError]


@dataclass(frozen=True)
class ShardJob:
    """One shard as it is sent to a worker."""

    folder: Path
    #: The name of the shard.
    name: str
    manifest: Mapping[str, Any]
    questions: list[Question]
    #: The options of an `Engine`, which can be pickled.
    engine_options: Mapping[str, Any]
    #: The options of `fill_shards`.
    fill_options: Mapping[str, Any]
    #: The version of DARC that the run was begun with.
    version: str = darc.__version__


def run_on_ray(
    folder: RunFolder,
    questions: Questions,
    engine_options: Mapping[str, Any],
    cluster: Cluster,
    report: Report = lambda stage, done, total: None,
    **fill_options: Any,
) -> None:
    """Do a run on a cluster; it writes the same bytes as a local one.

    Args:
        folder: The run folder, which every node sees.
        questions: The questions.
        engine_options: The options of an `Engine`, which can be pickled.
        cluster: Where to run.
        report: Told of prompts that are done, as report(stage, done, total).
        fill_options: Options of `fill_shards`.

    Raises:
        MissingExtra: If Ray is not installed.
        DarcError: If there is no cluster, or prompts failed. The others are done.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with extra_needed("--engine ray", "ray"):
        import ray
    manifest = folder.manifest()
    folder_path = folder.path.resolve()
    if manifest["schema"] == 1:
        raise InputError(
            f"{folder_path} has no shards: it is of an older version", "go on without Ray"
        )
    count = prompt_counter("sealed", questions, report)
    failures = Failures()
    lazy = bool(fill_options.get("lazy"))
    jobs = (
        ShardJob(folder_path, shard.name, manifest, part, engine_options, fill_options)
        for shard, part in waiting_shards(folder, questions, lazy, count)
    )
    with (
        _output_on_stderr(),
        _connection(ray, cluster),
        closing(_run_jobs(ray, cluster, jobs)) as results,
    ):
        for job, causes in results:
            for prompt_id, problem in causes.items():
                if not prompt_id:
                    raise problem
                failures.add(prompt_id, problem)
            count(sum(len(question.turns) for question in job.questions) - len(causes))
    failures.check()
    finish_run(folder)
    for lock in (folder_path / "shards").glob(".*.lock"):
        lock.unlink(missing_ok=True)


def _run_jobs(
    ray: Any, cluster: Cluster, jobs: Iterator[ShardJob]
) -> Generator[tuple[ShardJob, Causes]]:
    """Send jobs to workers; each with what became of it, in the order in which they end."""
    # Actors keep their models, and are started again when they die.
    make_actor = ray.remote(
        max_restarts=-1,
        max_task_retries=_RETRIES,
        num_cpus=cluster.cpus,
        num_gpus=cluster.gpus,
    )(ShardActor)
    actors = [make_actor.remote() for _ in range(cluster.actors)]
    idle_actors = [actor.fill for actor in actors]
    task = ray.remote(num_cpus=cluster.cpus, max_retries=_RETRIES)(fill_shard)
    running: dict[Any, tuple[ShardJob, Any]] = {}
    try:
        while True:
            if actors:
                free_slots = len(idle_actors)
            else:
                # Two tasks are queued for each that can run.
                tasks_at_once = int(ray.cluster_resources().get("CPU", 1) // cluster.cpus)
                free_slots = max(0, max(2, 2 * tasks_at_once) - len(running))
            for job in islice(jobs, free_slots):
                worker = idle_actors.pop() if actors else task
                running[worker.remote(job)] = (job, worker)
            if not running:
                return
            finished, _ = ray.wait(list(running))
            for reference in finished:
                job, worker = running.pop(reference)
                if actors:
                    idle_actors.append(worker)
                yield job, _read_result(ray, reference, job)
    finally:
        # Tasks end with this driver's job. Cancelling one as it ends would crash Ray.
        for actor in actors:
            ray.kill(actor)


def _read_result(ray: Any, reference: Any, job: ShardJob) -> Causes:
    """What a worker returned; one that died is a failure of its shard."""
    try:
        return dict(ray.get(reference))
    except ray.exceptions.RayError as problem:
        lines = str(problem).strip().splitlines()
        # An error inside the worker ends with its own message, others begin with theirs.
        cause = lines[-1] if hasattr(problem, "cause") else lines[0]
        first_id = job.questions[0].id
        last_id = job.questions[-1].id
        message = (
            f"shard {job.name} (prompts {first_id!r} to {last_id!r}) failed {_RETRIES + 1} times "
            f"({cause})"
        )
        return {f"shard {job.name}": DarcError(message, _RESUME_HINT)}


class ShardActor:
    """Fills shards in a process of its own."""

    def fill(self, job: ShardJob) -> Causes:
        """Fill a shard, and return what failed."""
        return fill_shard(job)


def fill_shard(job: ShardJob) -> Causes:
    """Fill and seal a shard in a worker, and return what failed."""
    failures = Failures()
    try:
        _fill(job, failures)
    except DarcError as problem:
        causes = failures.causes or {"": problem}
        return {prompt_id: _as_sendable(cause) for prompt_id, cause in causes.items()}
    except OSError as problem:
        path = problem.filename or job.folder
        return {"": DarcError(f"{path}: {problem.strerror or problem}", _RESUME_HINT)}
    return {}


def _as_sendable(problem: DarcError) -> DarcError:
    """An error that can be pickled: those of other classes take other arguments."""
    if problem.exit_code == InputError.exit_code:
        return InputError(problem.message, problem.hint)
    return DarcError(problem.message, problem.hint)


def _fill(job: ShardJob, failures: Failures) -> None:
    _check_node(job)
    path = job.folder / "shards" / job.name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    lock = FileLock(path.with_name(f".{job.name}.lock"), timeout=_LOCK_SECONDS, mode=0o600)
    try:
        with lock:
            shard = Shard(path, job.manifest, job.name)
            if shard.finished(bool(job.fill_options["lazy"])):
                return
            shard.begin()
            engine = _engine_for(job.engine_options)
            _check_embeddings(job, engine)
            shards = [(shard, job.questions)]
            engine.run(fill_shards(shards, engine, failures=failures, **job.fill_options))
    except Timeout:
        message = f"another worker is at work on shard {job.name}"
        raise DarcError(message, _RESUME_HINT) from None


def _check_node(job: ShardJob) -> None:
    """Check that this node has the same DARC, and sees the same run."""
    node = platform.node()
    if job.version != darc.__version__:
        raise DarcError(
            f"{node} has DARC {darc.__version__}, and the run was begun with {job.version}",
            "install the same on every node",
        )
    manifest: Mapping[str, Any] = {}
    if job.folder.is_dir():
        manifest = RunFolder(job.folder).manifest()
    if checksum(manifest) != checksum(job.manifest):
        raise InputError(
            f"{node} does not see the run in {job.folder}", "choose a folder that all nodes share"
        )


def _check_embeddings(job: ShardJob, engine: Engine) -> None:
    """Check that the scorers use the embeddings that the run began with."""
    installed = {
        scorer.name: scorer.embeddings for scorer in engine.tools.scorers if scorer.embeddings
    }
    scorer_settings = job.manifest["settings"]["scorers"]
    expected = {row["name"]: row["embeddings"] for row in scorer_settings if "embeddings" in row}
    if installed != expected:
        raise DarcError(
            f"{platform.node()} has other embeddings installed than the run began with",
            "install the same on every node, or name them: relevance,embeddings=static",
        )


# The engine of this worker, by its pickled options. It is kept for the next shard.
_ENGINES: dict[bytes, Engine] = {}


def _engine_for(options: Mapping[str, Any]) -> Engine:
    key = pickle.dumps(dict(options))
    if key not in _ENGINES:
        while _ENGINES:
            _, old_engine = _ENGINES.popitem()
            old_engine.close()
        _ENGINES[key] = Engine(**options)
    return _ENGINES[key]


@contextmanager
def _connection(ray: Any, cluster: Cluster) -> Iterator[None]:
    """A connection to a cluster that has the resources, or to one on this machine."""
    address = cluster.address or os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    if not address:
        options["include_dashboard"] = False
    try:
        _check_reachable(address or "")
        ray.init(address or "local", **options)
    except (OSError, RuntimeError, ValueError) as problem:
        reason = str(problem).strip().splitlines()[0]
        raise DarcError(
            f"there is no Ray cluster at {address} ({reason})", "see --address"
        ) from None
    try:
        _check_resources(ray, cluster)
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Connect to an address HOST:PORT once, because Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "//" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _check_resources(ray: Any, cluster: Cluster) -> None:
    """Refuse workers that could never be placed, because Ray would wait for them in silence."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    totals = ray.cluster_resources()
    n_workers = max(1, cluster.actors)
    for resource, option, per_worker in (
        ("CPU", "--workers or --ray-cpus", float(cluster.cpus)),
        ("GPU", "--ray-gpus", cluster.gpus),
    ):
        total = totals.get(resource, 0.0)
        largest_node = max(node.get(resource, 0.0) for node in nodes)
        if per_worker > largest_node:
            raise InputError(
                f"a worker wants {per_worker:g} {resource}s, and no node of the cluster has more "
                f"than {largest_node:g}",
                f"give a smaller {option}, or add nodes",
            )
        if per_worker * n_workers > total:
            raise InputError(
                f"{n_workers} actors with {per_worker:g} {resource}s each cannot be placed: the "
                f"cluster has {total:g}",
                "give fewer --ray-actors, or add nodes",
            )


@contextmanager
def _output_on_stderr() -> Iterator[None]:
    """Send what Ray's processes print to standard error: standard output is for results."""
    sys.stdout.flush()
    original_stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(original_stdout, 1)
        os.close(original_stdout)
