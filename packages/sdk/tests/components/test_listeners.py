"""Tests listeners: typed events, handlers in order of priority, and variables that are passed on."""

import asyncio
import logging
from typing import Any

import pytest

from parlour_sdk.components import EventContext, EventListener, on
from parlour_sdk.components.functions import FunctionListener
from parlour_sdk.protocol.chain import At, Plain
from parlour_sdk.protocol.components import EventOutcome
from parlour_sdk.protocol.platform_events import MemberJoined, MessageReceived, PlatformEvent, PlatformSpecific
from parlour_sdk.wire import WireError

from .support import BOT, joined, loaded, received, serving


class RecordingListener(EventListener):
    """Records calls in a list that all listeners of a test share."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen


def serving_listeners(*listeners: EventListener, **specs: Any) -> Any:
    names = {f"l{number}": listener for number, listener in enumerate(listeners)}
    return serving(loaded(listeners=names, specs={("EventListener", name): spec for name, spec in specs.items()}))


class Welcome(RecordingListener):
    @on("group.member_joined")
    async def welcome(self, event: MemberJoined, ctx: EventContext) -> None:
        self.seen.append((event, ctx))


async def test_a_handler_receives_the_typed_event_with_bot_and_conversation() -> None:
    seen: list[Any] = []
    async with serving_listeners(Welcome(seen)) as connection:
        outcome = await connection.emit(joined())
        [(event, ctx)] = seen
        assert isinstance(event, MemberJoined)
        assert event.member.user.nickname == "Ada"
        assert (ctx.bot.name, ctx.conversation_id) == (BOT["name"], "c-1")
        assert ctx.api is connection.service.api
    assert EventOutcome.model_validate(outcome) == EventOutcome(handled=True)


async def test_an_event_without_a_handler_is_not_handled() -> None:
    seen: list[Any] = []
    async with serving_listeners(Welcome(seen)) as connection:
        assert not (await connection.emit(received()))["handled"]
    assert seen == []


@pytest.mark.parametrize(
    ("pattern", "event", "wanted"),
    [
        ("*", received(), True),
        ("message.*", received(), True),
        ("message.*", joined(), False),
        ("message.received", received(), True),
        ("message.edited", received(), False),
        ("platform.telegram.*", {**joined(), "type": "platform.telegram.poll", "action": "poll"}, True),
        ("platform.*", {**joined(), "type": "platform.telegram.poll", "action": "poll"}, True),
        (
            "message.recalled",
            {**received(), "type": "message.deleted", "operator": {"id": "u"}},
            True,
        ),
    ],
)
async def test_a_pattern_matches_its_events_only(pattern: str, event: dict[str, Any], wanted: bool) -> None:
    class Listener(EventListener):
        @on(pattern)
        async def handle(self, event: PlatformEvent, ctx: EventContext) -> None:
            pass

    async with serving_listeners(Listener()) as connection:
        assert (await connection.emit(event))["handled"] is wanted


class Ordered(RecordingListener):
    @on("message.received")
    async def second(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("second")

    @on("message.received", priority=10)
    async def first(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("first")

    @on("message.received")
    async def third(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("third")

    @on("message.*", priority=-1)
    async def last(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("last")


class Late(RecordingListener):
    @on("message.received")
    async def late(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("late")


async def test_handlers_run_by_priority_and_then_in_order_of_declaration() -> None:
    seen: list[Any] = []
    async with serving_listeners(Ordered(seen), Late(seen)) as connection:
        await connection.emit(received())
    assert seen == ["first", "second", "third", "late", "last"]


async def test_only_the_named_handler_receives_the_event() -> None:
    seen: list[Any] = []
    async with serving_listeners(Welcome(seen), Faulty(seen)) as connection:
        outcome = await connection.emit(received(), handler="l1.works")
        unknown = await connection.emit(received(), handler="l1.gone")
    assert EventOutcome.model_validate(outcome) == EventOutcome(handled=True)
    assert seen == [{}]
    assert EventOutcome.model_validate(unknown) == EventOutcome()


async def test_handlers_without_a_priority_have_that_of_their_listener() -> None:
    seen: list[Any] = []
    async with serving_listeners(Ordered(seen), Late(seen), l1={"priority": 5}) as connection:
        await connection.emit(received())
    assert seen == ["first", "late", "second", "third", "last"]


async def test_an_inherited_handler_runs_once_and_an_overridden_one_is_replaced() -> None:
    class Polite(Late):
        @on("message.received")
        async def late(self, event: Any, ctx: EventContext) -> None:
            self.seen.append("politely late")

        @on("message.received")
        @on("group.member_joined")
        async def both(self, event: Any, ctx: EventContext) -> None:
            self.seen.append(event.type)

    seen: list[Any] = []
    async with serving_listeners(Polite(seen)) as connection:
        await connection.emit(received())
        await connection.emit(joined())
    assert seen == ["politely late", "message.received", "group.member_joined"]


class Counting(EventListener):
    @on("message.received", priority=2)
    async def one(self, event: Any, ctx: EventContext) -> None:
        ctx.variables["count"] += 1
        ctx.variables["by"] = ["one"]
        del ctx.variables["old"]

    @on("message.received", priority=1)
    async def two(self, event: Any, ctx: EventContext) -> None:
        ctx.variables["count"] += 1
        ctx.variables["by"].append("two")


async def test_variables_of_a_handler_reach_the_next_one_and_the_host() -> None:
    async with serving_listeners(Counting()) as connection:
        outcome = await connection.emit(received(), variables={"count": 1, "old": 5, "same": {"a": None}})
    assert outcome["variables"] == {"count": 3, "by": ["one", "two"], "old": None}


class Stopping(RecordingListener):
    @on("message.received", priority=3)
    async def stops(self, event: Any, ctx: EventContext) -> None:
        ctx.stop()

    @on("message.received", priority=2)
    async def never(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("never")

    @on("message.received", priority=1, observe=True)
    async def observes(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("observed")


async def test_after_a_stop_only_observers_receive_the_event() -> None:
    seen: list[Any] = []
    async with serving_listeners(Stopping(seen)) as connection:
        outcome = await connection.emit(received())
    assert (outcome["stop_propagation"], seen) == (True, ["observed"])


async def test_an_event_that_is_only_observed_reaches_observers_only() -> None:
    seen: list[Any] = []
    async with serving_listeners(Stopping(seen)) as connection:
        outcome = await connection.emit(received(), observing=True)
    assert (outcome["handled"], outcome["stop_propagation"], seen) == (False, False, ["observed"])


async def test_all_handlers_of_an_observing_listener_observe() -> None:
    seen: list[Any] = []
    async with serving_listeners(Late(seen), l0={"observe": True}) as connection:
        assert not (await connection.emit(received(), observing=True))["handled"]
    assert seen == ["late"]


def _stop(ctx: EventContext) -> None:
    ctx.stop()


def _add(ctx: EventContext) -> None:
    ctx.add_to_prompt("x")


def _set(ctx: EventContext) -> None:
    ctx.variables["a"] = 2


def _remove(ctx: EventContext) -> None:
    del ctx.variables["a"]


def _update(ctx: EventContext) -> None:
    ctx.variables.update(a=2)


@pytest.mark.parametrize("change", [_stop, _add, _set, _remove, _update])
async def test_an_observer_that_changes_the_event_fails_with_the_remedy(
    change: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Changing(EventListener):
        @on("message.received", observe=True)
        async def change_event(self, event: Any, ctx: EventContext) -> None:
            assert dict(ctx.variables) == {"a": 1}
            change(ctx)

    async with serving_listeners(Changing()) as connection:
        outcome = await connection.emit(received(), variables={"a": 1})
    assert EventOutcome.model_validate(outcome) == EventOutcome(failed=["l0.change_event"])
    assert "leave `observe` out to take part" in caplog.text


class Faulty(RecordingListener):
    @on("message.received", priority=1)
    async def fails(self, event: Any, ctx: EventContext) -> None:
        ctx.variables["half"] = "done"
        ctx.add_to_prompt("half done")
        ctx.stop()
        raise RuntimeError("the secret is 12345")

    @on("message.received")
    async def works(self, event: Any, ctx: EventContext) -> None:
        self.seen.append(dict(ctx.variables))


async def test_a_failing_handler_is_reported_and_its_changes_are_discarded(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[Any] = []
    async with serving_listeners(Faulty(seen)) as connection:
        outcome = await connection.emit(received())
    assert EventOutcome.model_validate(outcome) == EventOutcome(handled=True, failed=["l0.fails"])
    assert seen == [{}]
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.getMessage() == "l0.fails failed on message.received e-2"
    assert record.exc_info is not None


async def test_a_variable_that_is_not_json_fails_its_handler() -> None:
    class Odd(EventListener):
        @on("message.received")
        async def odd(self, event: Any, ctx: EventContext) -> None:
            ctx.variables["lock"] = object()

    async with serving_listeners(Odd()) as connection:
        outcome = await connection.emit(received())
    assert (outcome["handled"], outcome["variables"], outcome["failed"]) == (False, {}, ["l0.odd"])


PROMPT_EVENT = {"type": "prompt.preparing", "event_id": "e", "timestamp": 1}


async def test_prompt_additions_are_returned_in_order() -> None:
    class Adding(EventListener):
        @on("prompt.preparing")
        async def add(self, event: Any, ctx: EventContext) -> None:
            ctx.add_to_prompt("Be kind.")
            ctx.add_to_prompt("By the way", role="user")

    async with serving_listeners(Adding()) as connection:
        outcome = await connection.emit(PROMPT_EVENT)
    assert outcome["prompt_additions"] == [
        {"role": "system", "text": "Be kind."},
        {"role": "user", "text": "By the way"},
    ]


ARRIVING = {
    "type": "message.arriving",
    "event_id": "e",
    "timestamp": 1,
    "agent_id": "agent",
    "message_id": "m",
    "message_chain": [],
    "sender": {"id": "ann"},
    "chat_type": "private",
    "chat_id": "ann",
    "text": "hi",
}


async def test_replies_on_the_path_are_returned_and_not_sent() -> None:
    class Answering(EventListener):
        @on("message.arriving")
        async def answer(self, event: Any, ctx: EventContext) -> None:
            await ctx.reply("One moment.")
            ctx.change_input(text=f"{event.text}!")

        @on("*")
        async def other(self, event: Any, ctx: EventContext) -> None:
            ctx.stop()

    async with serving_listeners(Answering()) as connection:
        outcome = EventOutcome.model_validate(await connection.emit(ARRIVING))
    assert [each.text for each in outcome.replies] == ["One moment."]
    assert outcome.input is not None
    assert (outcome.input.text, outcome.stop_propagation) == ("hi!", False)


async def test_prompt_and_reply_are_replaced_as_the_last_handler_says() -> None:
    class Replacing(EventListener):
        @on("prompt.preparing")
        async def prompt(self, event: Any, ctx: EventContext) -> None:
            ctx.replace_prompt([{"role": "system", "content": "Be brief."}])

        @on("reply.preparing")
        async def replace(self, event: Any, ctx: EventContext) -> None:
            ctx.replace_reply("one", ["two ", At(target="ann")])

    reply = {
        "type": "reply.preparing",
        "run_id": "r",
        "chat_type": "private",
        "chat_id": "c",
        "text": "",
        "content": "",
    }
    async with serving_listeners(Replacing()) as connection:
        prompt = EventOutcome.model_validate(await connection.emit({**PROMPT_EVENT}))
        replaced = EventOutcome.model_validate(await connection.emit({**reply, "event_id": "e", "timestamp": 1}))
    assert [each.content for each in prompt.prompt or ()] == ["Be brief."]
    assert [each.text for each in replaced.replacement or ()] == ["one", None]


async def test_change_for_another_event_fails_its_handler() -> None:
    class Confused(EventListener):
        @on("message.arriving")
        async def confused(self, event: Any, ctx: EventContext) -> None:
            ctx.replace_reply("too early")

    async with serving_listeners(Confused()) as connection:
        outcome = await connection.emit(ARRIVING)
    assert (outcome["handled"], outcome["failed"]) == (False, ["l0.confused"])


async def test_a_reply_is_sent_to_the_chat_of_the_event() -> None:
    class Replying(EventListener):
        @on("message.received")
        async def reply(self, event: MessageReceived, ctx: EventContext) -> None:
            sent = await ctx.reply(["Hello ", At(target=event.sender.id), Plain(text="!")], quote=True)
            ctx.variables["sent"] = sent.message_id

    async with serving_listeners(Replying()) as connection:
        outcome = await connection.emit(received())
        [(action, data)] = connection.host.requests
    assert (action, data["bot_id"], data["event_id"], data["quote"]) == ("reply_message", "bot-1", "e-2", True)
    assert [part["type"] for part in data["chain"]] == ["Plain", "At", "Plain"]
    assert outcome["variables"] == {"sent": "m-9"}


async def test_a_refusal_of_the_host_fails_the_handler() -> None:
    class Replying(EventListener):
        @on("message.received")
        async def reply(self, event: MessageReceived, ctx: EventContext) -> None:
            await ctx.reply("hi")

    async with serving_listeners(Replying()) as connection:
        connection.host.answers["reply_message"] = WireError("unauthorized", "message.send was not granted")
        outcome = await connection.emit(received())
    assert outcome["failed"] == ["l0.reply"]


async def test_a_function_can_be_a_listener() -> None:
    seen: list[str] = []

    @on("message.received")
    async def hear(event: MessageReceived, ctx: EventContext) -> None:
        seen.append(event.message_id)

    async with serving_listeners(FunctionListener("hear", hear)) as connection:
        assert (await connection.emit(received()))["handled"]
    assert seen == ["m-1"]


async def test_an_unknown_event_of_a_newer_host_reaches_matching_patterns() -> None:
    class Everything(RecordingListener):
        @on("*")
        async def hear(self, event: PlatformEvent, ctx: EventContext) -> None:
            self.seen.append((type(event), event.type))

    seen: list[Any] = []
    async with serving_listeners(Everything(seen)) as connection:
        await connection.emit({"type": "message.pinned", "event_id": "e", "timestamp": 1, "pin": {"id": 5}})
        await connection.emit({**joined(), "type": "platform.telegram.poll", "action": "poll", "data": {}})
        await connection.emit(joined(mood="glad"))
    assert seen == [
        (PlatformEvent, "message.pinned"),
        (PlatformSpecific, "platform.telegram.poll"),
        (MemberJoined, "group.member_joined"),
    ]


@pytest.mark.parametrize(
    ("event", "field"),
    [
        ({**joined(), "group": 5}, "event.group"),
        ({"type": "message.received"}, "event.event_id"),
        ({}, "event.type"),
    ],
)
async def test_an_invalid_event_is_refused_by_its_field(event: dict[str, Any], field: str) -> None:
    async with serving_listeners(Welcome([])) as connection:
        with pytest.raises(WireError, match=field) as refusal:
            await connection.emit(event)
    assert refusal.value.code == "invalid_argument"


async def test_a_handler_is_cancelled_with_the_call_of_the_host() -> None:
    class Slow(EventListener):
        def __init__(self) -> None:
            self.started, self.cancelled = asyncio.Event(), asyncio.Event()

        @on("message.received")
        async def wait(self, event: Any, ctx: EventContext) -> None:
            self.started.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()

    slow = Slow()
    async with serving_listeners(slow) as connection:
        emitting = asyncio.ensure_future(connection.emit(received()))
        await asyncio.wait_for(slow.started.wait(), 30)
        emitting.cancel()
        await asyncio.wait_for(slow.cancelled.wait(), 30)
        assert (await connection.emit(joined()))["handled"] is False
