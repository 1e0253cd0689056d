"""Runs on a Ray cluster: a shard is the unit of work and of retry."""

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
from darc.decide.method import Method
from darc.engine.engine import Engine
from darc.errors import DarcError, InputError, extra_needed
from darc.runs.folder import RunFolder
from darc.runs.questions import Question, Questions
from darc.runs.run import Failures, Report, counter, fill_shards, finish, waiting
from darc.runs.shard import Shard, checksum

RETRIES = 2
# How long a worker waits for one that is cut off, or was left by a driver that died.
PATIENCE = 60.0
GO_ON = "mend it and run again: what is sealed stays"


@dataclass(frozen=True)
class Cluster:
    """Where to work: `actors` that hold `gpus` each, or else as many tasks as there are CPUs."""

    address: str | None = None
    cpus: float = 1
    gpus: float = 0.0
    actors: int = 0


# Why prompts of a shard failed, by their ids, and under "" what ended it.
Causes = dict[str, DarcError]


@dataclass(frozen=True)
class ShardWork:
    """One shard as it is sent to a worker; `recipe` has the options of an `Engine`."""

    folder: Path
    name: str
    manifest: Mapping[str, Any]
    questions: list[Question]
    recipe: Mapping[str, Any]
    filling: Mapping[str, Any]
    version: str = darc.__version__


def run_on_ray(
    folder: RunFolder,
    questions: Questions,
    recipe: Mapping[str, Any],
    cluster: Cluster,
    report: Report = lambda stage, done, total: None,
    **filling: Any,
) -> None:
    """`run` on a cluster: the same bytes, wherever a shard is done.

    The folder is one that every node has. `filling` are the options of `fill_shards`.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with extra_needed("--engine ray", "ray"):
        import ray
    count, failures = counter("sealed", questions, report), Failures()
    data, place = folder.manifest(), folder.path.resolve()
    if data["schema"] == 1:
        raise InputError(f"{place} has no shards: it is of an older version", "go on without Ray")
    work = (
        ShardWork(place, shard.name, data, part, recipe, filling)
        for shard, part in waiting(folder, questions, bool(filling.get("lazy")), count)
    )
    with _quiet(), _connected(ray, cluster), closing(_done(ray, cluster, work)) as ended:
        for each, causes in ended:
            for name, problem in causes.items():
                if not name:
                    raise problem
                failures.add(name, problem)
            count(sum(len(question.turns) for question in each.questions) - len(causes))
    failures.check()
    finish(folder)
    for lock in (place / "shards").glob(".*.lock"):
        lock.unlink(missing_ok=True)


def _done(
    ray: Any, cluster: Cluster, work: Iterator[ShardWork]
) -> Generator[tuple[ShardWork, Causes]]:
    """Each shard and what became of it, in the order in which they end."""
    # Actors keep their models, and are started again when they die.
    options = {"num_cpus": cluster.cpus, "num_gpus": cluster.gpus}
    actor_of = ray.remote(max_restarts=-1, max_task_retries=RETRIES, **options)(Filler)
    actors = [actor_of.remote() for _ in range(cluster.actors)]
    idle, under_way = [actor.fill for actor in actors], dict[Any, tuple[ShardWork, Any]]()
    task = ray.remote(num_cpus=cluster.cpus, max_retries=RETRIES)(fill_shard)
    try:
        while True:
            # Two tasks for each that can be at work.
            room = max(2, 2 * int(ray.cluster_resources().get("CPU", 1) // cluster.cpus))
            for each in islice(work, len(idle) if actors else max(0, room - len(under_way))):
                fill = idle.pop() if actors else task
                under_way[fill.remote(each)] = each, fill
            if not under_way:
                return
            for sent in ray.wait(list(under_way))[0]:
                each, fill = under_way.pop(sent)
                if actors:
                    idle.append(fill)
                yield each, _heard(ray, sent, each)
    finally:
        # Tasks end with this driver's job: to cancel one as it ends would crash Ray.
        for actor in actors:
            ray.kill(actor)


def _heard(ray: Any, sent: Any, work: ShardWork) -> Causes:
    """What a worker returned; one that died is a failure of its shard, by its first prompt."""
    try:
        return dict(ray.get(sent))
    except ray.exceptions.RayError as problem:
        cause = str(problem).strip().splitlines()[-1 if hasattr(problem, "cause") else 0]
        first, last = work.questions[0].id, work.questions[-1].id
        where = f"shard {work.name} (prompts {first!r} to {last!r}) failed {RETRIES + 1} times"
        return {f"shard {work.name}": DarcError(f"{where} ({cause})", GO_ON)}


class Filler:
    """Fills shards in a process of its own."""

    def fill(self, work: ShardWork) -> Causes:
        """What became of a shard."""
        return fill_shard(work)


_KEPT: dict[bytes, Engine] = {}


def fill_shard(work: ShardWork) -> Causes:
    """Fill and seal a shard, in a worker; the engine is kept for the next one."""
    failures = Failures()
    try:
        _fill(work, failures)
    except DarcError as problem:
        # As what can be sent: others are not made of a message and a hint.
        return {
            name: (InputError if each.exit_code == 2 else DarcError)(each.message, each.hint)
            for name, each in (failures.causes or {"": problem}).items()
        }
    except OSError as problem:
        where = f"{problem.filename or work.folder}: {problem.strerror or problem}"
        return {"": DarcError(where, GO_ON)}
    return {}


def _fill(work: ShardWork, failures: Failures) -> None:
    node, path = platform.node(), work.folder / "shards" / work.name
    if work.version != darc.__version__:
        raise DarcError(
            f"{node} has DARC {darc.__version__}, and the run was begun with {work.version}",
            "install the same on every node",
        )
    known = RunFolder(work.folder).manifest() if work.folder.is_dir() else {}
    if checksum(known) != checksum(work.manifest):
        raise InputError(
            f"{node} does not see the run in {work.folder}", "choose a folder that all nodes share"
        )
    path.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        with FileLock(path.with_name(f".{work.name}.lock"), timeout=PATIENCE, mode=0o600):
            shard = Shard(path, work.manifest, work.name)
            if shard.finished(bool(work.filling["lazy"])):
                return
            shard.begin()
            engine, part = _engine(work.recipe), [(shard, work.questions)]
            used = {each.name: each.embeddings for each in engine.tools.scorers if each.embeddings}
            known = work.manifest["settings"]["scorers"]
            if used != {each["name"]: each["embeddings"] for each in known if "embeddings" in each}:
                raise DarcError(
                    f"{node} has other embeddings installed than the run began with",
                    "install the same on every node, or name them: relevance,embeddings=static",
                )
            engine.run(fill_shards(part, engine, failures=failures, **work.filling))
    except Timeout:
        raise DarcError(f"another worker is at work on shard {work.name}", GO_ON) from None


def _engine(recipe: Mapping[str, Any]) -> Engine:
    key = pickle.dumps(dict(recipe))
    if key not in _KEPT:
        while _KEPT:
            _KEPT.popitem()[1].close()
        label, parameters, beta, gamma = recipe["rule"]
        rule = Method.parse(label, parameters, beta=beta, gamma=gamma)
        _KEPT[key] = Engine(**{**recipe, "rule": rule})
    return _KEPT[key]


@contextmanager
def _connected(ray: Any, cluster: Cluster) -> Iterator[None]:
    """A cluster that has what is wanted: the one at the address, or this machine."""
    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    address = cluster.address or os.environ.get("RAY_ADDRESS")
    if not address:
        options |= {"include_dashboard": False}
    host, _, port = (address or "").rpartition(":")
    try:
        if host and port.isdecimal() and "//" not in host:
            # Ray itself would try for minutes.
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        ray.init(address or "local", **options)
    except (OSError, RuntimeError, ValueError) as problem:
        told = str(problem).strip().splitlines()[0]
        raise DarcError(f"there is no Ray cluster at {address} ({told})", "see --address") from None
    try:
        _check(ray, cluster)
        yield
    finally:
        ray.shutdown()


def _check(ray: Any, cluster: Cluster) -> None:
    """Refuse what could never be placed, since Ray would wait for it in silence."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    every, count = ray.cluster_resources(), max(1, cluster.actors)
    for name, option, each in (
        ("CPU", "--workers or --ray-cpus", float(cluster.cpus)),
        ("GPU", "--ray-gpus", cluster.gpus),
    ):
        has, most = every.get(name, 0.0), max(node.get(name, 0.0) for node in nodes)
        if each > most:
            raise InputError(
                f"a worker wants {each:g} {name}s, and no node of the cluster has more than "
                f"{most:g}",
                f"give a smaller {option}, or add nodes",
            )
        if each * count > has:
            raise InputError(
                f"{count} actors with {each:g} {name}s each cannot be placed: the cluster has "
                f"{has:g}",
                "give fewer --ray-actors, or add nodes",
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Standard output kept for results: what Ray's processes write there goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
