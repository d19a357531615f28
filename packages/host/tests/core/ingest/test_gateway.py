"""The gateway: an event is stored before it is accepted, handled once, and added to its conversation."""

import asyncio
import copy
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.ingest.arrivals import HostStopping
from parlour.core.journal import PreparedCallback, Receipt, Row, Select, StorageFailed, Unit
from parlour.core.model.event import EventEnvelope
from parlour.core.runs import context
from parlour.core.store.tables import CONVERSATIONS, EVENTS, INBOX, OUTBOX, RUNS, STATE

from ..support import PuppetRun, World, message, slow_disk, until


async def test_accepted_event_is_stored_and_queued() -> None:
    world = await World.open()
    accepted = await world.say("hi", event_id="e1")
    assert not accepted.duplicate
    [row] = world.rows(EVENTS)
    assert (row["seq"], row["event_id"]) == (accepted.seq, "e1")
    assert [owed["event_seq"] for owed in world.rows(INBOX)] == [accepted.seq]


async def test_redelivered_event_is_answered_once() -> None:
    world = await World.open(echo=True)
    first = await world.say("hi", event_id="e1")
    await world.rest()
    again = await world.say("hi", event_id="e1")
    await world.rest()
    assert again == replace(first, duplicate=True)
    assert len(world.plugins.runs) == 1


async def test_concurrent_redeliveries_are_stored_once() -> None:
    world = await World.open(echo=True)
    accepted = await asyncio.gather(*(world.say("hi", event_id="e1") for _ in range(20)))
    await world.rest()
    assert sorted(each.duplicate for each in accepted) == [False] + [True] * 19
    assert len({each.seq for each in accepted}) == 1
    assert len(world.rows(EVENTS)) == len(world.rows(CONVERSATIONS)) == len(world.plugins.runs) == 1


async def test_concurrent_events_of_a_new_chat_share_a_conversation_in_order() -> None:
    world = await World.open(echo=True)
    accepted = await asyncio.gather(*(world.say(str(number), event_id=f"e{number}") for number in range(20)))
    await world.rest()
    assert len({each.conversation_id for each in accepted}) == 1
    assert sorted(each.seq for each in accepted) == list(range(1, 21))
    assert [run.context["context"]["event_seq"] for run in world.plugins.runs] == list(range(1, 21))


DIFFERENCES: dict[str, dict[str, Any]] = {
    "principal": {"principal": "key:2"},
    "source": {"source": "api"},
    "bot": {"bot_id": "bot2"},
    "workspace": {"workspace_id": "other"},
}


@pytest.mark.parametrize("difference", DIFFERENCES)
async def test_same_event_id_from_another_origin_is_another_event(difference: str) -> None:
    world = await World.open(echo=True)
    one = await world.say("hi", event_id="e1")
    other = await world.say("hi", event_id="e1", **DIFFERENCES[difference])
    await world.rest()
    assert not other.duplicate
    assert other.conversation_id != one.conversation_id


CHATS = {
    **DIFFERENCES,
    "chat": {"chat": "other"},
    "thread": {"thread_id": "t"},
    "agent": {"agent_id": "agent2"},
}


@pytest.mark.parametrize("difference", CHATS)
async def test_each_part_of_the_chat_identity_separates_conversations(difference: str) -> None:
    world = await World.open(echo=True)
    one = await world.say("hi")
    other = await world.say("hi", **CHATS[difference])
    same = await world.say("hi")
    await world.rest()
    assert one.conversation_id == same.conversation_id != other.conversation_id


async def test_sender_does_not_separate_conversations() -> None:
    world = await World.open(echo=True)
    one = await world.say("hi", surface="platform", actor="ann")
    other = await world.say("hi", surface="platform", actor="bob")
    await world.rest()
    assert one.conversation_id == other.conversation_id


async def test_conversation_is_found_after_a_restart() -> None:
    world = await World.open(echo=True)
    one = await world.say("hi")
    await world.rest()
    world = await world.restart()
    assert (await world.say("hi")).conversation_id == one.conversation_id
    await world.rest()


async def test_uncommitted_event_is_not_accepted_and_leaves_no_rows() -> None:
    world = await World.open(echo=True)
    world.journal.broken["event.begin"] = 1
    with pytest.raises(StorageFailed):
        await world.say("hi", event_id="e1")
    assert world.rows(EVENTS) == world.rows(CONVERSATIONS) == world.rows(INBOX) == world.rows(RUNS) == []
    assert world.core.sessions.all() == []
    assert not (await world.say("hi", event_id="e1")).duplicate
    await world.rest()


async def test_first_event_of_an_idle_lane_starts_its_run_in_the_same_unit() -> None:
    world = await World.open(echo=True)
    await world.say("hi")
    await world.rest()
    assert world.journal.units[-2:] == ["event.begin", "run.end"]
    assert [row["attempt"] for row in world.rows(RUNS)] == [1]


async def test_concurrent_events_start_one_run_and_wait_in_order() -> None:
    world = await World.open(echo=True)
    accepted = await asyncio.gather(*(world.say(f"{number}") for number in range(3)))
    await world.rest()
    assert world.journal.units.count("event.begin") == 1
    started = [row["event_seq"] for row in world.rows(RUNS)]
    assert started == sorted(each.seq for each in accepted)


async def test_state_is_read_during_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    world = await World.open(echo=True)
    done: list[str] = []
    read = world.journal.read

    async def reading(query: Select) -> list[Row]:
        done.extend(["state"] if query.table is STATE else [])
        return await read(query)

    slow_disk(world, monkeypatch, done)
    monkeypatch.setattr(world.journal, "read", reading)
    await world.say("hi")
    await world.rest()
    assert done[:3] == ["event.begin", "state", "event.begin is durable"]
    assert done.count("state") == 1


async def test_context_is_built_during_the_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = await World.open()
    done: list[str] = []
    build = context.build_request

    def building(*arguments: Any) -> dict[str, Any]:
        done.append("context")
        return build(*arguments)

    slow_disk(world, monkeypatch, done)
    monkeypatch.setattr(context, "build_request", building)
    accepted = await world.say("hi")
    await until(lambda: world.plugins.runs)
    [run] = world.plugins.runs
    assert done == ["event.begin", "context", "event.begin is durable"]
    assert run.context["context"]["event_seq"] == accepted.seq
    assert run.context["context"]["transcript_seq"] == 1


async def test_prepared_run_is_not_started_if_the_commit_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit fails after the prepared receipt."""
    world = await World.open()

    async def failing(unit: Unit, on_prepared: PreparedCallback) -> Receipt:
        on_prepared(copy.deepcopy(world.journal.database).commit(unit))
        for _ in range(10):
            await asyncio.sleep(0)
        raise StorageFailed("storage_full", "the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(world.journal, "commit", failing)
        with pytest.raises(StorageFailed):
            await world.say("hi", event_id="e1")
    await world.rest()
    assert (world.plugins.runs, world.rows(EVENTS)) == ([], [])

    await world.say("hi", event_id="e1")
    await until(lambda: world.plugins.runs)
    assert [run.context["context"]["transcript_seq"] for run in world.plugins.runs] == [1]


@pytest.mark.parametrize("failure", [StorageFailed("storage_busy", "not now"), ValueError("no JSON")])
async def test_failed_state_read_is_repeated(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    world = await World.open(echo=True)
    read, left = world.journal.read, [failure]

    async def reading(query: Select) -> list[Row]:
        if query.table is STATE and left:
            raise left.pop()
        return await read(query)

    monkeypatch.setattr(world.journal, "read", reading)
    await world.say("hi")
    await world.rest()
    assert left == []
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


async def test_redelivered_event_starts_no_second_run() -> None:
    world = await World.open(echo=True)
    await world.say("hi", event_id="e1")
    await world.rest()
    assert (await world.say("hi", event_id="e1")).duplicate
    await world.rest()
    assert len(world.rows(RUNS)) == 1
    assert world.core.sessions.all() == []
    assert not (await world.say("and now?", event_id="e2")).duplicate
    await world.rest()
    assert len(world.rows(RUNS)) == 2


async def test_duplicate_creates_no_conversation() -> None:
    world = await World.open(echo=True)
    await world.say("hi", event_id="e1", chat="one")
    again = await world.say("hi", event_id="e1", chat="two")
    await world.rest()
    assert again.duplicate
    assert len(world.rows(CONVERSATIONS)) == 1


async def test_stopping_host_refuses_events() -> None:
    world = await World.open()
    world.core.gateway.stop_accepting()
    with pytest.raises(HostStopping) as closed:
        await world.say("hi")
    assert closed.value.code == "stopping"
    assert world.rows(EVENTS) == []


def test_text_of_an_event_is_its_text_content() -> None:
    contents = [{"type": "text", "text": "a"}, {"type": "image", "url": "x"}, {"type": "text", "text": "b"}]
    events: list[tuple[EventEnvelope, str]] = [
        (message("plain"), "plain"),
        (replace(message(), input={"contents": contents}), "ab"),
        (replace(message(), input={"text": "", "contents": contents}), ""),
        (replace(message(), input={}), ""),
    ]
    assert [event.text for event, _ in events] == [expected for _, expected in events]


@pytest.mark.parametrize("busy", [False, True])
async def test_event_with_uncertain_commit_is_answered_on_redelivery(
    busy: bool,
) -> None:
    world = await World.open()
    run = await _start_run(world) if busy else None
    world.journal.unsure["event.accept" if busy else "event.begin"] = 1
    with pytest.raises(StorageFailed):
        await world.say("hello", surface="platform", event_id="e1")
    assert (await world.say("hello", surface="platform", event_id="e1")).duplicate
    if run is not None:
        run.answer("first")
    (await world.plugins.next_run()).answer("hello, too")
    await world.rest()
    assert world.surface.texts[-1] == "hello, too"
    assert world.rows(INBOX) == []


async def _start_run(world: World) -> PuppetRun:
    await world.say("another message", surface="platform", actor="bob")
    return await world.plugins.next_run()


@pytest.mark.parametrize("unit", ["run.end", "event.settle", "control.settle"])
async def test_reply_with_uncertain_commit_is_sent_once(unit: str) -> None:
    world = await World.open(echo=True)
    if unit == "event.settle":
        await world.core.routes.replace("bot", [Route("*", "agent", {"agent_id": "gone"})])
    world.journal.unsure[unit] = 1
    with suppress(StorageFailed):
        await world.say("/new" if unit == "control.settle" else "hello", surface="platform")
    await until(lambda: [row["state"] for row in world.rows(OUTBOX)] == ["sent"])
    assert len(world.surface.texts) == 1
