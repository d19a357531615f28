"""Real processes, started plainly: what they inherit, how they are restrained, and that nothing of them is left."""

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

from parlour.plugin_runtime.process import cgroup, orphan_cleanup
from parlour.plugin_runtime.process.launcher import DATA_VARIABLE, LaunchSpec, PlainProcess, environment, spawn
from parlour.plugin_runtime.process.process_tree import ProcessInfo
from parlour_sdk.wire import WireLimits

MEBIBYTE = 1024 * 1024
TELL = "import json, os, sys, time\ntell = lambda fact: print(json.dumps(fact), file=sys.stderr, flush=True)\n"
FOREVER = "\nwhile True: time.sleep(60)\n"
NOBODY = 10_000_000
"""No process has such a number."""

Run = Callable[[str], Awaitable[PlainProcess]]


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    """Starts Python code as a plugin is started; what it tells on standard error is its log."""
    made: list[PlainProcess] = []

    async def run(code: str) -> PlainProcess:
        start = LaunchSpec("acme/told", tmp_path, tmp_path)
        process = await spawn([sys.executable, "-c", TELL + code], start, PlainProcess, environment(start))
        made.append(process)
        return process

    yield run
    for process in made:
        await process.kill()
        await process.wait()
        process.close()
        process.wire(WireLimits()).close()


async def told(process: PlainProcess) -> Any:
    line = await asyncio.wait_for(process.log.readline(), 10)
    return json.loads(line)


def alive(pid: int) -> bool:
    """A zombie is not: it only waits for somebody to look at its status."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def test_no_secret_of_the_host_is_in_a_plugins_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PARLOUR__SECRET", "OPENAI_API_KEY", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "not for plugins")
    monkeypatch.setenv("LANG", "C.UTF-8")

    environment = await told(await run("tell(dict(os.environ))"))

    assert "not for plugins" not in environment.values()
    assert environment["LANG"] == "C.UTF-8"
    allowed = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT", "PYTHONPATH"}
    ours = {DATA_VARIABLE, orphan_cleanup.VARIABLE, "PYTHONUNBUFFERED"}
    assert environment.keys() <= allowed | ours | {"LC_CTYPE", "PWD"}


async def test_a_plugin_inherits_no_open_file_of_the_host(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "private").open("wb") as private:
        os.set_inheritable(private.fileno(), True)

        files = await told(
            await run(
                "numbers = [number for number in range(64) if os.path.lexists(f'/proc/self/fd/{number}')]\n"
                "tell([os.readlink(f'/proc/self/fd/{number}') for number in numbers])"
            )
        )

    assert len(files) == 3
    assert all(file.startswith("pipe:") for file in files)


async def test_a_process_and_its_children_are_restrained_from_outside(run: Run) -> None:
    process = await run(
        "import resource, subprocess\n"
        "os.read(0, 1)\n"
        "print_limits = 'import os, resource; print([os.nice(0), *resource.getrlimit(resource.RLIMIT_NOFILE)])'\n"
        "tell(json.loads(subprocess.run([sys.executable, '-c', print_limits], capture_output=True).stdout))\n"
    )

    await process.apply_limits(200, 7)
    os.write(process.write_fd, b"x")

    assert await told(process) == [min(19, os.nice(0) + 7), 200, 200]
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 200


async def test_a_process_that_is_another_at_every_look_is_not_looked_for_without_end(run: Run) -> None:
    process = await run(FOREVER)
    looks = count()

    def alive() -> list[ProcessInfo]:
        """What there is while one child after the other starts the next and ends."""
        assert next(looks) < 1000, "it is looked for again and again"
        return [ProcessInfo(process.pid, 0, 0), ProcessInfo(NOBODY + next(looks), 0, 0)]

    process.tree.alive = alive  # type: ignore[method-assign]

    assert await process.apply_limits(200, 7) == 2


def session_niceness(pid: int) -> int | None:
    """None where the kernel knows none."""
    group = Path(f"/proc/{pid}/autogroup")
    return int(group.read_text().split()[-1]) if group.exists() else None


async def test_a_process_stands_back_also_where_sessions_share_the_processor(run: Run) -> None:
    process = await run("tell('up')" + FOREVER)
    assert await told(process) == "up"

    await process.apply_limits(200, 7)
    async with asyncio.timeout(30):
        while session_niceness(process.pid) not in (None, 7):
            await asyncio.sleep(0.2)  # the kernel takes few such wishes a second of those without privileges
            await process.apply_limits(200, 7)


async def test_who_left_the_session_of_a_process_is_found_and_stands_back_too(run: Run) -> None:
    process = await run(
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "tell(child.pid)" + FOREVER
    )
    child = await told(process)

    assert await process.apply_limits(200, 7) == 2
    async with asyncio.timeout(30):
        while session_niceness(child) not in (None, 7):
            await asyncio.sleep(0.2)
            await process.apply_limits(200, 7)


async def test_a_process_and_whoever_left_its_session_share_one_control_group(run: Run) -> None:
    """On a machine where this user may make none, that there is none."""
    process = await run(
        "import subprocess\n"
        "os.read(0, 1)\n"
        "told = subprocess.run(['cat', '/proc/self/cgroup'], start_new_session=True, capture_output=True).stdout\n"
        "tell(told.decode())"
    )
    await process.apply_limits(200, 7)
    os.write(process.write_fd, b"x")

    assert (f"/parlour-{os.getpid()}-" in await told(process)) == (cgroup.cgroup_parent() is not None)
    await process.wait()
    process.close()
    place = cgroup.cgroup_parent()
    assert place is None or list(place.folder.glob(f"parlour-{os.getpid()}-*")) == []


async def test_what_a_process_has_started_ends_with_it_wherever_it_went(run: Run) -> None:
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
        "tell([child.pid, other_session.pid, int(os.read(read, 20))])" + FOREVER
    )
    pids = await told(process)
    assert all(alive(pid) for pid in pids)

    await process.kill()

    assert await asyncio.wait_for(process.wait(), 30) == -signal.SIGKILL
    assert not any(alive(pid) for pid in pids)


async def test_a_child_without_the_mark_is_found_by_its_parent_even_when_that_is_gone(run: Run) -> None:
    process = await run(
        "import subprocess\n"
        "child = subprocess.Popen(['/bin/sleep', '600'], env={}, start_new_session=True)\n"
        "tell(child.pid)\n"
        "os.read(0, 1)\n"
    )
    pid = await told(process)
    assert process.tree.resident_bytes() > 0  # it was looked at, as it is every other second
    os.write(process.write_fd, b"x")
    assert await asyncio.wait_for(process.wait(), 30) == 0
    assert alive(pid)

    await process.kill()

    assert not alive(pid)


async def test_its_end_is_noticed_although_a_child_holds_its_log(run: Run) -> None:
    process = await run("import subprocess\nsubprocess.Popen(['/bin/sleep', '600'])\nsys.exit(5)")

    assert await asyncio.wait_for(process.wait(), 30) == 5


async def test_memory_is_counted_with_that_of_the_children(run: Run) -> None:
    process = await run(
        "if os.fork() == 0:\n"
        "    held = bytearray(os.urandom(1024)) * (100 * 1024)\n"
        "    tell('held')\n"
        "    time.sleep(600)" + FOREVER
    )
    assert not await process.uses_more_than(1000 * MEBIBYTE)

    assert await told(process) == "held"

    assert await process.uses_more_than(100 * MEBIBYTE)
    assert not await process.uses_more_than(200 * MEBIBYTE)


async def test_memory_that_processes_share_is_counted_once(run: Run) -> None:
    process = await run(
        "held = bytearray(os.urandom(1024)) * (100 * 1024)\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)\n"
        "tell('forked')" + FOREVER
    )
    assert await told(process) == "forked"

    assert process.tree.resident_bytes() > 400 * MEBIBYTE
    assert not await process.uses_more_than(200 * MEBIBYTE)


async def test_memory_of_processes_that_end_while_it_is_counted_is_nobodys_any_more(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = await run(
        "held = bytearray(os.urandom(1024)) * (100 * 1024)\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(600)\n"
        "tell('forked')" + FOREVER
    )
    assert await told(process) == "forked"
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
