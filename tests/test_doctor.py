"""`dllint doctor`: what it makes of a machine, told by files in a folder, and of this one under limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from dllint.runtime.doctor import Fact, Interpreter, Machine, Verdict, Workload, examine
from dllint.runtime.doctor.environment import variables
from dllint.runtime.doctor.interpreter import NoInterpreter, ask, interpreter
from dllint.runtime.doctor.machine import Disk
from dllint.runtime.doctor.memory import memory
from dllint.runtime.doctor.processes import processes
from dllint.runtime.doctor.shared_memory import shared_memory

FORK = Interpreter("python", "3.11.7", "linux", "fork", "2.13.0", "")
SPAWN = FORK._replace(platform="darwin", start_method="spawn")
WORK = Workload(batch_mb=10, workers=4)
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux tells this in /proc")
V2 = {"sys/fs/cgroup/cgroup.controllers": "cpu memory pids", "proc/self/cgroup": "0::/job/step"}
V1 = {"proc/self/cgroup": "9:memory:/docker/abc\n8:pids:/docker/abc\n4:cpu,cpuacct:/docker/abc"}


class Told(Machine):
    """A machine whose files lie in a folder, and whose /dev/shm is as large as one says."""

    def __init__(self, root: Path, files: dict[str, str], shm: Disk | None = None, **environ: str) -> None:
        super().__init__(str(root), environ, "linux")
        self.shm = shm
        for path, text in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text + "\n", encoding="utf-8")

    def disk(self, place: str) -> Disk | None:
        return self.shm


def topics(facts: Any) -> dict[str, Fact]:
    """The facts by their topics."""
    return {fact.topic: fact for fact in facts}


def shm(machine: Machine, work: Workload = WORK) -> dict[str, Fact]:
    return topics(shared_memory(machine, work))


MEGABYTES = 1 << 20


@pytest.mark.parametrize(
    ("megabytes", "verdict"), [(64, Verdict.FAILS), (99, Verdict.FAILS), (120, Verdict.WARNING), (500, Verdict.OK)]
)
def test_shared_memory_must_hold_the_batches_on_their_way(tmp_path: Path, megabytes: int, verdict: Verdict) -> None:
    machine = Told(tmp_path, {}, Disk(megabytes * MEGABYTES, megabytes * MEGABYTES))
    needed = shm(machine)["shm-needed"]
    assert needed.verdict is verdict
    assert "100 MB of shared memory are needed: 10 batches of 10 MB" in needed.fact


def test_without_workers_nothing_is_needed(tmp_path: Path) -> None:
    machine = Told(tmp_path, {}, Disk(MEGABYTES, 0))
    assert shm(machine, Workload(10, 0))["shm-needed"].verdict is Verdict.OK


def test_no_shared_memory_at_all_fails(tmp_path: Path) -> None:
    assert shm(Told(tmp_path, {}))["shm"].verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("files", "environ", "remedy"),
    [
        ({".dockerenv": ""}, {}, "shm_size: 1gb"),
        ({"run/.containerenv": ""}, {}, "podman run --shm-size=1g"),
        ({}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "medium: Memory"),
        ({}, {"SLURM_JOB_ID": "7"}, "administrators"),
        ({}, {"container": "lxc"}, "Kubernetes: mount an emptyDir"),
        ({}, {}, "mount -o remount,size=1G /dev/shm"),
    ],
)
def test_the_remedy_is_for_where_one_is(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], remedy: str
) -> None:
    machine = Told(tmp_path, files, Disk(64 * MEGABYTES, 64 * MEGABYTES), **environ)
    assert remedy in shm(machine)["shm-needed"].remedy


def test_segments_whose_process_is_gone_are_leaked(tmp_path: Path) -> None:
    files = {"dev/shm/torch_7_1_0": "x" * 5000, "dev/shm/torch_8_1_0": "x", "dev/shm/other": "", "proc/8/stat": ""}
    leaked = shm(Told(tmp_path, files, Disk(1 << 30, 1 << 30)))["shm-leaked"]
    assert leaked.fact.startswith("1 of 2 segments of torch")
    assert leaked.verdict is Verdict.WARNING
    (tmp_path / "dev/shm/torch_7_1_0").unlink()
    assert shm(Told(tmp_path, {}, Disk(1 << 30, 1 << 30)))["shm-leaked"].verdict is Verdict.OK


MEMINFO = {"proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB"}


def test_the_lowest_limit_of_version_2_counts(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/job/step/memory.max": "max",
        "sys/fs/cgroup/job/memory.max": str(600 * MEGABYTES),
        "sys/fs/cgroup/job/memory.current": str(100 * MEGABYTES),
        "sys/fs/cgroup/job/step/memory.events": "low 0\noom 2\noom_kill 2",
    }
    machine = Told(tmp_path, {**MEMINFO, **V2, **files})
    facts = topics(memory(machine, WORK, SPAWN))
    assert facts["memory-limit"].fact.startswith("the control group may use 600 MB and uses 100 MB")
    assert facts["memory-workers"].verdict is Verdict.FAILS, "four workers take 580 MB, and 500 are left"
    assert topics(memory(machine, WORK, FORK))["memory-workers"].verdict is Verdict.OK
    assert facts["oom-killer"].verdict is Verdict.WARNING
    assert "2 of this control group" in facts["oom-killer"].fact


def test_limits_of_version_1_count(tmp_path: Path) -> None:
    folder = "sys/fs/cgroup/memory/docker/abc"
    files = {
        f"{folder}/memory.limit_in_bytes": str(2048 * MEGABYTES),
        f"{folder}/memory.usage_in_bytes": str(2000 * MEGABYTES),
        f"{folder}/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/pids/docker/abc/pids.max": "10",
        "sys/fs/cgroup/pids/docker/abc/pids.current": "8",
        "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "100000",
        "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000",
    }
    machine = Told(tmp_path, {**MEMINFO, **V1, **files})
    facts = topics(memory(machine, WORK, FORK))
    assert facts["memory-limit"].verdict is Verdict.WARNING
    assert "3 of this control group" in facts["oom-killer"].fact
    facts = topics(processes(machine, WORK))
    assert facts["processes-limit"].verdict is Verdict.FAILS
    assert facts["cores"].verdict is Verdict.WARNING
    assert facts["cores"].remedy.startswith("num_workers=1")


def test_a_container_sees_its_own_group_as_the_top(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/memory.max": str(MEGABYTES), "sys/fs/cgroup/cpu.max": "150000 100000"}
    machine = Told(tmp_path, {**V2, **files})
    assert machine.group.limit("memory", "memory.max", "") == (MEGABYTES, "/sys/fs/cgroup".strip())
    assert machine.group.cores() == 1.5


@pytest.mark.parametrize(("name", "verdict"), [("pt_data_worker", Verdict.WARNING), ("chrome", Verdict.NOTE)])
def test_who_was_killed_is_read_from_the_kernels_log(tmp_path: Path, name: str, verdict: Verdict) -> None:
    log = f"6,1,2,-;Memory cgroup out of memory: Killed process 7 ({name}) total-vm:1kB"
    machine = Told(tmp_path, {"dev/kmsg": log, "proc/vmstat": "nr_free 1\noom_kill 1"})
    fact = topics(memory(machine, WORK, FORK))["oom-killer"]
    assert fact.verdict is verdict
    assert (
        f"has killed 1 process for lack of memory, none known to be of this control group, among them {name}"
        in fact.fact
    )


def test_no_limits_are_no_limits(tmp_path: Path) -> None:
    machine = Told(tmp_path, {**MEMINFO, **V2, "sys/fs/cgroup/job/cpu.max": "max 100000"})
    assert machine.group.cores() is None
    assert "memory-limit" not in topics(memory(machine, WORK, FORK))


def test_swap_and_promises(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": "MemTotal: 100 kB\nSwapTotal: 1048576 kB\nSwapFree: 1024 kB",
        "proc/sys/vm/overcommit_memory": "2",
        "proc/sys/vm/max_map_count": "1000",
    }
    facts = topics(memory(Told(tmp_path, files), WORK, FORK))
    assert {facts[topic].verdict for topic in ("swap", "overcommit", "mappings")} == {Verdict.WARNING}


def test_what_the_environment_says(tmp_path: Path) -> None:
    environ = {"PYTORCH_CUDA_ALLOC_CONF": "x", "OMP_NUM_THREADS": "4096", "TOKENIZERS_PARALLELISM": "true"}
    facts = topics(variables(Told(tmp_path, {}, None, **environ), FORK))
    assert facts["PYTORCH_CUDA_ALLOC_CONF"].verdict is Verdict.OK
    assert facts["OMP_NUM_THREADS"].verdict is Verdict.WARNING
    assert facts["TOKENIZERS_PARALLELISM"].verdict is Verdict.WARNING
    assert "TOKENIZERS_PARALLELISM" not in topics(variables(Told(tmp_path, {}, None), FORK))


@linux
def test_a_folder_for_sockets_may_not_have_a_long_name(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 60) / ("y" * 60)
    folder.mkdir(parents=True)
    facts = topics(variables(Told(tmp_path, {}, None, TMPDIR=str(folder)), FORK))
    assert facts["temporary"].verdict is Verdict.FAILS


def test_this_python_is_asked() -> None:
    import multiprocessing

    python = ask(sys.executable)
    assert python.version == ".".join(map(str, sys.version_info[:3]))
    assert python.start_method == multiprocessing.get_context().get_start_method()
    assert {fact.topic for fact in interpreter(python)} == {"python", "torch", "start-method", "sharing-strategy"}


@pytest.mark.parametrize("executable", ["no-such-python", sys.executable.replace("python", "nothing")])
def test_no_python_is_said_to_be_none(executable: str) -> None:
    with pytest.raises(NoInterpreter, match="cannot be run"):
        ask(executable)
    result = CliRunner().invoke(cli, ["doctor", "--python", executable], standalone_mode=False)
    assert result.exit_code == 1 and "cannot be run" in str(result.exception)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_platforms_are_told_what_is_known(tmp_path: Path, platform: str) -> None:
    machine = Machine(str(tmp_path), {}, platform)
    facts = topics(examine(WORK, SPAWN._replace(platform=platform), machine))
    assert {"python", "start-method", "cores", "OMP_NUM_THREADS", "temporary"} <= set(facts)
    assert not {"shm", "memory-limit", "oom-killer"} & set(facts)


def test_the_command_says_what_it_assumed() -> None:
    told = CliRunner().invoke(cli, ["doctor", "--workers", "1"]).output
    assert "Assumed: batches of 18.4 MB" in told
    told = CliRunner().invoke(cli, ["doctor", "--workers", "1", "--batch-mb", "1"]).output
    assert "Assumed" not in told


# This machine, under limits.


def doctor(
    *arguments: str, before: str = "true", inside: tuple[str, ...] = ()
) -> tuple[int, dict[str, dict[str, str]]]:
    """Exit status and facts of the command, run in a shell after some preparation."""
    command = f"{before} && exec {sys.executable} -m dllint doctor --output-format json {' '.join(arguments)}"
    done = subprocess.run([*inside, "sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return done.returncode, {fact["topic"]: fact for fact in json.loads(done.stdout)["facts"]}


def namespaces() -> bool:
    """Whether file systems may be mounted apart here."""
    if not sys.platform.startswith("linux") or not shutil.which("unshare") or os.geteuid() != 0:
        return False
    return (
        subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True).returncode
        == 0
    )


@pytest.mark.skipif(not namespaces(), reason="needs root and mount namespaces")
def test_sixty_four_megabytes_of_shared_memory_fail_and_a_gigabyte_does_not() -> None:
    work = ("--batch-mb", "18.4", "--workers", "4")
    inside = ("unshare", "-m")
    small, large = (f"mount -t tmpfs -o size={megabytes}m tmpfs /dev/shm" for megabytes in (64, 1024))
    status, facts = doctor(*work, before=small, inside=inside)
    assert (status, facts["shm-needed"]["verdict"]) == (1, "fails")
    assert facts["shm"]["fact"] == "/dev/shm has 64 MB, 64 MB of it free"
    status, facts = doctor(*work, before=f"{large} && ulimit -n 4096", inside=inside)
    assert (status, facts["shm-needed"]["verdict"], facts["open-files"]["verdict"]) == (0, "ok", "ok")


@linux
@pytest.mark.parametrize(("limit", "verdict", "status"), [(32, "fails", 1), (256, "warning", 0), (4096, "ok", 0)])
def test_few_open_files_are_few(limit: int, verdict: str, status: int) -> None:
    got, facts = doctor("--workers", "4", "--batch-mb", "0.1", before=f"ulimit -n {limit}")
    assert facts["open-files"]["verdict"] == verdict
    others = any(fact["verdict"] == "fails" for topic, fact in facts.items() if topic != "open-files")
    assert got == (1 if others else status)
