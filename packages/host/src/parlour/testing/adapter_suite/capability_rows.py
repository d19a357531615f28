"""Checks events, components, calls and actions through adapter, Host, plugin process and back."""

from typing import Any

from pydantic import TypeAdapter

from parlour_sdk.protocol.chain import Component, Media, MessageChain

from .driver import Json, PlatformDriver, holds
from .host_bench import HostBench
from .probe import ApiCall, eventually
from .rows import Check

_CHAIN: TypeAdapter[MessageChain] = TypeAdapter(MessageChain)
UNKNOWN_TEXT = "[a sticker]"


def event_reaches_a_plugin(name: str) -> Check:
    async def check(bench: HostBench) -> None:
        events = await _received_events(bench)
        assert name in {_row_name(bench, each["type"]) for each in events}

    return check


def component_is_received(name: str) -> Check:
    async def check(bench: HostBench) -> None:
        events = await _received_events(bench)
        assert name in {part["type"] for each in events for part in each.get("message_chain", ())}

    return check


async def _received_events(bench: HostBench) -> list[Json]:
    async def produce() -> list[Json]:
        bench.route_to_plugins()
        before = {each["event_id"] for each in bench.probe.events()}
        expected = await bench.driver.produce_events(bench.probe)

        def received() -> list[Json]:
            new = [each for each in bench.probe.events() if each["event_id"] not in before]
            return new if not _unmatched(expected, new) else []

        def describe() -> str:
            new = [each for each in bench.probe.events() if each["event_id"] not in before]
            return f"the plugin received {_unmatched(expected, new)}"

        try:
            events = await eventually(received, "the plugin received all events")
        except AssertionError:
            raise AssertionError(describe()) from None
        undeclared = {_row_name(bench, each["type"]) for each in events} - set(bench.driver.manifest.supported_events)
        assert not undeclared
        return events

    events: list[Json] = await bench.remember("events", produce)
    return events


def _unmatched(expected: list[Json], received: list[Json]) -> list[Json]:
    """Returns the expected events for which none is left among the received ones."""
    remaining, unmatched = list(received), []
    for event in expected:
        match = next((each for each in remaining if holds(each, event)), None)
        if match is None:
            unmatched.append(event)
        else:
            remaining.remove(match)
    return unmatched


def _row_name(bench: HostBench, event_type: str) -> str:
    return f"platform.{bench.driver.manifest.name}.*" if event_type.startswith("platform.") else event_type


def component_is_sent(name: str) -> Check:
    async def check(bench: HostBench) -> None:
        assert name in await _sent_components(bench)

    return check


async def _sent_components(bench: HostBench) -> set[str]:
    """Returns the components that a plugin sent and that came back to it as another user's message."""

    async def send() -> set[str]:
        driver, probe = bench.driver, bench.probe
        bench.route_to_plugins()
        chat = await driver.chat_for_components()
        chain = driver.components(chat)
        await probe.calls(_send(chat.kind, chat.id, _CHAIN.dump_python(chain, mode="json", exclude_none=True)))
        before = len(_messages(bench))
        number = await driver.reflect(chat)
        await eventually(lambda: len(_messages(bench)) >= before + number, "the plugin received what it sent")
        chains = [_CHAIN.validate_python(each["message_chain"]) for each in _messages(bench)[before:]]
        received = driver.received_chain(chains)
        assert [type(each) for each in received] == [type(each) for each in chain]
        for sent, returned in zip(chain, received, strict=True):
            assert _same(driver, sent, returned), (sent, returned)
        shown = {type(each).__name__ for each in chain}
        await probe.calls(_send(chat.kind, chat.id, [{"type": "Unknown", "text": UNKNOWN_TEXT}]))
        await driver.until(lambda: UNKNOWN_TEXT in driver.read(chat)[-1:])
        return {*shown, "Unknown"}

    shown: set[str] = await bench.remember("components", send)
    return shown


def _send(kind: str, chat_id: str, chain: Any) -> ApiCall:
    return ApiCall("send_message", "messages.send", {"target_type": kind, "target_id": chat_id, "chain": chain})


def _messages(bench: HostBench) -> list[Json]:
    return [each for each in bench.probe.events() if each["type"] == "message.received"]


def _same(driver: PlatformDriver, sent: Component, received: Component) -> bool:
    """Compares components; the Host stores the content of a file elsewhere and adds what it found out about it."""
    if isinstance(sent, Media) and isinstance(received, Media):
        return sent.name in (None, received.name)
    return driver.same(sent, received)


def call_works(name: str) -> Check:
    if name == "open_stream":
        return stream_is_shown

    async def check(bench: HostBench) -> None:
        async def call() -> set[str]:
            bench.route_to_plugins()
            await bench.driver.use_apis(bench.probe)
            return bench.probe.shown

        assert name in await bench.remember("calls", call)

    return check


async def stream_is_shown(bench: HostBench) -> None:
    """Expects that an answer grows in the platform's own stream, which the Host opens; plugins can't."""
    bench.route_to_slow_agent()
    chat, text = await bench.driver.chat(), "one two three four five six"
    await bench.driver.say(chat, text)
    await bench.driver.until(lambda: bench.driver.read(chat) == [text])
    assert bench.driver.streamed(chat) > 0
