"""The reaper process ends marked processes when the Host is gone, and itself when the Host closes it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from parlour.isolation import orphan_cleanup
from parlour.isolation.reaper import HOST_MARK, ReaperProcess, new_mark

HOST = """
import asyncio, os, subprocess, sys
from parlour.isolation.reaper import ReaperProcess, new_mark
from parlour.isolation import orphan_cleanup

async def main():
    reaper = ReaperProcess()
    await reaper.start()
    daemon = subprocess.Popen(
        ["/bin/sleep", "600"],
        env={orphan_cleanup.VARIABLE: new_mark()},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )
    print(daemon.pid, reaper._process.pid, flush=True)
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


def test_processes_of_plugins_end_with_a_killed_host() -> None:
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        pids = [int(word) for word in host.stdout.readline().split()]
        assert [gone(pid) for pid in pids] == [False, False]

        host.kill()

    deadline = time.monotonic() + 5
    while not all(gone(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)


async def test_the_reaper_is_started_once_and_ends_with_its_host() -> None:
    reaper = ReaperProcess()
    await asyncio.gather(reaper.start(), reaper.start())
    process = reaper._process
    assert process is not None
    async with asyncio.timeout(30):
        while not ignores(process.pid, signal.SIGTERM):  # noqa: ASYNC110 - another process sends no notification
            await asyncio.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)  # a signal to the whole process group must not end it before its Host

    await reaper.close()

    assert process.returncode == 0
    await reaper.close()


def test_only_marked_processes_are_found_and_killed() -> None:
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
