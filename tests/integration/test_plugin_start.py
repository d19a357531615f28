"""Thirty plugins: they take little to start, little memory, and are gone quickly."""

import time
from pathlib import Path

import psutil
import pytest

from .conftest import MakeHost
from .harness import processes_below
from .plugins import write_plugin

PLUGINS = 30
CORES = 2
READY_SECONDS = 12
MEGABYTE = 1_000_000


@pytest.mark.long
def test_two_idle_cores_have_thirty_plugins_ready_within_twelve_seconds_and_each_is_small(
    make_host: MakeHost, tmp_path: Path
) -> None:
    host = make_host()
    for number in range(PLUGINS):
        host.install(write_plugin(tmp_path / str(number), f"number{number}"))

    host.start()

    assert [each["status"] for each in host.items("/plugins")] == ["ready"] * PLUGINS
    processes = processes_below(host.data)
    assert sum(map(_processor_seconds, processes)) < CORES * READY_SECONDS, "whatever else the machine does meanwhile"
    assert max(process.memory_info().rss for process in processes_below(host.data / "plugins")) < 60 * MEGABYTE
    begun = time.monotonic()
    host.stop()
    assert time.monotonic() - begun < 10


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
