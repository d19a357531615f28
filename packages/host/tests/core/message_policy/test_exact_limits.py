"""Limits are exact: over Hosts that share a database, and over kills at every commit."""

import asyncio
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.journal import PreparedCallback, Receipt, Unit
from parlour.core.store.tables import INBOX, LIMITS, OUTCOMES, RUNS
from parlour.testing import MemoryDatabase

from ..support import (
    DISCOVERY,
    PLUGIN,
    BreakableJournal,
    CountedIds,
    PlatformSurface,
    PuppetPlugins,
    World,
    make_agent,
    settle,
    until,
)

ALLOWED = 5
QUOTA: dict[str, Any] = {"limits": [{"per": "agent", "count": ALLOWED, "window": "day"}]}
WRITERS = 3
MESSAGES = 30
EACH = 6
"""Messages to each writer of those that are killed: more than are allowed."""


class SlowJournal(BreakableJournal):
    """A journal whose commits take a moment, so that several are under way at a time."""

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        await asyncio.sleep(0.001)
        return await super().commit(unit, on_prepared)


class DyingJournal(BreakableJournal):
    """A journal that dies before or after a given commit."""

    commits_left = 10**9
    after = False

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        self.commits_left -= 1
        is_last = self.commits_left == 0  # further commits may begin meanwhile
        if is_last and not self.after:
            self.dead = True
        try:
            return await super().commit(unit, on_prepared)
        finally:
            if is_last:
                self.dead = True
                raise asyncio.CancelledError


class KilledJournal(SlowJournal, DyingJournal):
    """A slow journal that dies before or after a given commit."""


async def join(database: MemoryDatabase, ids: CountedIds, bot: str, journal: BreakableJournal | None = None) -> World:
    """Starts one more Host on a database; each has a bot of its own."""
    world = World(journal or SlowJournal(database), PuppetPlugins(echo=True), PlatformSurface(), ids)
    world.core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    await world.core.load()
    await world.core.routes.replace(bot, [Route("message.*", "agent", {"agent_id": "agent"})])
    world.core.lanes.open([])
    return world


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"gather": {"seconds": 0.5}},
        {"limits": [{**QUOTA["limits"][0], "window": "seconds", "seconds": 3600, "kind": "bucket"}]},
    ],
)
async def test_writers_together_never_answer_more_than_allowed(fields: dict[str, Any]) -> None:
    database = MemoryDatabase()
    first = await World.open(make_agent(message_policy={**QUOTA, **fields}), echo=True, journal=SlowJournal(database))
    worlds = [await join(database, first.ids, f"bot{number}") for number in range(WRITERS)]
    await asyncio.gather(
        *(
            world.say(
                f"m{number}",
                surface="platform",
                bot_id=f"bot{index}",
                chat=f"c{index}-{number % 7}",
                event_id=f"e{index}-{number}",
            )
            for index, world in enumerate(worlds)
            for number in range(MESSAGES)
        )
    )
    for world in worlds:
        await world.rest()
    outcomes = [row["outcome"] for row in first.rows(OUTCOMES)]
    assert sorted(set(outcomes)) == ["answered", "limited"]
    assert outcomes.count("answered") == ALLOWED
    assert sum(row["used"] for row in first.rows(LIMITS)) == (0 if "limits" in fields else ALLOWED)
    assert first.rows(INBOX) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("policy", [QUOTA, {**QUOTA, "gather": {"seconds": 0.5}}], ids=["quota", "gathered"])
async def test_kill_at_every_commit_counts_no_message_twice_and_loses_none(policy: dict[str, Any], after: bool) -> None:
    for commits in range(1, 14):
        journal = DyingJournal()
        world = await World.open(make_agent(message_policy=policy), echo=True, journal=journal)
        journal.commits_left, journal.after = commits, after

        async def say_all(world: World) -> None:
            for number in range(4):
                await world.say(f"m{number}", event_id=f"e{number}", chat=f"c{number % 2}")
                await settle(5)
            await world.rest()

        told = asyncio.create_task(say_all(world))
        await until(lambda told=told, journal=journal: told.done() or journal.dead)
        told.cancel()
        await asyncio.wait([told])
        survivor = await world.restart()
        survivor.journal.commits_left = 10**9  # type: ignore[attr-defined]
        await say_all(survivor)
        outcomes = {row["event_seq"]: row["outcome"] for row in survivor.rows(OUTCOMES)}
        assert sorted(outcomes.values()) == ["answered"] * 4, commits
        assert [row["used"] for row in survivor.rows(LIMITS)] == [4], commits
        assert survivor.rows(INBOX) == []
        assert all(run["status"] in ("completed", "failed") for run in survivor.rows(RUNS))


async def write(world: World, bot: str) -> None:
    """Lets people write to the bot of a Host in several chats at the same time."""
    await asyncio.gather(
        *(
            world.say(f"m{n}", surface="platform", bot_id=bot, chat=f"{bot}-{n % 3}", event_id=f"{bot}-{n}")
            for n in range(EACH)
        )
    )
    await world.rest()


@pytest.mark.parametrize("after", [False, pytest.param(True, marks=pytest.mark.long)], ids=["before", "after"])
@pytest.mark.parametrize("commits", range(1, 14))
async def test_writer_that_is_killed_at_any_commit_lets_no_message_more_through(commits: int, after: bool) -> None:
    database = MemoryDatabase()
    first = await World.open(make_agent(message_policy=QUOTA), echo=True, journal=SlowJournal(database))
    killed = await join(database, first.ids, "bot0", journal := KilledJournal(database))  # type: ignore[arg-type]
    others = {bot: await join(database, first.ids, bot) for bot in ("bot1", "bot2")}
    journal.commits_left, journal.after = commits, after

    writing = asyncio.create_task(write(killed, "bot0"))
    await asyncio.gather(*(write(world, bot) for bot, world in others.items()))
    await until(lambda: journal.dead or writing.done())
    assert journal.dead
    survivor = await killed.restart()
    survivor.journal.commits_left = 10**9  # type: ignore[attr-defined]
    for bot in ("bot0", *others):
        await write(survivor, bot)  # platforms deliver again what was not confirmed

    outcomes = [row["outcome"] for row in first.rows(OUTCOMES)]
    assert len(outcomes) == WRITERS * EACH
    assert set(outcomes) <= {"answered", "limited", "failed"}
    assert [row["used"] for row in first.rows(LIMITS)] == [ALLOWED]
    assert outcomes.count("answered") + outcomes.count("failed") == ALLOWED
    assert first.rows(INBOX) == []
