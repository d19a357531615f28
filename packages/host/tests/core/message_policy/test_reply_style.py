"""The style of replies, and what the agent reads beside the text: `reply` and `context` of a message policy."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.store.tables import OUTBOX

from ..support import World, make_agent, until

GROUP = {"chat_type": "group", "chat_id": "7", "message_id": "m1"}


async def open_world(policy: dict[str, Any], **agent: Any) -> World:
    return await World.open(make_agent(message_policy=policy, **agent))


async def answer(world: World, *texts: str, tool: str = "") -> list[dict[str, Any]]:
    """Lets a message of a group be answered with these messages, and returns the rows of what was sent."""
    await world.say("hi", surface="platform", data=GROUP)
    run = await world.plugins.next_run()
    if tool:
        call = {"tool_call_id": "1", "tool_name": tool, "parameters": {"zone": "UTC"}}
        run.send(run.result("tool.call.started", call))
    run.send(*(run.completed(text) for text in texts), run.finished())
    await world.rest()
    return sorted(world.rows(OUTBOX), key=lambda row: row["feed_seq"])


def shown(rows: list[dict[str, Any]]) -> list[str]:
    return [loads(row["payload"])["message"]["content"] for row in rows]


async def test_delay_is_a_time_on_the_first_row_and_holds_over_a_restart() -> None:
    world = await open_world({"reply": {"delay": [30, 30]}})
    started_at = world.clock.now()
    await world.say("hi", surface="platform", data=GROUP)
    (await world.plugins.next_run()).answer("one")
    await until(lambda: bool(world.rows(OUTBOX)))
    [row] = world.rows(OUTBOX)
    assert row["not_before"] >= started_at + 30_000
    survivor = await world.restart()
    assert world.surface.tries == []
    await survivor.rest()
    assert world.surface.texts == ["one"]
    assert survivor.clock.now() >= row["not_before"]


async def test_only_the_first_message_is_delayed() -> None:
    rows = await answer(await open_world({"reply": {"delay": [3, 3]}}), "one", "two")
    assert [bool(row["not_before"]) for row in rows] == [True, False]
    assert shown(rows) == ["one", "two"]


@pytest.mark.parametrize(
    ("shape", "note"),
    [("hidden", []), ("brief", ["Using time.now …"]), ("full", ['Using time.now …\n{"zone":"UTC"}'])],
)
async def test_tool_calls_are_told_as_the_policy_says(shape: str, note: list[str]) -> None:
    rows = await answer(await open_world({"reply": {"tool_calls": shape}}), "one", tool="time.now")
    assert shown(rows) == [*note, "one"]


async def test_note_about_a_tool_call_passes_the_output_filters() -> None:
    words = {"use": "words", "config": {"words": ["UTC"]}}
    policy = {"reply": {"tool_calls": "full"}, "filters": {"output": [words]}}
    rows = await answer(await open_world(policy), "one", tool="time.now")
    assert shown(rows)[0] == 'Using time.now …\n{"zone":"***"}'


@pytest.mark.parametrize(
    ("context", "text"), [({}, "hi"), ({"sender_names": True}, "Ann: hi"), ({"sender_names": False}, "hi")]
)
async def test_names_of_senders_are_read_in_groups(context: dict[str, Any], text: str) -> None:
    world = await open_world({"context": context})
    await world.say("hi", surface="platform", data={**GROUP, "sender": {"nickname": "Ann"}}, actor="ann")
    run = await world.plugins.next_run()
    assert run.context["input"]["text"] == text
    run.answer("done")
    await world.rest()


@pytest.mark.parametrize(("rule", "types"), [("include", ["text", "quote"]), ("ignore", ["text"])])
async def test_quotes_are_read_or_ignored(rule: str, types: list[str]) -> None:
    world = await open_world({"context": {"quote": rule}})
    quoted = {"type": "quote", "message_id": "m0", "contents": [{"type": "text", "text": "earlier"}]}
    contents = [{"type": "text", "text": "hi"}, quoted]
    await world.say("hi", surface="platform", data=GROUP, input={"text": "hi", "contents": contents})
    run = await world.plugins.next_run()
    assert [each["type"] for each in run.context["input"]["contents"]] == types
    run.answer("done")
    await world.rest()
