"""Real processes without a sandbox: their environment, their limits, and the cleanup of all child processes."""

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from parlour.isolation import cgroup, orphan_cleanup
from parlour.isolation.process import spawn
from parlour.isolation.process_tree import ProcessInfo
from parlour.plugin_runtime.process.launcher import DATA_VARIABLE, LaunchSpec, PlainProcess, environment
from parlour_sdk.wire import WireLimits

MEBIBYTE = 1024 * 1024
DEFINE_REPORT = (
    "import json, os, sys, time\nreport = lambda fact: print(json.dumps(fact), file=sys.stderr, flush=True)\n"
)
FOREVER = "\nwhile True: time.sleep(60)\n"
UNUSED_PID = 10_000_000
"""No process has an id this high."""

Run = Callable[[str], Awaitable[PlainProcess]]


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    """Starts Python code like a plugin; standard error is its log."""
    made: list[PlainProcess] = []

    async def run(code: str) -> PlainProcess:
        start = LaunchSpec("acme/reporting", tmp_path, tmp_path)
        process = await spawn(
            [sys.executable, "-c", DEFINE_REPORT + code], start.folder, PlainProcess, environment(start)
        )
        made.append(process)
        return process

    yield run
    for process in made:
        await process.kill()
        await process.wait()
        process.close()
        process.wire(WireLimits()).close()


async def read_report(process: PlainProcess) -> Any:
    line = await asyncio.wait_for(process.log.readline(), 10)
    return json.loads(line)


def alive(pid: int) -> bool:
    """Returns whether the process exists and is no zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def test_no_secret_of_the_host_is_in_a_plugins_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PARLOUR__SECRET", "OPENAI_API_KEY", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "not for plugins")
    monkeypatch.setenv("LANG", "C.UTF-8")

    environment = await read_report(await run("report(dict(os.environ))"))

    assert "not for plugins" not in environment.values()
    assert environment["LANG"] == "C.UTF-8"
    allowed = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT", "PYTHONPATH"}
    ours = {DATA_VARIABLE, orphan_cleanup.VARIABLE, "PYTHONUNBUFFERED"}
    assert environment.keys() <= allowed | ours | {"LC_CTYPE", "PWD"}


async def test_a_plugin_inherits_no_open_file_of_the_host(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "private").open("wb") as private:
        os.set_inheritable(private.fileno(), True)

        files = await read_report(
            await run(
                "numbers = [number for number in range(64) if os.path.lexists(f'/proc/self/fd/{number}')]\n"
                "report([os.readlink(f'/proc/self/fd/{number}') for number in numbers])"
            )
        )

    assert len(files) == 3
    assert all(file.startswith("pipe:") for file in files)


async def test_limits_apply_to_a_process_and_its_children(run: Run) -> None:
    process = await run(
        "import resource, subprocess\n"
        "os.read(0, 1)\n"
        "print_limits = 'import os, resource; print([os.nice(0), *resource.getrlimit(resource.RLIMIT_NOFILE)])'\n"
        "report(json.loads(subprocess.run([sys.executable, '-c', print_limits], capture_output=True).stdout))\n"
    )

    await process.apply_limits(200, 7)
    os.write(process.write_fd, b"x")

    assert await read_report(process) == [min(19, os.nice(0) + 7), 200, 200]
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 200


async def test_the_search_for_a_process_that_keeps_forking_ends(run: Run) -> None:
    process = await run(FOREVER)
    scans = count()

    def alive() -> list[ProcessInfo]:
        """Returns the processes while each child starts the next one and exits."""
        assert next(scans) < 1000, "the search for processes does not end"
        return [ProcessInfo(process.pid, 0, 0), ProcessInfo(UNUSED_PID + next(scans), 0, 0)]

    process.tree.alive = alive  # type: ignore[method-assign]

    assert await process.apply_limits(200, 7) == 2


def session_niceness(pid: int) -> int | None:
    """Returns None if the kernel has no autogroups."""
    group = Path(f"/proc/{pid}/autogroup")
    return int(group.read_text().split()[-1]) if group.exists() else None


async def test_the_niceness_applies_to_the_session_of_a_process(run: Run) -> None:
    process = await run("report('up')" + FOREVER)
    assert await read_report(process) == "up"

    await process.apply_limits(200, 7)
    async with asyncio.timeout(30):
        while session_niceness(process.pid) not in (None, 7):
            await asyncio.sleep(0.2)  # the kernel limits how often unprivileged processes may set it
            await process.apply_limits(200, 7)
    assert session_niceness(process.pid) in (None, 7)


async def test_the_niceness_applies_to_a_child_in_another_session(run: Run) -> None:
    process = await run(
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "report(child.pid)" + FOREVER
    )
    child = await read_report(process)

    assert await process.apply_limits(200, 7) == 2
    async with asyncio.timeout(30):
        while session_niceness(child) not in (None, 7):
            await asyncio.sleep(0.2)
            await process.apply_limits(200, 7)
    assert session_niceness(child) in (None, 7)


async def test_a_process_and_its_child_in_another_session_share_one_control_group(run: Run) -> None:
    """On a machine where this user may not create control groups, there is none."""
    process = await run(
        "import subprocess\n"
        "os.read(0, 1)\n"
        "cgroups = subprocess.run(['cat', '/proc/self/cgroup'], start_new_session=True, capture_output=True).stdout\n"
        "report(cgroups.decode())"
    )
    await process.apply_limits(200, 7)
    os.write(process.write_fd, b"x")

    assert (f"/parlour-{os.getpid()}-" in await read_report(process)) == (cgroup.cgroup_parent() is not None)
    await process.wait()
    process.close()
    place = cgroup.cgroup_parent()
    assert place is None or list(place.folder.glob(f"parlour-{os.getpid()}-*")) == []


async def test_all_descendants_end_with_a_process(run: Run) -> None:
    process = await run(
        "import signal, subprocess\n"
        "hide = 'import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)'\n"
        "child = subprocess.Popen([sys.executable, '-c', hide])\n"
        "other_session = subprocess.Popen([sys.executable, '-c', hide], start_new_session=True)\n"
        "read, write = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    daemon = os.fork()\n"
        "    if daemon:\n"
        "        os.write(write, str(daemon).encode())\n"
        "        os._exit(0)\n"
        "    time.sleep(600)\n"
        "os.wait()\n"
        "report([child.pid, other_session.pid, int(os.read(read, 20))])" + FOREVER
    )
    pids = await read_report(process)
    assert all(alive(pid) for pid in pids)

    await process.kill()

    assert await asyncio.wait_for(process.wait(), 30) == -signal.SIGKILL
    assert not any(alive(pid) for pid in pids)


async def test_a_child_without_the_mark_is_ended_after_its_parent_has_exited(run: Run) -> None:
    process = await run(
        "import subprocess\n"
        "child = subprocess.Popen(['/bin/sleep', '600'], env={}, start_new_session=True)\n"
        "report(child.pid)\n"
        "os.read(0, 1)\n"
    )
    pid = await read_report(process)
    assert process.tree.resident_bytes() > 0  # the tree is read, like every two seconds in production
    os.write(process.write_fd, b"x")
    assert await asyncio.wait_for(process.wait(), 30) == 0
    assert alive(pid)

    await process.kill()

    assert not alive(pid)


async def test_the_exit_of_a_process_is_noticed_while_a_child_keeps_its_log_open(run: Run) -> None:
    process = await run("import subprocess\nsubprocess.Popen(['/bin/sleep', '600'])\nsys.exit(5)")

    assert await asyncio.wait_for(process.wait(), 30) == 5


async def test_memory_is_counted_with_that_of_the_children(run: Run) -> None:
    process = await run(
        "if os.fork() == 0:\n"
        "    held = bytearray(os.urandom(1024)) * (100 * 1024)\n"
        "    report('held')\n"
        "    time.sleep(600)" + FOREVER
    )
    assert not await process.uses_more_than(1000 * MEBIBYTE)

    assert await read_report(process) == "held"

    assert await process.uses_more_than(100 * MEBIBYTE)
    assert not await process.uses_more_than(200 * MEBIBYTE)


async def test_memory_that_processes_share_is_counted_once(run: Run) -> None:
    process = await run(
        "held = bytearray(os.urandom(1024)) * (100 * 1024)\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)\n"
        "report('forked')" + FOREVER
    )
    assert await read_report(process) == "forked"

    assert process.tree.resident_bytes() > 400 * MEBIBYTE
    assert not await process.uses_more_than(200 * MEBIBYTE)


async def test_memory_of_processes_that_exit_during_the_count_is_not_counted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = await run(
        "held = bytearray(os.urandom(1024)) * (100 * 1024)\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)\n"
        "report('forked')" + FOREVER
    )
    assert await read_report(process) == "forked"
    seen = process.tree.alive()
    assert sum(each.resident_bytes for each in seen) > 400 * MEBIBYTE
    await process.kill()

    monkeypatch.setattr(process.tree, "alive", lambda: seen)

    assert not await process.uses_more_than(200 * MEBIBYTE)


async def test_a_process_that_is_gone_uses_nothing_and_can_be_ended_again(run: Run) -> None:
    process = await run("")
    await process.wait()

    assert not await process.uses_more_than(0)
    await process.terminate()
    await process.kill()
