"""Listeners: each event as its own class, in order of priority, with what a handler sets travelling on."""

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


class Noting(EventListener):
    """Writes down who was called, in a list that all instances of a test share."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen


def listening(*listeners: EventListener, **specs: Any) -> Any:
    names = {f"l{number}": listener for number, listener in enumerate(listeners)}
    return serving(loaded(listeners=names, specs={("EventListener", name): spec for name, spec in specs.items()}))


class Welcome(Noting):
    @on("group.member_joined")
    async def welcome(self, event: MemberJoined, ctx: EventContext) -> None:
        self.seen.append((event, ctx))


async def test_a_handler_gets_the_event_as_its_own_class_and_where_it_happened() -> None:
    seen: list[Any] = []
    async with listening(Welcome(seen)) as line:
        outcome = await line.emit(joined())
        [(event, ctx)] = seen
        assert isinstance(event, MemberJoined)
        assert event.member.user.nickname == "Ada"
        assert (ctx.bot.name, ctx.conversation_id) == (BOT["name"], "c-1")
        assert ctx.api is line.service.api
    assert EventOutcome.model_validate(outcome) == EventOutcome(handled=True)


async def test_an_event_that_nobody_waits_for_is_not_handled() -> None:
    seen: list[Any] = []
    async with listening(Welcome(seen)) as line:
        assert not (await line.emit(received()))["handled"]
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
async def test_a_pattern_stands_for_what_it_says(pattern: str, event: dict[str, Any], wanted: bool) -> None:
    class Listener(EventListener):
        @on(pattern)
        async def handle(self, event: PlatformEvent, ctx: EventContext) -> None:
            pass

    async with listening(Listener()) as line:
        assert (await line.emit(event))["handled"] is wanted


class Ordered(Noting):
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


class Late(Noting):
    @on("message.received")
    async def late(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("late")


async def test_handlers_come_by_priority_and_then_as_they_are_declared() -> None:
    seen: list[Any] = []
    async with listening(Ordered(seen), Late(seen)) as line:
        await line.emit(received())
    assert seen == ["first", "second", "third", "late", "last"]


async def test_a_handler_that_is_named_hears_the_event_alone() -> None:
    seen: list[Any] = []
    async with listening(Welcome(seen), Faulty(seen)) as line:
        outcome = await line.emit(received(), handler="l1.works")
        unknown = await line.emit(received(), handler="l1.gone")
    assert EventOutcome.model_validate(outcome) == EventOutcome(handled=True)
    assert seen == [{}]
    assert EventOutcome.model_validate(unknown) == EventOutcome()


async def test_a_listeners_own_priority_is_that_of_handlers_that_have_none() -> None:
    seen: list[Any] = []
    async with listening(Ordered(seen), Late(seen), l1={"priority": 5}) as line:
        await line.emit(received())
    assert seen == ["first", "late", "second", "third", "last"]


async def test_an_inherited_handler_counts_once_and_an_overridden_one_in_its_new_form() -> None:
    class Polite(Late):
        @on("message.received")
        async def late(self, event: Any, ctx: EventContext) -> None:
            self.seen.append("politely late")

        @on("message.received")
        @on("group.member_joined")
        async def both(self, event: Any, ctx: EventContext) -> None:
            self.seen.append(event.type)

    seen: list[Any] = []
    async with listening(Polite(seen)) as line:
        await line.emit(received())
        await line.emit(joined())
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


async def test_what_a_handler_sets_is_seen_by_the_next_and_travels_back() -> None:
    async with listening(Counting()) as line:
        outcome = await line.emit(received(), variables={"count": 1, "old": 5, "same": {"a": None}})
    assert outcome["variables"] == {"count": 3, "by": ["one", "two"], "old": None}


class Stopping(Noting):
    @on("message.received", priority=3)
    async def stops(self, event: Any, ctx: EventContext) -> None:
        ctx.stop()

    @on("message.received", priority=2)
    async def never(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("never")

    @on("message.received", priority=1, observe=True)
    async def observes(self, event: Any, ctx: EventContext) -> None:
        self.seen.append("observed")


async def test_after_a_stop_nobody_handles_the_event_and_observers_still_see_it() -> None:
    seen: list[Any] = []
    async with listening(Stopping(seen)) as line:
        outcome = await line.emit(received())
    assert (outcome["stop_propagation"], seen) == (True, ["observed"])


async def test_only_observers_see_an_event_that_somebody_else_serves() -> None:
    seen: list[Any] = []
    async with listening(Stopping(seen)) as line:
        outcome = await line.emit(received(), observing=True)
    assert (outcome["handled"], outcome["stop_propagation"], seen) == (False, False, ["observed"])


async def test_a_listener_that_observes_observes_with_all_its_handlers() -> None:
    seen: list[Any] = []
    async with listening(Late(seen), l0={"observe": True}) as line:
        assert not (await line.emit(received(), observing=True))["handled"]
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
async def test_an_observer_that_would_change_the_event_is_told_that_it_can_not(
    change: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Meddling(EventListener):
        @on("message.received", observe=True)
        async def meddle(self, event: Any, ctx: EventContext) -> None:
            assert dict(ctx.variables) == {"a": 1}
            change(ctx)

    async with listening(Meddling()) as line:
        outcome = await line.emit(received(), variables={"a": 1})
    assert EventOutcome.model_validate(outcome) == EventOutcome(failed=["l0.meddle"])
    assert "leave `observe` out to take part" in caplog.text


class Faulty(Noting):
    @on("message.received", priority=1)
    async def fails(self, event: Any, ctx: EventContext) -> None:
        ctx.variables["half"] = "done"
        ctx.add_to_prompt("half done")
        ctx.stop()
        raise RuntimeError("the secret is 12345")

    @on("message.received")
    async def works(self, event: Any, ctx: EventContext) -> None:
        self.seen.append(dict(ctx.variables))


async def test_a_failing_handler_harms_no_other_is_logged_and_told_and_leaves_nothing_half_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[Any] = []
    async with listening(Faulty(seen)) as line:
        outcome = await line.emit(received())
    assert EventOutcome.model_validate(outcome) == EventOutcome(handled=True, failed=["l0.fails"])
    assert seen == [{}]
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.getMessage() == "l0.fails failed on message.received e-2"
    assert record.exc_info is not None


async def test_a_variable_that_can_not_travel_is_its_handlers_failure() -> None:
    class Odd(EventListener):
        @on("message.received")
        async def odd(self, event: Any, ctx: EventContext) -> None:
            ctx.variables["lock"] = object()

    async with listening(Odd()) as line:
        outcome = await line.emit(received())
    assert (outcome["handled"], outcome["variables"], outcome["failed"]) == (False, {}, ["l0.odd"])


async def test_additions_to_the_prompt_come_back_in_order() -> None:
    class Adding(EventListener):
        @on("prompt.preparing")
        async def add(self, event: Any, ctx: EventContext) -> None:
            ctx.add_to_prompt("Be kind.")
            ctx.add_to_prompt("By the way", role="user")

    event = {"type": "prompt.preparing", "event_id": "e", "timestamp": 1}
    async with listening(Adding()) as line:
        outcome = await line.emit(event)
    assert outcome["prompt_additions"] == [
        {"role": "system", "text": "Be kind."},
        {"role": "user", "text": "By the way"},
    ]


async def test_a_reply_goes_to_the_chat_of_the_event() -> None:
    class Replying(EventListener):
        @on("message.received")
        async def reply(self, event: MessageReceived, ctx: EventContext) -> None:
            sent = await ctx.reply(["Hello ", At(target=event.sender.id), Plain(text="!")], quote=True)
            ctx.variables["sent"] = sent.message_id

    async with listening(Replying()) as line:
        outcome = await line.emit(received())
        [(action, data)] = line.host.asked
    assert (action, data["bot_id"], data["event_id"], data["quote"]) == ("reply_message", "bot-1", "e-2", True)
    assert [part["type"] for part in data["chain"]] == ["Plain", "At", "Plain"]
    assert outcome["variables"] == {"sent": "m-9"}


async def test_what_the_host_refuses_a_handler_is_that_handlers_failure() -> None:
    class Replying(EventListener):
        @on("message.received")
        async def reply(self, event: MessageReceived, ctx: EventContext) -> None:
            await ctx.reply("hi")

    async with listening(Replying()) as line:
        line.host.answers["reply_message"] = WireError("unauthorized", "message.send was not granted")
        outcome = await line.emit(received())
    assert outcome["failed"] == ["l0.reply"]


async def test_a_function_is_a_listener_too() -> None:
    seen: list[str] = []

    @on("message.received")
    async def hear(event: MessageReceived, ctx: EventContext) -> None:
        seen.append(event.message_id)

    async with listening(FunctionListener("hear", hear)) as line:
        assert (await line.emit(received()))["handled"]
    assert seen == ["m-1"]


async def test_an_event_of_a_newer_host_reaches_those_who_wait_for_a_pattern() -> None:
    class Everything(Noting):
        @on("*")
        async def hear(self, event: PlatformEvent, ctx: EventContext) -> None:
            self.seen.append((type(event), event.type))

    seen: list[Any] = []
    async with listening(Everything(seen)) as line:
        await line.emit({"type": "message.pinned", "event_id": "e", "timestamp": 1, "pin": {"id": 5}})
        await line.emit({**joined(), "type": "platform.telegram.poll", "action": "poll", "data": {}})
        await line.emit(joined(mood="glad"))
    assert seen == [
        (PlatformEvent, "message.pinned"),
        (PlatformSpecific, "platform.telegram.poll"),
        (MemberJoined, "group.member_joined"),
    ]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({**joined(), "group": 5}, "event.group"),
        ({"type": "message.received"}, "event.event_id"),
        ({}, "event.type"),
    ],
)
async def test_an_event_that_is_none_is_refused_by_its_field(event: dict[str, Any], told: str) -> None:
    async with listening(Welcome([])) as line:
        with pytest.raises(WireError, match=told) as refusal:
            await line.emit(event)
    assert refusal.value.code == "invalid_argument"


async def test_a_handler_is_cancelled_when_the_host_does_not_wait_any_longer() -> None:
    class Slow(EventListener):
        def __init__(self) -> None:
            self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

        @on("message.received")
        async def wait(self, event: Any, ctx: EventContext) -> None:
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()

    slow = Slow()
    async with listening(slow) as line:
        asking = asyncio.ensure_future(line.emit(received()))
        await asyncio.wait_for(slow.begun.wait(), 30)
        asking.cancel()
        await asyncio.wait_for(slow.cancelled.wait(), 30)
        assert (await line.emit(joined()))["handled"] is False
