"""A deleted conversation leaves no content, a tombstone in the event log, and can continue empty."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import StorageFailed, Unit, Update, where
from parlour.core.model.event import Participant
from parlour.core.model.rate_limit import LimitSubject, RateLimit
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.artifacts import ArtifactInfo, ArtifactScope
from parlour.core.store.limits import take_blindly
from parlour.core.store.tables import ARTIFACTS, EVENTS, INBOX, META, OUTBOX, RUNS, STATE, TABLES, TRANSCRIPT

from ..support import World, until

SECRET = "xylophone"
PERSON = Participant("api_key", "1", "Ann")


def tables_with_secret(world: World) -> list[str]:
    """Returns the tables that contain the secret."""
    return [table.name for table in TABLES if SECRET in repr(world.rows(table))]


async def open_with_conversation(**fields: Any) -> tuple[World, str]:
    world = await World.open(**fields)
    accepted = await world.say(f"about the {SECRET}")
    run = await world.plugins.next_run()
    await world.call(run, "state_set", scope="conversation", key="k", value=SECRET)
    run.answer(f"the {SECRET}, yes")
    await world.rest()
    artifact = await world.core.artifacts.store(
        b"x", ArtifactInfo(name=SECRET), ArtifactScope(conversation_id=accepted.conversation_id)
    )
    limited = take_blindly(
        RateLimit("policy", "fixed", 3), LimitSubject(SECRET, accepted.conversation_id), world.clock.now(), 1
    )
    await world.journal.commit(Unit("test.keep", (artifact.insert(), *limited)))
    return world, accepted.conversation_id


async def test_deleted_conversation_leaves_no_content() -> None:
    world, conversation_id = await open_with_conversation()
    assert {"events", "transcript", "state", "outbox", "run_events", "artifacts", "limits"} <= set(
        tables_with_secret(world)
    )

    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert tables_with_secret(world) == []
    assert [len(world.rows(table)) for table in (TRANSCRIPT, STATE, OUTBOX, ARTIFACTS)] == [0, 0, 0, 0]
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


async def test_event_log_records_the_deletion_and_who_requested_it() -> None:
    world, conversation_id = await open_with_conversation()
    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    said, tombstone = world.rows(EVENTS)
    assert (said["event_type"], loads(said["body"])["input"], said["actor_id"]) == ("message.received", {}, "ann")
    assert (tombstone["event_type"], tombstone["actor_id"]) == ("conversation.deleted", "1")
    assert tombstone["conversation_id"] == conversation_id


async def test_other_conversations_are_kept() -> None:
    world, conversation_id = await open_with_conversation()
    world.plugins.echo = True
    await world.say(f"another {SECRET}", chat="other")
    await world.rest()

    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert [row["content"] for row in world.rows(TRANSCRIPT)] == [f"another {SECRET}"] * 2


async def test_next_message_starts_with_empty_state() -> None:
    world, conversation_id = await open_with_conversation()
    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    accepted = await world.say("hello again")
    run = await world.plugins.next_run()
    assert (accepted.conversation_id, run.context["state"]["conversation"]) == (conversation_id, {})
    run.answer("hello")
    await world.rest()
    assert [(row["seq"], row["content"]) for row in world.rows(TRANSCRIPT)] == [(1, "hello again"), (2, "hello")]


async def test_active_and_waiting_runs_are_cancelled_first() -> None:
    world = await World.open()
    accepted = await world.say(f"one {SECRET}")
    await world.plugins.next_run()
    await world.say(f"two {SECRET}")

    await world.core.conversation_eraser.erase(accepted.conversation_id, PERSON)

    assert tables_with_secret(world) == []
    assert world.rows(INBOX) == []
    assert {row["status"] for row in world.rows(RUNS)} == {"cancelled"}


async def test_pending_message_prevents_the_deletion() -> None:
    world, conversation_id = await open_with_conversation()
    unsent = Update(OUTBOX, {"state": "pending"}, where(conversation_id=conversation_id))
    await world.journal.commit(Unit("test.wait", (unsent,)))

    with pytest.raises(CallRejected, match="waits to be sent") as refusal:
        await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert refusal.value.retryable
    assert len(world.rows(TRANSCRIPT)) == 2


async def test_failed_commit_deletes_nothing() -> None:
    world, conversation_id = await open_with_conversation()
    before = tables_with_secret(world)
    world.journal.broken["conversation.erase"] = 1
    with pytest.raises(Exception, match="the disk is full"):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert tables_with_secret(world) == before
    await until(lambda: not len(world.core.lanes))


async def test_interrupted_deletion_is_completed_at_the_next_start() -> None:
    world, conversation_id = await open_with_conversation()
    world.journal.broken["conversation.empty"] = 1
    with pytest.raises(StorageFailed):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)
    assert "transcript" in tables_with_secret(world)

    world = await world.restart()

    await until(lambda: tables_with_secret(world) == [] and not world.rows(META, name=f"erasing:{conversation_id}"))
    assert [row["event_type"] for row in world.rows(EVENTS)].count("conversation.deleted") == 1


async def test_interrupted_deletion_is_completed_on_repetition() -> None:
    world, conversation_id = await open_with_conversation()
    world.journal.broken["conversation.empty"] = 1
    with pytest.raises(StorageFailed):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)
    assert tables_with_secret(world) != []
    await world.core.conversation_eraser.erase(conversation_id, PERSON)
    assert tables_with_secret(world) == []
    assert [row["name"] for row in world.rows(META) if row["name"].startswith("erasing:")] == []


async def test_messages_during_the_deletion_are_kept() -> None:
    world, conversation_id = await open_with_conversation()
    world.journal.broken["conversation.empty"] = 1
    with pytest.raises(StorageFailed):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)
    await world.say("something new")
    (await world.plugins.next_run()).answer("new indeed")
    await world.rest()

    world = await world.restart()

    await until(lambda: tables_with_secret(world) == [] and not world.rows(META, name=f"erasing:{conversation_id}"))
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["something new", "new indeed"]


async def test_reruns_are_deleted_with_their_conversation() -> None:
    world, conversation_id = await open_with_conversation()
    [original] = world.rows(RUNS)
    await world.core.reruns.start(original, RerunOptions())
    run = await world.plugins.next_run()
    created = {"artifact_type": "file", "name": SECRET, "content_base64": "YQ=="}
    run.send(run.result("artifact.created", created), run.completed(f"again the {SECRET}"), run.finished())
    await world.core.reruns.join()
    assert len(world.rows(ARTIFACTS)) == 2

    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert tables_with_secret(world) == []
