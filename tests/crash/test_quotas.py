"""Kills processes that share rate limits and reply allowances: used is never above allowed, and equals the effects."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from parlour.core.journal import Insert, Journal, Select, Unit, starts_with, where
from parlour.core.model.event import EventContext, EventEnvelope
from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.store import reply_allowances
from parlour.core.store.tables import LIMITS, META, REPLY_ALLOWANCES
from parlour.stores.migrate import ensure
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.postgres_server import PostgresServer
from tests.crash.quota_writer import ALLOWED, BOT, CHAT, EVENT, NOW

WRITERS = 3
KILLS = 2
"""Kills of each writer."""
SECONDS = 60


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Provides an empty database with all tables."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            ensure(tmp_path / "parlour.db")
            yield str(tmp_path / "parlour.db")
        else:
            server = stack.enter_context(PostgresServer())
            url = server.url(server.create())
            asyncio.run(migrate.ensure(url))
            yield url


def open_journal(address: str) -> PostgresJournal | SqliteJournal:
    return PostgresJournal(address) if address.startswith("postgres") else SqliteJournal(Path(address))


def allowance_of_event() -> Insert:
    event = EventEnvelope(
        event_id=EVENT,
        event_type="message.received",
        source="line",
        chat=CHAT,
        context=EventContext(EVENT),
        surface="sim",
        bot_id=BOT,
    )
    return reply_allowances.insert(event, ReplyAllowance("handle", count=ALLOWED, then="refuse"), NOW)


async def write_and_be_killed(address: str, name: str, kind: str, kill_after: list[int]) -> int:
    """Runs a writer, kills it after it has taken some uses, and starts it again; the last one ends by itself.

    Returns the number of kills.
    """
    kills = 0
    for number, lines in enumerate([*kill_after, 0]):
        command = ["-m", "tests.crash.quota_writer", address, f"{name}.{number}", kind]
        process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        try:
            for _ in range(lines):
                await process.stdout.readline()
            if not lines:
                await process.communicate()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)  # `process.kill` may take the exit status from the event loop
        await process.communicate()
        assert process.returncode == 0 or (lines and process.returncode == -signal.SIGKILL)
        kills += process.returncode != 0
    return kills


async def rows_about(journal: Journal, effect: str) -> list[str]:
    return [row["name"] for row in await journal.read(Select(META, where(name=starts_with(effect))))]


@pytest.mark.parametrize("kind", ["fixed", "sliding"])
async def test_killed_writers_never_take_more_than_allowed(address: str, kind: str) -> None:
    async with open_journal(address) as journal:
        await journal.commit(Unit("test.allow", (allowance_of_event(),)))
    dice = random.Random(kind)
    kills = [[dice.randrange(1, 20) for _ in range(KILLS)] for _ in range(WRITERS)]

    async with asyncio.timeout(SECONDS):
        counts = await asyncio.gather(
            *(write_and_be_killed(address, str(number), kind, each) for number, each in enumerate(kills))
        )

    assert sum(counts) >= KILLS
    async with open_journal(address) as journal:
        [limit], [allowance] = await journal.read(Select(LIMITS)), await journal.read(Select(REPLY_ALLOWANCES))
        assert (limit["used"], len(await rows_about(journal, "use "))) == (ALLOWED, ALLOWED)
        numbers = [int(name.split()[1]) for name in await rows_about(journal, "reply ")]
        assert (allowance["used"], sorted(numbers)) == (ALLOWED, list(range(1, ALLOWED + 1)))
