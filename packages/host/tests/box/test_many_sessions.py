"""Sessions in great number and slow starts, with real sandboxes: the limit holds, and no other session waits."""

import asyncio
import os
import shutil
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from parlour.box.bubblewrap_backend import BubblewrapBackend
from parlour.box.errors import BoxError
from parlour.box.sessions import REAP_SECONDS, BoxSessions
from parlour.box.skill_store import SkillStore
from parlour.box.workspaces import Workspaces
from parlour.core.box.messages import ExecRequest, SessionSpec
from parlour.isolation.availability import find_bubblewrap

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(900)]
LIMIT = 8
SLOW_START = """#!/bin/sh
case "$*" in */slow*) sleep 3;; esac
exec {program} "$@"
"""


@asynccontextmanager
async def opened(folder: Path, program: Path | None = None, idle_seconds: float = 300) -> AsyncIterator[BoxSessions]:
    backend = BubblewrapBackend(program, ())
    await backend.probe()
    store = SkillStore(folder / "skills", 7)
    sessions = BoxSessions(backend, Workspaces(folder / "workspaces", 7), store, idle_seconds, LIMIT)
    try:
        yield sessions
    finally:
        await sessions.close()


def command(session_id: str, text: str = "true") -> ExecRequest:
    spec = SessionSpec(session_id=session_id, cpus=1, memory_mb=128, processes=32)
    return ExecRequest(session=spec, command=text, timeout_seconds=30)


def sandboxes() -> list[psutil.Process]:
    """Returns the sandboxes below this process: each is one bubblewrap with another below it."""
    return [each for each in psutil.Process().children() if each.name() == "bwrap"]


async def test_s3_thousand_sessions_stay_within_the_limit_and_idle_ones_end_by_themselves(tmp_path: Path) -> None:
    async with opened(tmp_path, idle_seconds=1) as sessions:
        most = 0
        for number in range(1000):
            await sessions.exec(command(f"s{number}"))
            most = max(most, len(sandboxes()))
        assert most <= LIMIT + 1, "one more while it takes the place of another"
        assert len(sessions.all()) == LIMIT

        busy = [asyncio.create_task(sessions.exec(command(f"busy{number}", "sleep 5"))) for number in range(LIMIT)]
        while sum(session.users for session in sessions.all()) < LIMIT:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.05)
        refusals = await asyncio.gather(
            *(sessions.exec(command(f"more{number}")) for number in range(100)), return_exceptions=True
        )
        assert {each.code for each in refusals if isinstance(each, BoxError)} == {"capacity_exceeded"}
        assert len(refusals) == sum(isinstance(each, BoxError) for each in refusals)
        await asyncio.gather(*busy)

        sessions.start()
        async with asyncio.timeout(2 * REAP_SECONDS + 30):
            while sandboxes():  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.5)


async def test_s7_sandbox_that_starts_slowly_delays_no_command_of_other_sessions(tmp_path: Path) -> None:
    program = find_bubblewrap() or Path(shutil.which("bwrap") or "")
    slow = tmp_path / "bwrap"
    slow.write_text(SLOW_START.format(program=program))
    slow.chmod(0o755)
    async with opened(tmp_path, slow) as sessions:
        await sessions.exec(command("other"))
        starting = asyncio.create_task(sessions.exec(command("slow")))
        taken = []
        for _ in range(50):
            began = time.perf_counter()
            await sessions.exec(command("other"))
            taken.append(time.perf_counter() - began)
        assert not starting.done(), "the start was slow while the commands ran"
        assert (await starting)["code"] == 0
    p95 = statistics.quantiles(taken, n=20)[-1] * 1000
    print(f"\n50 commands beside a start of 3 s: p95 {p95:.1f} ms, {os.cpu_count()} cores")  # noqa: T201
    assert p95 < 50
