"""Retention deletes old rows with their dependents, keeps pending ones, and resumes after an interruption."""

import asyncio
from typing import Any

import pytest

from parlour.core.journal import GuardFailed, StorageFailed, Table, Unit, Update, where
from parlour.core.model.rate_limit import LimitSubject, RateLimit
from parlour.core.store import inbox, retention
from parlour.core.store.artifact_service import GRACE_MILLISECONDS
from parlour.core.store.artifacts import ArtifactInfo, ArtifactScope
from parlour.core.store.limits import take_blindly
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.retention_queries import SWEEPS
from parlour.core.store.tables import (
    ARTIFACTS,
    AUDIT,
    EVENTS,
    FEEDBACK,
    INBOX,
    LIMITS,
    OUTBOX,
    OUTCOMES,
    RUN_EVENTS,
    RUNS,
    TRANSCRIPT,
)

from ..support import World, until

DAY = 24 * 3600.0
MESSAGE_TABLES = (EVENTS, OUTCOMES, RUNS, TRANSCRIPT, OUTBOX)


def retention_of(world: World, **days: float) -> Retention:
    return Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods(**days))


def counts(world: World, *tables: Table) -> list[int]:
    return [len(world.rows(table)) for table in tables]


async def exchange(world: World, *messages: str) -> None:
    for text in messages:
        await world.say(text)
        await world.rest()


async def test_counters_of_limits_are_deleted_a_day_after_their_window() -> None:
    world = await World.open()
    limit = RateLimit("policy", "fixed", 3, window_ms=60_000)
    await world.journal.commit(Unit("test.take", take_blindly(limit, LimitSubject("ann"), world.clock.now(), 1)))
    await asyncio.sleep(DAY)
    await retention_of(world).run_once()
    assert counts(world, LIMITS) == [1]

    await asyncio.sleep(61)
    report = await retention_of(world).run_once()

    assert counts(world, LIMITS) == [0]
    assert report.removed["limits"] == 1


async def test_old_message_is_deleted_with_all_its_rows() -> None:
    world = await World.open(echo=True)
    await exchange(world, "old")
    run_id = world.rows(RUNS)[0]["run_id"]
    data = {"feedback_id": "one", "feedback_type": 1, "message_id": run_id}
    await world.say("", event_type="feedback.received", input={}, data=data)
    await asyncio.sleep(366 * DAY)
    await exchange(world, "young")
    young = {table.name: len(world.rows(table)) for table in MESSAGE_TABLES}

    report = await retention_of(world).run_once()

    assert counts(world, *MESSAGE_TABLES) == [1, 1, 1, 2, 1]
    assert young == {"events": 3, "outcomes": 3, "runs": 2, "transcript": 4, "outbox": 2}
    assert {row["content"] for row in world.rows(TRANSCRIPT)} == {"young"}
    assert world.rows(FEEDBACK) == []
    assert (report.removed["events"], report.removed["transcript"], report.removed["runs"]) == (2, 2, 1)
    assert await retention_of(world).last_report() == report


async def test_events_of_a_run_are_deleted_before_the_run() -> None:
    world = await World.open(echo=True)
    await exchange(world, "old")
    await asyncio.sleep(31 * DAY)
    await exchange(world, "young")

    await retention_of(world).run_once()

    old, young = world.rows(RUNS)
    assert world.rows(RUN_EVENTS, run_id=old["run_id"]) == []
    assert world.rows(RUN_EVENTS, run_id=young["run_id"])
    assert len(world.rows(TRANSCRIPT)) == 4


async def test_request_id_of_a_client_is_known_as_long_as_its_event() -> None:
    world = await World.open(echo=True)
    first = await world.say("hi", event_id="openai:agent:mine")
    await world.rest()
    await asyncio.sleep(364 * DAY)
    await retention_of(world).run_once()
    assert (await world.say("hi", event_id="openai:agent:mine")).seq == first.seq

    await asyncio.sleep(2 * DAY)
    await retention_of(world).run_once()
    again = await world.say("hi", event_id="openai:agent:mine")
    await world.rest()
    assert (again.duplicate, again.seq > first.seq) == (False, True)


async def test_active_run_is_not_deleted() -> None:
    world = await World.open()
    await world.say("patience")
    run = await world.plugins.next_run()
    run.send(run.delta("well"))
    await asyncio.sleep(400 * DAY)
    before = counts(world, EVENTS, RUNS, TRANSCRIPT, OUTBOX, RUN_EVENTS, INBOX)
    await retention_of(world).run_once()
    assert counts(world, EVENTS, RUNS, TRANSCRIPT, OUTBOX, RUN_EVENTS, INBOX) == before

    run.answer("done")
    await world.rest()
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


async def test_run_skipped_while_active_is_deleted_after_its_end() -> None:
    world = await World.open(echo=False)
    await world.say("long", chat="one")
    long = await world.plugins.next_run()
    await world.say("short", chat="two")
    short = await world.plugins.next_run()
    short.answer("done")
    long.send(long.completed("part"))
    await asyncio.sleep(31 * DAY)
    await retention_of(world).run_once()
    assert (world.facts(short.run_id), bool(world.facts(long.run_id))) == ([], True)

    long.send(long.finished())
    await world.rest()
    await asyncio.sleep(31 * DAY)
    await retention_of(world).run_once()
    assert world.facts(long.run_id) == []


async def test_unsent_message_is_kept() -> None:
    world = await World.open(echo=True)
    await exchange(world, "one", "two")
    pending, _ = world.rows(OUTBOX)
    unsent = Update(OUTBOX, {"state": "pending"}, where(seq=pending["seq"]))
    await world.journal.commit(Unit("test.wait", (unsent,)))
    await asyncio.sleep(366 * DAY)

    await retention_of(world).run_once()

    assert pending["outbox_id"] in [row["outbox_id"] for row in world.rows(OUTBOX)]


async def test_newest_feed_number_is_kept() -> None:
    world = await World.open(echo=True)
    await exchange(world, "one", "two")
    highest = max(row["feed_seq"] for row in world.rows(OUTBOX) + world.rows(RUNS))
    await asyncio.sleep(366 * DAY)

    await retention_of(world).run_once()

    assert counts(world, EVENTS, OUTBOX, RUNS) == [0, 1, 1]
    assert max(row["feed_seq"] for row in world.rows(OUTBOX) + world.rows(RUNS)) == highest


@pytest.mark.parametrize("table", [EVENTS, TRANSCRIPT], ids=lambda table: table.name)
async def test_event_queued_during_the_sweep_is_not_deleted(table: Table) -> None:
    world = await World.open(echo=True)
    await exchange(world, "again")
    sweep = next(each for each in SWEEPS if each.table is table)
    rows = await sweep.removable(world.journal, world.rows(table))
    event = world.rows(EVENTS)[0]
    queued = inbox.enqueue(event["seq"], event["conversation_id"], event["bot_id"])
    await world.journal.commit(Unit("test.owe", (queued,)))
    before = counts(world, table)

    with pytest.raises(GuardFailed):
        await world.journal.commit(Unit("test.sweep", tuple(sweep.statements(rows))))

    assert counts(world, table) == before
    assert await sweep.removable(world.journal, world.rows(table)) == []


async def test_interrupted_job_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_ROWS", 1)
    world = await World.open(echo=True)
    await exchange(world, *"abc")
    await asyncio.sleep(366 * DAY)
    job = asyncio.create_task(retention_of(world).run_once())
    await until(lambda: len(world.rows(TRANSCRIPT)) <= 4)
    job.cancel()
    world = await world.restart()
    assert 0 < len(world.rows(TRANSCRIPT)) <= 4
    assert (await retention_of(world).last_report()).finished_at == 0

    await retention_of(world).run_once()

    assert counts(world, EVENTS, TRANSCRIPT) == [0, 0]


async def test_expired_files_are_deleted_with_their_content() -> None:
    world = await World.open()
    service = world.core.artifacts

    async def keep(content: bytes, **description: Any) -> str:
        artifact = await service.store(content, ArtifactInfo(**description), ArtifactScope(conversation_id="here"))
        await world.journal.commit(Unit("test.keep", (artifact.insert(),)))
        return artifact.artifact_id

    await keep(b"old")
    await asyncio.sleep(91 * DAY)
    lasting = await keep(b"lasting")
    await keep(b"upload", source="upload", expires_at=world.clock.now() + 1000)
    await asyncio.sleep(GRACE_MILLISECONDS / 1000 + 1)

    report = await retention_of(world).run_once()

    assert [row["artifact_id"] for row in world.rows(ARTIFACTS)] == [lasting]
    assert (report.removed["artifacts"], report.removed["expired"], report.removed["objects"]) == (1, 1, 2)


async def test_audit_has_its_own_period_and_zero_means_forever() -> None:
    world = await World.open(echo=True)
    await exchange(world, "old")
    await world.core.gate.call("acme/puppet", "get_host_version", {"call_id": "1"})
    await asyncio.sleep(366 * DAY)

    await retention_of(world, audit=0, events=0).run_once()
    assert counts(world, AUDIT, EVENTS) == [1, 1]
    await retention_of(world, events=0).run_once()
    assert counts(world, AUDIT, EVENTS) == [0, 1]


async def test_job_runs_daily_and_again_after_a_failure() -> None:
    world = await World.open(echo=True)
    job = retention_of(world)
    world.journal.broken["retention.finish"] = 1
    serving = asyncio.create_task(job.serve(60, DAY))
    await asyncio.sleep(61)
    assert (await job.last_report()).finished_at == 0
    await asyncio.sleep(retention.ERROR_PAUSE_SECONDS)
    first = (await job.last_report()).finished_at
    assert first

    await asyncio.sleep(DAY + 1)
    second = (await job.last_report()).finished_at
    assert second - first == DAY * 1000
    serving.cancel()


async def test_job_raises_if_the_database_fails() -> None:
    world = await World.open()
    world.journal.broken["retention.finish"] = 1
    with pytest.raises(StorageFailed):
        await retention_of(world).run_once()
