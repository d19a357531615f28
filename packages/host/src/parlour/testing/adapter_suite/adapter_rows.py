"""Checks the behaviours that an adapter shows without a Host."""

import logging
from collections.abc import Sequence
from inspect import signature
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.testing.native_payloads import decoded
from parlour.testing.platform_surface import APIS, COMPONENTS, COMPOSED, EVENTS, implemented
from parlour_sdk.protocol.chain import Platform, Unknown
from parlour_sdk.protocol.platform_api import NotSupportedError

from .adapter_bench import AdapterBench
from .rows import BEHAVIOURS, absence_key, behaviour

MALFORMED = 200
FAILED_ATTEMPTS = 3


@behaviour("complete declaration", on_host=False)
async def declares_exactly_what_it_implements(bench: AdapterBench) -> None:
    """Expects that the manifest has every event, call and component, or the reason for its absence."""
    manifest = bench.driver.manifest
    assert set(manifest.supported_apis) == implemented(bench.driver.api)
    answered = set(manifest.supported_apis) | set(manifest.seen_apis)
    absent = (set(EVENTS) - set(manifest.supported_events)) | (set(APIS) - answered)
    absent |= {f"receive {name}" for name in set(COMPONENTS) - set(manifest.components.receive)}
    absent |= {f"send {name}" for name in set(COMPONENTS) - set(manifest.components.send)}
    behaviours = {absence_key(name) for name in BEHAVIOURS}
    assert absent == set(manifest.not_supported) - behaviours
    assert all(reason.strip() for reason in manifest.not_supported.values())


@behaviour("undeclared calls are refused", on_host=False)
async def refuses_by_name_what_it_does_not_declare(bench: AdapterBench) -> None:
    api = bench.adapter.api()
    for name in set(APIS) - set(bench.driver.manifest.supported_apis) - set(COMPOSED) - {"call_platform_api"}:
        method = getattr(api, name)
        arguments = [_example(each.annotation) for each in signature(method).parameters.values()]
        assert await _refused(method(*arguments)) == name
    assert await _refused(api.call_platform_api("no_such_action", {}))


@behaviour("decoding of samples", on_host=False)
async def samples_become_the_events_that_were_recorded(bench: AdapterBench) -> None:
    samples, own_prefix = bench.driver.samples, f"platform.{bench.driver.manifest.name}."
    sampled = {f"{own_prefix}*" if each.event.startswith(own_prefix) else each.event for each in samples}
    assert sampled == set(bench.driver.manifest.supported_events)
    for number, sample in enumerate(samples, 1):
        await bench.driver.deliver(sample.native)
        incoming = (await bench.link.events(number))[-1]
        assert decoded(incoming) == sample.decoded, sample.name


@behaviour("identity of events", on_host=False)
async def the_same_event_has_the_same_id_and_another_has_another(bench: AdapterBench) -> None:
    samples, number = bench.driver.samples, len(bench.driver.samples)
    incoming: Sequence[IncomingEvent] = ()
    for times in (1, 2):
        for sample in samples:
            await bench.driver.deliver(sample.native)
        incoming = await bench.link.events(times * number)
    ids = [each.event.event_id for each in incoming]
    assert sorted(ids[:number]) == sorted(ids[number:])
    assert len(set(ids[:number])) == number


@behaviour("components both ways", on_host=False)
async def every_component_comes_back_in_its_place(bench: AdapterBench) -> None:
    driver = bench.driver
    chat = await driver.chat_for_components()
    chain = driver.components(chat)
    assert {type(each).__name__ for each in chain} >= set(driver.manifest.components.send) - {"Unknown"}
    await bench.adapter.api().send_message(chat.kind, chat.id, chain)
    number = await driver.reflect(chat)
    await bench.link.until(lambda: len(_messages(bench)) >= number)
    received = driver.received_chain(
        [each.event.message_chain for each in _messages(bench)]  # type: ignore[attr-defined]
    )
    assert [type(each) for each in received] == [type(each) for each in chain]
    for sent, returned in zip(chain, received, strict=True):
        assert driver.same(sent, returned), (sent, returned)


@behaviour("own messages are no events", on_host=False)
async def own_messages_are_left_out(bench: AdapterBench) -> None:
    chat = await bench.driver.chat()
    await bench.driver.echo(chat)
    await bench.driver.say(chat, "after the echo")
    await bench.link.until(lambda: any(_says(each, "after the echo") for each in bench.link.incoming))
    assert [_says(each, "after the echo") for each in _messages(bench)] == [True]


@behaviour("status of the connection", on_host=False)
async def a_cut_and_the_next_connection_are_reported(bench: AdapterBench) -> None:
    chat = await bench.driver.chat()
    await bench.driver.say(chat, "before")
    await bench.link.until(lambda: any(_says(each, "before") for each in bench.link.incoming))
    connected = len(bench.link.states)
    await bench.driver.cut()
    await bench.driver.say(chat, "after")
    await bench.link.until(lambda: any(_says(each, "after") for each in bench.link.incoming))
    states = [state for state, _ in bench.link.states[connected:]]
    assert states[-1] == "connected"
    assert "connecting" in states


@behaviour("growing intervals between attempts", on_host=False, for_connecting=True)
async def it_tries_again_at_intervals_that_grow(bench: AdapterBench) -> None:
    chat = await bench.driver.chat()
    bench.backoff.delays.clear()
    await bench.driver.cut_for_long(FAILED_ATTEMPTS)
    await bench.driver.say(chat, "after all")
    await bench.link.until(lambda: any(_says(each, "after all") for each in bench.link.incoming))
    first, *others = bench.backoff.delays
    assert others == [first * 2**number for number in range(1, FAILED_ATTEMPTS + 1)]


@behaviour("unreadable payloads", on_host=False)
async def an_unreadable_payload_is_reported_as_such(bench: AdapterBench) -> None:
    chat = await bench.driver.chat()
    await bench.driver.say(chat, "ready")
    await bench.link.until(lambda: any(_says(each, "ready") for each in bench.link.incoming))
    before = len(bench.link.incoming)
    await bench.driver.malformed(chat, seed=7, number=MALFORMED)
    await bench.driver.say(chat, "still here")
    await bench.link.until(lambda: any(_says(each, "still here") for each in bench.link.incoming))
    others = [each for each in bench.link.incoming[before:] if not _says(each, "still here")]
    assert others
    assert all(_is_reported_as_unreadable(each) for each in others)


@behaviour("late acknowledgement", on_host=False)
async def an_event_is_acknowledged_after_it_was_stored(bench: AdapterBench) -> None:
    """Expects that the platform may repeat an event until it is stored, and that the repeat has the same id."""
    driver, link = bench.driver, bench.link
    chat = await driver.chat()
    await driver.say(chat, "ready")
    await link.until(lambda: any(_says(each, "ready") for each in link.incoming))
    await driver.until(lambda: driver.unacknowledged() == 0)
    link.hold()
    offered = link.offered
    await driver.say(chat, "late")
    await link.until(lambda: link.offered > offered)
    assert driver.unacknowledged() > 0
    assert not any(_says(each, "late") for each in link.incoming)
    await driver.repeat()
    link.open()
    await driver.until(lambda: driver.unacknowledged() == 0)
    await driver.say(chat, "next")
    await link.until(lambda: any(_says(each, "next") for each in link.incoming))
    assert len({each.event.event_id for each in link.incoming if _says(each, "late")}) == 1


@behaviour("secrets are never logged", on_host=False)
async def its_token_is_in_no_log_line_or_status(bench: AdapterBench) -> None:
    records: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(self.format(record))

    root, collector = logging.getLogger(), Collector()
    level, chat = root.level, await bench.driver.chat()
    root.addHandler(collector)
    root.setLevel(logging.DEBUG)
    try:
        await bench.driver.cut()
        await bench.driver.say(chat, "again")
        await bench.link.until(lambda: any(_says(each, "again") for each in bench.link.incoming))
    finally:
        root.removeHandler(collector)
        root.setLevel(level)
    assert all(bench.driver.token not in line for line in records)
    assert all(bench.driver.token not in error for _, error in bench.link.states)


async def _refused(call: Any) -> str:
    """Returns the name by which a call is refused; empty if it is not refused."""
    try:
        await call
    except NotSupportedError as refusal:
        return refusal.api
    return ""


def _messages(bench: AdapterBench) -> list[IncomingEvent]:
    return [each for each in bench.link.incoming if each.event.type == "message.received"]


def _says(incoming: IncomingEvent, text: str) -> bool:
    chain = getattr(incoming.event, "message_chain", ())
    return any(getattr(each, "text", "") == text for each in chain)


def _is_reported_as_unreadable(incoming: IncomingEvent) -> bool:
    chain = getattr(incoming.event, "message_chain", ())
    return incoming.event.type.startswith("platform.") or any(isinstance(each, Unknown | Platform) for each in chain)


def _example(annotation: Any) -> Any:
    return {str: "1", bool: True, int: 1, bytes: b"x"}.get(annotation, "private")
