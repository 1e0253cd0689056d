"""Runs on a real cluster of two nodes: the same bytes, whatever dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import FakeServer
from tests.fakes.answers import number
from tests.helpers import check_interrupted
from tests.runs.makers import contents

from darc.runs.folder import RunFolder

pytestmark = pytest.mark.ray

PROMPTS = 24
SIZE = 4
PARTS = (*("--generator", "echo", "-k", 2, "--n-aug", 1, "--rewriter", "openings"), "--no-guard")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=options)
    made.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    yield made
    made.shutdown()


class Case:
    """A file of prompts, the scorer's folder, and runs of both."""

    def __init__(self, place: Path, address: str) -> None:
        self.place = place
        self.address = address
        self.faults = place / "faults"
        self.faults.mkdir()
        rows = [
            {"id": str(i), "turns": [f"Why is it {i}?", "And then?"][: 1 + i % 2]}
            for i in range(PROMPTS)
        ]
        self.prompts = place / "prompts.jsonl"
        self.prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def command(self, out: str, *more: object) -> list[str]:
        scorer = ("--scorer", f"faulty:{self.faults}", "--shard-size", SIZE, "--no-cache")
        files = ("--prompts", self.prompts, "--out", self.place / out)
        line = (sys.executable, "-m", "darc", "run", *files, *PARTS, *scorer, *more)
        return list(map(str, line))

    def on_ray(self, *more: object, out: str = "run") -> list[str]:
        return self.command(out, "--engine", "ray", "--address", self.address, *more)

    def begin(self, *more: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.on_ray(*more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def done(self, *more: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.on_ray(*more, **options), capture_output=True, text=True, check=False, timeout=120
        )

    def expected(self, *more: object) -> dict[str, bytes]:
        """What a run on this machine, with nothing wrong, writes."""
        for path in self.faults.iterdir():
            if path.name != "log":
                path.unlink()
        log = (self.faults / "log").read_text() if (self.faults / "log").exists() else ""
        command = self.command("local", "--workers", 0, *more)
        subprocess.run(command, check=True, capture_output=True)
        (self.faults / "log").write_text(log)
        return contents(self.place / "local")

    def asked(self) -> list[tuple[int, str]]:
        """The process and the prompt of every score; a full disk may cut a line."""
        path = self.faults / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        words = [line.split() for line in lines]
        return [(int(each[0]), each[1]) for each in words if len(each) == 2]

    def sealed(self) -> dict[str, set[str]]:
        """The prompts of every sealed shard."""
        folder = RunFolder(self.place / "run")
        if not (folder.path / "manifest.json").exists():
            return {}
        return {
            shard.name: {str(prompt_id) for prompt_id in shard.rows("prompts.jsonl")}
            for shard in folder.shards()
            if shard.seal_data is not None
        }

    def until(self, there: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait for something."""
        end = time.monotonic() + seconds
        while not there():
            assert time.monotonic() < end, self.asked()
            time.sleep(0.02)


@pytest.fixture
def case(cluster: Any, tmp_path: Path) -> Case:
    return Case(tmp_path, cluster.address)


def test_same_bytes_as_on_this_machine_and_nothing_twice(case: Case) -> None:
    done = case.done("--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["prompts"] == PROMPTS * 3 // 2
    assert len({process for process, _ in case.asked()}) == 2
    assert contents(case.place / "run") == case.expected()
    asked = len(case.asked())
    assert case.done().returncode == 0
    assert len(case.asked()) == asked
    assert not list((case.place / "run" / "shards").glob(".*"))


def test_stopping_early_is_the_same_on_a_cluster(case: Case) -> None:
    stop = ("-k", 6, "--stop", "pandora:cost=0.1", "--json")
    done = case.done(*stop)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["saved"] > 0
    assert contents(case.place / "run") == case.expected(*stop)


def test_actors_give_the_same_bytes_and_are_checked_first(case: Case) -> None:
    refused = case.done("--ray-actors", 2, "--ray-gpus", 1)
    assert refused.returncode == 2
    assert refused.stderr.startswith("darc: a worker wants 1 GPUs, and no node of the cluster has")
    assert refused.stderr.count("\n") == 1
    assert "3 actors with 1 CPUs each cannot be placed: the cluster has 2" in (
        case.done("--ray-actors", 3).stderr
    )
    (case.faults / "once").write_text("9")
    # Three fit where each takes half of a CPU.
    done = case.done("--ray-actors", 3, "--ray-cpus", 0.5)
    assert done.returncode == 0, done.stderr
    assert contents(case.place / "run") == case.expected()


def written_or_graded(body: dict[str, Any], index: int) -> str:
    """A reply that is a function of the request: grades of what a judge is shown, or an answer."""
    shown_answers = body["messages"][-1]["content"].count("[END ANSWER")
    if not shown_answers:
        return str(number(body["messages"], body["seed"], index) % 11)
    grades = [number(body["messages"], place) % 11 for place in range(shown_answers)]
    return json.dumps({"grades": grades})


def test_panel_gives_the_same_bytes(case: Case, openai_server: FakeServer) -> None:
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = written_or_graded
    model = ("--generator", f"openai:fake@{openai_server.url},key_env=", "-k", "3", "--lazy")
    files = ("--prompts", str(case.prompts), "--shard-size", str(SIZE), "--no-cache")
    panel = ("--panel", "3", "--out")
    run = [sys.executable, "-m", "darc", "run", *files, *model, *panel]
    on_ray = ["--engine", "ray", "--address", case.address]
    for out, more in (("local", []), ("run", on_ray)):
        command = [*run, str(case.place / out), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
    assert contents(case.place / "run") == contents(case.place / "local")


def test_killed_worker_is_replaced_and_results_stay_clean(case: Case) -> None:
    (case.faults / "once").write_text("10")
    done = case.done("--json")
    assert done.returncode == 0, done.stderr
    assert not (case.faults / "once").exists()
    assert json.loads(done.stdout)["prompts"] == PROMPTS * 3 // 2
    assert contents(case.place / "run") == case.expected()


def test_removed_node_is_done_without(case: Case, cluster: Any) -> None:
    # So slow that the third worker, which may start late, still finds a shard to do.
    (case.faults / "slow").write_text("1")
    node = cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    with case.begin("--json") as running:
        case.until(lambda: len({process for process, _ in case.asked()}) >= 3)
        (case.faults / "slow").write_text("0.05")
        cluster.remove_node(node, allow_graceful=False)
        out, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert json.loads(out)["prompts"] == PROMPTS * 3 // 2
    assert contents(case.place / "run") == case.expected()


def test_poison_is_named_and_the_others_finish(case: Case) -> None:
    (case.faults / "poison").write_text("9")
    done = case.done("--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "scorer 'faulty', prompt '9': it failed (poison)" in done.stderr.splitlines()[-1]
    assert sorted(case.sealed()) == ["00000", "00001", "00003", "00004", "00005"]
    (case.faults / "poison").unlink()
    (case.faults / "deadly").write_text("9")
    done = case.done()
    assert done.returncode == 1
    assert "shard 00002 (prompts '8' to '11') failed 3 times" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    (case.faults / "deadly").unlink()
    assert case.done().returncode == 0
    assert contents(case.place / "run") == case.expected()


def test_full_disk_is_named_and_nothing_sealed_is_lost(case: Case) -> None:
    (case.faults / "slow").write_text("0.1")
    with case.begin() as running:
        case.until(lambda: len(case.sealed()) >= 2)
        (case.faults / "limit").write_text("600")
        _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    assert f"darc: {case.place / 'run' / 'shards'}" in said
    assert "jsonl: File too large; correct the cause and run again" in said.splitlines()[-1]
    kept = case.sealed()
    assert 2 <= len(kept) < PROMPTS / SIZE
    (case.faults / "limit").unlink()
    before = len(case.asked())
    # The workers of the first driver, which have the limit, have ended with it.
    assert case.done().returncode == 0
    again = {prompt_id for _, prompt_id in case.asked()[before:]}
    assert not again & set().union(*kept.values())
    assert contents(case.place / "run") == case.expected()


def test_killed_driver_loses_nothing_and_repeats_nothing_sealed(case: Case) -> None:
    (case.faults / "slow").write_text("0.1")
    for wanted in (1, 3):
        with case.begin() as running:
            case.until(lambda wanted=wanted: len(case.sealed()) >= wanted)  # type: ignore[misc]
            running.send_signal(signal.SIGKILL)
        kept = case.sealed()
        before = len(case.asked())
    assert case.done().returncode == 0
    again = {prompt_id for _, prompt_id in case.asked()[before:]}
    assert again
    assert not again & set().union(*kept.values())
    assert contents(case.place / "run") == case.expected()


def test_interrupt_ends_soon_and_keeps_what_is_sealed(case: Case) -> None:
    (case.faults / "slow").write_text("0.2")
    with case.begin() as running:
        case.until(lambda: len(case.sealed()) >= 1)
        started = time.monotonic()
        running.send_signal(signal.SIGINT)
        check_interrupted(running, started, "go on with the same command", 10 / 3)
    assert 1 <= len(case.sealed()) < PROMPTS / SIZE
    asked = len(case.asked())
    time.sleep(1)
    assert len(case.asked()) == asked
    case.expected()
    assert case.done().returncode == 0
    assert contents(case.place / "run") == contents(case.place / "local")


def test_kubernetes_example_has_the_fields_of_a_ray_job() -> None:
    import yaml

    from darc.cli.commands import read_settings

    path = Path(__file__).parents[2] / "deploy" / "kuberay.yaml"
    job = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(job) == {"apiVersion", "kind", "metadata", "spec"}
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    spec = job["spec"]
    assert set(spec) == {
        *("entrypoint", "backoffLimit", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished"),
        "rayClusterSpec",
    }
    ray = spec["rayClusterSpec"]
    assert set(ray) == {"rayVersion", "headGroupSpec", "workerGroupSpecs"}
    assert set(ray["headGroupSpec"]) == {"rayStartParams", "template"}
    (workers,) = ray["workerGroupSpecs"]
    assert set(workers) == {
        *("groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template")
    }
    assert workers["minReplicas"] <= workers["replicas"] <= workers["maxReplicas"]
    for group in (ray["headGroupSpec"], workers):
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounted == {"shared": "/shared"}
        assert [volume["name"] for volume in pod["volumes"]] == ["shared"]
        assert all(isinstance(each["value"], str) for each in container["env"])
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
    options = read_settings(spec["entrypoint"].split()[1:])
    assert (options.engine, options.out) == ("ray", Path("/shared/run"))


def test_cluster_that_is_not_there(case: Case) -> None:
    case.address = "127.0.0.1:1"
    done = case.done()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("darc: there is no Ray cluster at 127.0.0.1:1")
