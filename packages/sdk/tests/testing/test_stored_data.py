"""Tests data that a fake Host stores: history, events, state, storage, artifacts, approvals and runs."""

from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.protocol.actions import ActionOutcome
from parlour_sdk.protocol.content import AgentInput, MediaElement, TextElement
from parlour_sdk.protocol.events import Actor
from parlour_sdk.protocol.limits import STATE_LIST_KEYS, STATE_VALUE_BYTES
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_events import MemberJoined, ScheduleTriggered
from parlour_sdk.testing import (
    FakeHost,
    event,
    message,
)

from .recording import RecordingCall, answer_of, failed_run
from .runners import runner, yielding


async def test_history_is_paged_in_the_order_of_the_conversation() -> None:
    host = FakeHost(history=[("user", "1"), ("assistant", "2"), ("user", "3")])

    async def pages(api: Any) -> list[list[str]]:
        last = await api.history.page(limit=2)
        before = await api.history.page(limit=2, before_cursor=last.next_cursor)
        after = await api.history.page(after_cursor=before.items[0].cursor, direction="forward", limit=1)
        assert (last.has_more, before.has_more, after.has_more) == (True, False, True)
        return [[item.content for item in page.items] for page in (last, before, after)]

    assert await answer_of(host, pages) == [["3", "hi there"], ["1", "2"], ["2"]]
    run = await failed_run(host, lambda api: api.history.page(before_cursor="made up"))
    assert run.failed_with("invalid_argument")


async def test_history_is_searched_by_words_and_role() -> None:
    host = FakeHost(history=[("user", "a red cat"), ("assistant", "a dog"), ("assistant", "red")])
    found = await answer_of(host, lambda api: api.history.search("red cat", {"roles": ["user"]}))
    assert [item.content for item in found.items] == ["a red cat"]


async def test_events_are_read_and_listed_in_pages() -> None:
    host = FakeHost()
    first = await host.run(yielding(results.silent()), "one")

    async def look(api: Any) -> Any:
        return await api.events.get(first.context.event.event_id), await api.events.page(limit=1)

    record, page = await answer_of(host, look)
    assert (record.input_summary, record.actor_id) == ("one", "user-1")
    assert ([item.input_summary for item in page.items], page.has_more) == (["hi there"], True)
    assert (await failed_run(host, lambda api: api.events.get("elsewhere"))).failed_with("not_found")


async def test_state_has_the_hosts_limits() -> None:
    async def fill(api: Any) -> Any:
        for number in range(90):
            await api.state.set("actor", f"k{number:03}", number)
        await api.state.delete("actor", "k000")
        return await api.state.list("actor", prefix="k00"), await api.state.get("actor", "k000", "gone")

    keys, gone = await answer_of(FakeHost(), fill)
    assert (keys.keys[0], keys.has_more, gone) == ("k001", False, "gone")
    given = {"binding": {f"k{number}": 0 for number in range(STATE_LIST_KEYS + 1)}}
    listed = await answer_of(FakeHost(state=given), lambda api: api.state.list("binding"))
    assert (len(listed.keys), listed.has_more) == (STATE_LIST_KEYS, True)
    large = "x" * (STATE_VALUE_BYTES + 2000)
    assert (await failed_run(FakeHost(), lambda api: api.state.set("actor", "k", large))).failed_with(
        "payload_too_large"
    )


async def test_state_belongs_to_its_actor_and_conversation() -> None:
    host = FakeHost(state={"actor": {"name": "One"}, "conversation": {"topic": "cats"}})
    other = Actor(actor_type="user", actor_id="user-2")
    assert (await host.run(yielding(results.silent()), "a")).state["actor"] == {"name": "One"}
    run = await host.run(yielding(results.silent()), "a", actor=other)
    assert (run.state["actor"], run.state["conversation"]) == ({}, {"topic": "cats"})


async def test_a_run_with_too_many_calls_is_rate_limited() -> None:
    async def many(api: Any) -> None:
        for _ in range(200):
            await api.host.version()

    assert (await failed_run(FakeHost(), many)).failed_with("rate_limited")


async def test_storage_values_are_set_read_listed_and_deleted() -> None:
    host = FakeHost(storage={"plugin": {"a": b"1"}})

    async def use(api: Any) -> Any:
        await api.storage.set("plugin", "b", b"\x00")
        await api.storage.delete("plugin", "a")
        return await api.storage.get("plugin", "a"), await api.storage.list("plugin")

    gone, listed = await answer_of(host, use)
    assert (gone, listed.keys, host.storage["plugin"]) == (None, ["b"], {"b": b"\x00"})


async def test_artifacts_are_created_and_read_in_chunks() -> None:
    content = bytes(range(256)) * 3000

    async def use(api: Any) -> bytes:
        made = await api.artifacts.create(content, "report", name="r.bin", metadata={"n": 1})
        assert (await api.artifacts.metadata(made.artifact_id)).size_bytes == len(content)
        assert (await api.artifacts.read(made.artifact_id, 256, 2)).content == b"\x00\x01"
        return b"".join([piece async for piece in api.artifacts.stream(made.artifact_id)])

    recorded = RecordingCall(use)
    run = await FakeHost().run(runner(recorded.body))
    assert recorded.answers == [content]
    assert [(each.metadata.name, each.metadata.artifact_type) for each in run.artifacts] == [("r.bin", "report")]


async def test_an_expired_artifact_or_one_of_another_conversation_is_not_found() -> None:
    made = RecordingCall(lambda api: api.artifacts.create(b"x", expires_at=None))
    host = FakeHost(artifacts={"given": b"from the test"})
    assert (await answer_of(host, lambda api: api.artifacts.read("given"))).content == b"from the test"
    await host.run(runner(made.body))
    old = await answer_of(host, lambda api: api.artifacts.create(b"x", expires_at=1))
    assert (await failed_run(host, lambda api: api.artifacts.read(old.artifact_id))).failed_with("not_found")
    host.new_conversation()
    run = await failed_run(host, lambda api: api.artifacts.metadata(made.answers[0].artifact_id))
    assert run.failed_with("not_found")


async def test_approvals_are_decided_by_the_setting_of_the_test() -> None:
    host = FakeHost(approvals={"message.*": "done", "member.*": "pending"})
    ask = RecordingCall(lambda api: api.platform.request_action("member.kick", {"user": "u"}))
    run = await host.run(runner(ask.body))
    assert (ask.answers[0].status, ask.answers[0].approval_id is not None) == ("pending", True)
    assert [(each.action, each.status) for each in run.actions] == [("member.kick", "pending")]
    waited = await failed_run(host, lambda api: api.platform.request_action("member.kick", wait=5))
    assert waited.failed_with("approval_pending")
    assert (await answer_of(host, lambda api: api.platform.request_action("group.leave"))).status == "denied"
    host = FakeHost(approvals=lambda action, target, payload: ActionOutcome(status="done", result=payload))
    assert (await answer_of(host, lambda api: api.platform.request_action("message.send", None, {"a": 1}))).result == {
        "a": 1
    }


async def test_any_call_can_be_made_to_fail() -> None:
    host = FakeHost(tools={"t": "ok"})
    host.fail("call_tool", "rate_limited", "slow down", retryable=True)
    run = await failed_run(host, lambda api: api.tools.call("t"))
    assert run.failed_with("rate_limited")
    assert repr(run.calls[0]).endswith("-> rate_limited: slow down")
    assert (await answer_of(host, lambda api: api.tools.call("t"))).content[0].text == "ok"
    with pytest.raises(ValueError, match="'call_tools'"):
        host.fail("call_tools", "x")


async def test_runs_are_created_cancelled_listed_and_retried() -> None:
    host = FakeHost()

    async def use(api: Any) -> Any:
        made = await api.runs.create("agent-1", "do it")
        await api.runs.cancel(made.run_id, "enough")
        return (
            await api.runs.get(made.run_id),
            await api.runs.list(status="cancelled"),
            await api.runs.retry(made.run_id),
        )

    run, page, again = await answer_of(host, use)
    assert (run.status, run.status_reason, len(page.items)) == ("cancelled", "enough", 1)
    assert (again.attempt, again.parent_run_id) == (2, run.run_id)


async def test_an_event_that_is_not_a_message_has_no_input_text() -> None:
    joined = event(MemberJoined, inviter=User(id="user-9"))
    run = await FakeHost().run(yielding(results.silent()), event=joined)
    assert run.context.event.event_type == "group.member_joined"
    assert run.context.event.data["member"]["user"]["id"] == "user-1"
    assert (run.context.input.text, run.context.actor.actor_id) == (None, "user-1")  # type: ignore[union-attr]
    assert run.context.subject is not None
    assert run.context.subject.subject_type == "membership"
    run = await FakeHost().run(yielding(results.silent()), event=event(ScheduleTriggered, schedule_id="s"))
    assert run.context.actor is not None
    assert (run.context.actor.actor_type, "actor" in run.state) == ("system", False)


async def test_a_platform_message_is_the_input() -> None:
    run = await FakeHost().run(yielding(results.silent()), event=message("hello", sender=User(id="u7")))
    assert run.context.input.text == "hello"
    assert run.context.actor is not None
    assert run.context.actor.actor_id == "u7"


async def test_a_text_only_runner_gets_a_note_and_an_attachment_for_a_picture() -> None:
    parts = [TextElement(text="see "), MediaElement(type="image", name="cat.png", content_base64="eHl6")]
    seeing = await FakeHost().run(yielding(results.silent()), parts)
    assert [part.type for part in seeing.context.input.contents] == ["text", "image"]
    run = await FakeHost(capabilities={}).run(yielding(results.silent()), AgentInput(text="see", contents=parts))
    assert [part.type for part in run.context.input.contents] == ["text", "text"]
    assert [ref.name for ref in run.context.input.attachments] == ["cat.png"]
