"""Tests real processes whose Host is paused between a commit and its effect: the effect happens on one Host only."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.core.cluster import owner_rows
from parlour.core.cluster.leases import HostFacts
from parlour.core.journal import Unit
from parlour.core.model.ids import HostId
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.postgres.leases import PostgresHostLeases
from parlour.testing.postgres_server import PostgresServer
from tests.cluster.lease_child import FENCED_STATUS

ROUNDS = 3
BOB = HostId("bob")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
async def url(server: PostgresServer) -> str:
    address = server.url(server.create())
    await migrate.ensure(address)
    return address


async def pause_and_take_over(url: str, effects: Path, gate: str) -> int:
    """Lets a Host pause between a commit and its effect, takes its part, and continues it. Returns its exit status."""
    command = ["-m", "tests.cluster.lease_child", url, "ann", str(effects), str(ROUNDS), gate]
    child = await asyncio.create_subprocess_exec(sys.executable, *command)
    leases = PostgresHostLeases(url, server_start_seconds=0)
    try:
        await asyncio.to_thread(os.waitid, os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
        slot = await leases.join(HostFacts(BOB, "bob", "1.0"))
        async with PostgresJournal(url, exclusive=True, slot=slot, host_id=BOB) as journal:
            while (await owner_rows.all_parts(journal))[0].host_id:
                await leases.renew(BOB)
                await leases.fence_expired()
            [part] = await owner_rows.all_parts(journal)
            await journal.commit(Unit("part.take", (owner_rows.take(part, BOB, 1),)))
        effects.open("a").write(f"bob {ROUNDS - 1}\n")
        os.kill(child.pid, signal.SIGCONT)
        return await child.wait()
    finally:
        await leases.close()
        if child.returncode is None:
            child.kill()
            await child.wait()


async def test_a_paused_host_has_no_effect_after_another_took_over_and_ends(url: str, tmp_path: Path) -> None:
    async with asyncio.timeout(30):
        status = await pause_and_take_over(url, tmp_path / "effects", "on")
    assert status == FENCED_STATUS
    assert (tmp_path / "effects").read_text().splitlines() == ["ann 0", "ann 1", "bob 2"]


@pytest.mark.long
async def test_without_the_gate_the_paused_host_would_repeat_the_effect(url: str, tmp_path: Path) -> None:
    async with asyncio.timeout(30):
        await pause_and_take_over(url, tmp_path / "effects", "off")
    assert (tmp_path / "effects").read_text().splitlines() == ["ann 0", "ann 1", "bob 2", "ann 2"]
