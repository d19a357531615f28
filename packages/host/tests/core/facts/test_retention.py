"""What is too old goes, with all that belongs to it; what is young or owed stays; a job that was cut off goes on."""

import asyncio
from typing import Any

import pytest

from parlour.core.journal import GuardFailed, StorageFailed, Table, Unit, Update, where
from parlour.core.store import inbox, retention
from parlour.core.store.artifact_service import GRACE_MILLISECONDS
from parlour.core.store.artifacts import ArtifactInfo, ArtifactScope
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.retention_queries import SWEEPS
from parlour.core.store.tables import (
    ARTIFACTS,
    AUDIT,
    EVENTS,
    FEEDBACK,
    INBOX,
    OUTBOX,
    OUTCOMES,
    RUN_EVENTS,
    RUNS,
    TRANSCRIPT,
)

from ..support import World, until

DAY = 24 * 3600.0
OF_A_MESSAGE = (EVENTS, OUTCOMES, RUNS, TRANSCRIPT, OUTBOX)


def cleaning(world: World, **days: float) -> Retention:
    return Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods(**days))


def counts(world: World, *tables: Table) -> list[int]:
    return [len(world.rows(table)) for table in tables]


async def exchange(world: World, *messages: str) -> None:
    for text in messages:
        await world.say(text)
        await world.rest()


async def test_a_message_goes_with_everything_that_was_made_of_it() -> None:
    world = await World.open(echo=True)
    await exchange(world, "old")
    run_id = world.rows(RUNS)[0]["run_id"]
    data = {"feedback_id": "one", "feedback_type": 1, "message_id": run_id}
    await world.say("", event_type="feedback.received", input={}, data=data)
    await asyncio.sleep(366 * DAY)
    await exchange(world, "young")
    young = {table.name: len(world.rows(table)) for table in OF_A_MESSAGE}

    report = await cleaning(world).run_once()

    assert counts(world, *OF_A_MESSAGE) == [1, 1, 1, 2, 1]
    assert young == {"events": 3, "outcomes": 3, "runs": 2, "transcript": 4, "outbox": 2}
    assert {row["content"] for row in world.rows(TRANSCRIPT)} == {"young"}
    assert world.rows(FEEDBACK) == []
    assert (report.removed["events"], report.removed["transcript"], report.removed["runs"]) == (2, 2, 1)
    assert await cleaning(world).last_report() == report


async def test_steps_of_a_run_go_before_the_run() -> None:
    world = await World.open(echo=True)
    await exchange(world, "old")
    await asyncio.sleep(31 * DAY)
    await exchange(world, "young")

    await cleaning(world).run_once()

    old, young = world.rows(RUNS)
    assert world.rows(RUN_EVENTS, run_id=old["run_id"]) == []
    assert world.rows(RUN_EVENTS, run_id=young["run_id"])
    assert len(world.rows(TRANSCRIPT)) == 4


async def test_nothing_of_a_run_that_goes_on_is_taken_away() -> None:
    world = await World.open()
    await world.say("patience")
    run = await world.plugins.next_run()
    run.send(run.delta("well"))
    await asyncio.sleep(400 * DAY)
    before = counts(world, EVENTS, RUNS, TRANSCRIPT, OUTBOX, RUN_EVENTS, INBOX)
    await cleaning(world).run_once()
    assert counts(world, EVENTS, RUNS, TRANSCRIPT, OUTBOX, RUN_EVENTS, INBOX) == before

    run.answer("done")
    await world.rest()
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


async def test_a_run_that_was_passed_over_is_emptied_when_it_is_over() -> None:
    world = await World.open(echo=False)
    await world.say("long", chat="one")
    long = await world.plugins.next_run()
    await world.say("short", chat="two")
    short = await world.plugins.next_run()
    short.answer("done")
    long.send(long.completed("part"))
    await asyncio.sleep(31 * DAY)
    await cleaning(world).run_once()
    assert (world.facts(short.run_id), bool(world.facts(long.run_id))) == ([], True)

    long.send(long.finished())
    await world.rest()
    await asyncio.sleep(31 * DAY)
    await cleaning(world).run_once()
    assert world.facts(long.run_id) == []


async def test_a_message_that_waits_to_be_sent_stays() -> None:
    world = await World.open(echo=True)
    await exchange(world, "one", "two")
    waits, _ = world.rows(OUTBOX)
    unsent = Update(OUTBOX, {"state": "pending"}, where(seq=waits["seq"]))
    await world.journal.commit(Unit("test.wait", (unsent,)))
    await asyncio.sleep(366 * DAY)

    await cleaning(world).run_once()

    assert waits["outbox_id"] in [row["outbox_id"] for row in world.rows(OUTBOX)]


async def test_the_newest_shown_number_stays_so_that_numbers_go_on() -> None:
    world = await World.open(echo=True)
    await exchange(world, "one", "two")
    highest = max(row["feed_seq"] for row in world.rows(OUTBOX) + world.rows(RUNS))
    await asyncio.sleep(366 * DAY)

    await cleaning(world).run_once()

    assert counts(world, EVENTS, OUTBOX, RUNS) == [0, 1, 1]
    assert max(row["feed_seq"] for row in world.rows(OUTBOX) + world.rows(RUNS)) == highest


@pytest.mark.parametrize("table", [EVENTS, TRANSCRIPT], ids=lambda table: table.name)
async def test_what_becomes_owed_at_the_last_moment_is_not_taken_away(table: Table) -> None:
    world = await World.open(echo=True)
    await exchange(world, "again")
    sweep = next(each for each in SWEEPS if each.table is table)
    rows = await sweep.removable(world.journal, world.rows(table))
    event = world.rows(EVENTS)[0]
    await world.journal.commit(Unit("test.owe", (inbox.enqueue(event["seq"], event["conversation_id"]),)))
    before = counts(world, table)

    with pytest.raises(GuardFailed):
        await world.journal.commit(Unit("test.sweep", tuple(sweep.statements(rows))))

    assert counts(world, table) == before
    assert await sweep.removable(world.journal, world.rows(table)) == []


async def test_a_job_that_was_cut_off_goes_on_with_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_ROWS", 1)
    world = await World.open(echo=True)
    await exchange(world, *"abc")
    await asyncio.sleep(366 * DAY)
    job = asyncio.create_task(cleaning(world).run_once())
    await until(lambda: len(world.rows(TRANSCRIPT)) <= 4)
    job.cancel()
    world = await world.restart()
    assert 0 < len(world.rows(TRANSCRIPT)) <= 4
    assert (await cleaning(world).last_report()).finished_at == 0

    await cleaning(world).run_once()

    assert counts(world, EVENTS, TRANSCRIPT) == [0, 0]


async def test_files_go_after_their_time_and_their_content_with_them() -> None:
    world = await World.open()
    kept = world.core.artifacts

    async def keep(content: bytes, **description: Any) -> str:
        artifact = await kept.store(content, ArtifactInfo(**description), ArtifactScope(conversation_id="here"))
        await world.journal.commit(Unit("test.keep", (artifact.insert(),)))
        return artifact.artifact_id

    await keep(b"old")
    await asyncio.sleep(91 * DAY)
    lasting = await keep(b"lasting")
    await keep(b"upload", source="upload", expires_at=world.clock.now() + 1000)
    await asyncio.sleep(GRACE_MILLISECONDS / 1000 + 1)

    report = await cleaning(world).run_once()

    assert [row["artifact_id"] for row in world.rows(ARTIFACTS)] == [lasting]
    assert (report.removed["artifacts"], report.removed["expired"], report.removed["objects"]) == (1, 1, 2)


async def test_the_audit_goes_after_its_own_time_and_zero_days_mean_for_ever() -> None:
    world = await World.open(echo=True)
    await exchange(world, "old")
    await world.core.gate.call("acme/puppet", "get_host_version", {"call_id": "1"})
    await asyncio.sleep(366 * DAY)

    await cleaning(world, audit=0, events=0).run_once()
    assert counts(world, AUDIT, EVENTS) == [1, 1]
    await cleaning(world, events=0).run_once()
    assert counts(world, AUDIT, EVENTS) == [0, 1]


async def test_it_is_done_once_a_day_and_again_after_trouble() -> None:
    world = await World.open(echo=True)
    cleaner = cleaning(world)
    world.journal.broken["retention.finish"] = 1
    serving = asyncio.create_task(cleaner.serve(60, DAY))
    await asyncio.sleep(61)
    assert (await cleaner.last_report()).finished_at == 0
    await asyncio.sleep(retention.ERROR_PAUSE_SECONDS)
    first = (await cleaner.last_report()).finished_at
    assert first

    await asyncio.sleep(DAY + 1)
    second = (await cleaner.last_report()).finished_at
    assert second - first == DAY * 1000
    serving.cancel()


async def test_a_job_without_a_database_says_so() -> None:
    world = await World.open()
    world.journal.broken["retention.finish"] = 1
    with pytest.raises(StorageFailed):
        await cleaning(world).run_once()
