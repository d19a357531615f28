"""The process beside the Host: it ends what is marked when the Host is gone, and itself when there is nothing to do."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from parlour.plugin_runtime.process import orphan_cleanup
from parlour.plugin_runtime.process.reaper import HOST_MARK, ReaperProcess, new_mark

HOST = """
import asyncio, os, subprocess, sys
from parlour.plugin_runtime.process.reaper import Guardian, new_mark
from parlour.plugin_runtime.process import leftovers

async def main():
    guardian = Guardian()
    await guardian.start()
    daemon = subprocess.Popen(
        ["/bin/sleep", "600"], env={leftovers.VARIABLE: new_mark()}, start_new_session=True, stdout=subprocess.DEVNULL
    )
    print(daemon.pid, guardian._process.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def ignores(pid: int, number: signal.Signals) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [mask] = [int(line.split()[1], 16) for line in lines if line.startswith("SigIgn:")]
    return bool(mask & 1 << (number - 1))


def test_what_plugins_left_ends_with_a_host_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        pids = [int(word) for word in host.stdout.readline().split()]
        assert not any(gone(pid) for pid in pids)

        host.kill()

    until = time.monotonic() + 5
    while not all(gone(pid) for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.01)


async def test_it_is_started_once_and_ends_with_its_host() -> None:
    guardian = ReaperProcess()
    await asyncio.gather(guardian.start(), guardian.start())
    process = guardian._process
    assert process is not None
    async with asyncio.timeout(30):
        while not ignores(process.pid, signal.SIGTERM):  # noqa: ASYNC110 - another process tells of nothing
            await asyncio.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)  # a signal to everybody must not end it before its Host

    await guardian.close()

    assert process.returncode == 0
    await guardian.close()


def test_only_the_marked_are_found() -> None:
    mark = new_mark()
    with (
        subprocess.Popen(["/bin/sleep", "600"], env={"A": "1", orphan_cleanup.VARIABLE: mark}) as marked,
        subprocess.Popen(["/bin/sleep", "600"], env={f"NOT_{orphan_cleanup.VARIABLE}": mark}) as other,
    ):
        assert marked.pid in orphan_cleanup.find_marked(HOST_MARK)
        assert orphan_cleanup.find_marked(mark) == {marked.pid}
        assert orphan_cleanup.find_marked("no such mark") == set()

        orphan_cleanup.kill_marked(mark)

        assert marked.wait(5) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
