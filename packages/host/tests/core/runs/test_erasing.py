"""A deleted conversation leaves no words anywhere, a tombstone in the log, and a place to begin anew."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import StorageFailed, Unit, Update, where
from parlour.core.model.event import Participant
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.artifacts import ArtifactInfo, ArtifactScope
from parlour.core.store.tables import ARTIFACTS, EVENTS, INBOX, META, OUTBOX, RUNS, STATE, TABLES, TRANSCRIPT

from ..support import World, until

SECRET = "xylophone"
PERSON = Participant("api_key", "1", "Ann")


def words(world: World) -> list[str]:
    """The tables in which it can be read."""
    return [table.name for table in TABLES if SECRET in repr(world.rows(table))]


async def talked(**fields: Any) -> tuple[World, str]:
    world = await World.open(**fields)
    accepted = await world.say(f"about the {SECRET}")
    run = await world.plugins.next_run()
    await world.call(run, "state_set", scope="conversation", key="k", value=SECRET)
    run.answer(f"the {SECRET}, yes")
    await world.rest()
    artifact = await world.core.artifacts.store(
        b"x", ArtifactInfo(name=SECRET), ArtifactScope(conversation_id=accepted.conversation_id)
    )
    await world.journal.commit(Unit("test.keep", (artifact.insert(),)))
    return world, accepted.conversation_id


async def test_what_was_said_is_nowhere_any_more() -> None:
    world, conversation_id = await talked()
    assert {"events", "transcript", "state", "outbox", "run_events", "artifacts"} <= set(words(world))

    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert words(world) == []
    assert [len(world.rows(table)) for table in (TRANSCRIPT, STATE, OUTBOX, ARTIFACTS)] == [0, 0, 0, 0]
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


async def test_the_log_says_that_and_by_whom_it_was_deleted() -> None:
    world, conversation_id = await talked()
    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    said, tombstone = world.rows(EVENTS)
    assert (said["event_type"], loads(said["body"])["input"], said["actor_id"]) == ("message.received", {}, "ann")
    assert (tombstone["event_type"], tombstone["actor_id"]) == ("conversation.deleted", "1")
    assert tombstone["conversation_id"] == conversation_id


async def test_other_conversations_keep_what_they_have() -> None:
    world, conversation_id = await talked()
    world.plugins.echo = True
    await world.say(f"another {SECRET}", chat="other")
    await world.rest()

    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert [row["content"] for row in world.rows(TRANSCRIPT)] == [f"another {SECRET}"] * 2


async def test_whoever_writes_next_begins_anew() -> None:
    world, conversation_id = await talked()
    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    accepted = await world.say("hello again")
    run = await world.plugins.next_run()
    assert (accepted.conversation_id, run.context["state"]["conversation"]) == (conversation_id, {})
    run.answer("hello")
    await world.rest()
    assert [(row["seq"], row["content"]) for row in world.rows(TRANSCRIPT)] == [(1, "hello again"), (2, "hello")]


async def test_runs_that_go_on_are_cancelled_first_with_all_that_waits() -> None:
    world = await World.open()
    accepted = await world.say(f"one {SECRET}")
    await world.plugins.next_run()
    await world.say(f"two {SECRET}")

    await world.core.conversation_eraser.erase(accepted.conversation_id, PERSON)

    assert words(world) == []
    assert world.rows(INBOX) == []
    assert {row["status"] for row in world.rows(RUNS)} == {"cancelled"}


async def test_a_message_that_waits_to_be_sent_is_not_taken_away() -> None:
    world, conversation_id = await talked()
    unsent = Update(OUTBOX, {"state": "pending"}, where(conversation_id=conversation_id))
    await world.journal.commit(Unit("test.wait", (unsent,)))

    with pytest.raises(CallRejected, match="waits to be sent") as refusal:
        await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert refusal.value.retryable
    assert len(world.rows(TRANSCRIPT)) == 2


async def test_a_deletion_that_the_database_refuses_deletes_nothing() -> None:
    world, conversation_id = await talked()
    before = words(world)
    world.journal.broken["conversation.erase"] = 1
    with pytest.raises(Exception, match="the disk is full"):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert words(world) == before
    await until(lambda: not len(world.core.lanes))


async def test_a_deletion_that_was_cut_off_is_carried_out_at_the_next_start() -> None:
    world, conversation_id = await talked()
    world.journal.broken["conversation.empty"] = 1
    with pytest.raises(StorageFailed):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)
    assert "transcript" in words(world)

    world = await world.restart()

    await until(lambda: words(world) == [] and not world.rows(META, name=f"erasing:{conversation_id}"))
    assert [row["event_type"] for row in world.rows(EVENTS)].count("conversation.deleted") == 1


async def test_a_deletion_that_was_cut_off_is_carried_out_when_it_is_asked_for_again() -> None:
    world, conversation_id = await talked()
    world.journal.broken["conversation.empty"] = 1
    with pytest.raises(StorageFailed):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)
    assert words(world) != []
    await world.core.conversation_eraser.erase(conversation_id, PERSON)
    assert words(world) == []
    assert [row["name"] for row in world.rows(META) if row["name"].startswith("erasing:")] == []


async def test_what_is_said_while_a_long_conversation_goes_is_kept() -> None:
    world, conversation_id = await talked()
    world.journal.broken["conversation.empty"] = 1
    with pytest.raises(StorageFailed):
        await world.core.conversation_eraser.erase(conversation_id, PERSON)
    await world.say("something new")
    (await world.plugins.next_run()).answer("new indeed")
    await world.rest()

    world = await world.restart()

    await until(lambda: words(world) == [] and not world.rows(META, name=f"erasing:{conversation_id}"))
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["something new", "new indeed"]


async def test_what_a_rerun_said_goes_with_its_conversation() -> None:
    world, conversation_id = await talked()
    [original] = world.rows(RUNS)
    await world.core.reruns.start(original, RerunOptions())
    run = await world.plugins.next_run()
    created = {"artifact_type": "file", "name": SECRET, "content_base64": "YQ=="}
    run.send(run.result("artifact.created", created), run.completed(f"again the {SECRET}"), run.finished())
    await world.core.reruns.join()
    assert len(world.rows(ARTIFACTS)) == 2

    await world.core.conversation_eraser.erase(conversation_id, PERSON)

    assert words(world) == []
