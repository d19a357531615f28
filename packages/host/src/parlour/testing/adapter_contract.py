"""Tests that every adapter must pass. An adapter joins with a subclass that has a fixture `rig`, of ConnectingContract
if the adapter connects and not the platform.

The rig is the adapter on a MemoryLink, with a simulator as the platform over the real transport.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import signature
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, IncomingEvent
from parlour_sdk.protocol.chain import Component, MessageChain, Platform, Source, Unknown
from parlour_sdk.protocol.platform_api import NotSupportedError

from .memory_link import MemoryLink
from .native_payloads import Sample, decoded
from .platform_surface import APIS, COMPONENTS, COMPOSED, EVENTS, implemented

CHAT = "4242"


class Rig(ABC):
    """Represents an adapter that is connected to its simulated platform."""

    manifest: AdapterManifest
    link: MemoryLink
    adapter: Adapter
    api: type[PlatformApi]
    token: str
    """The configuration of the adapter."""
    samples: Sequence[Sample]

    @abstractmethod
    async def deliver(self, native: Any) -> None:
        """Lets the platform report this payload."""

    @abstractmethod
    async def say(self, text: str) -> None:
        """Lets a user write in the chat CHAT."""

    @abstractmethod
    async def echo(self) -> None:
        """Lets the platform report a message of the bot itself."""

    @abstractmethod
    async def cut(self) -> None:
        """Breaks the connection; the platform can be reached again at once."""

    @abstractmethod
    async def cut_for_long(self, times: int) -> None:
        """Breaks the connection and lets this many attempts to connect fail. It concerns adapters that connect."""

    @abstractmethod
    async def malformed(self) -> int:
        """Lets the platform report many unreadable payloads and returns their number."""

    @abstractmethod
    async def reflected(self, chain: MessageChain) -> MessageChain:
        """Sends the chain and lets the platform report the same content as another user's message."""

    @abstractmethod
    def chain_of_everything(self) -> MessageChain:
        """Returns every component that the platform carries, several of them twice, in an order that matters."""

    def same(self, sent: Component, received: Component) -> bool:
        """Compares a sent with a received component. Subclasses list here the parts that the
        platform can't carry back.
        """
        return sent == received


class AdapterContract:
    """Contains the tests of all adapters. Subclasses have a fixture `rig`."""

    def test_declares_exactly_what_it_implements(self, rig: Rig) -> None:
        assert set(rig.manifest.supported_apis) == implemented(rig.api)

    def test_leaves_nothing_out_without_a_reason(self, rig: Rig) -> None:
        manifest = rig.manifest
        components = {f"receive {name}" for name in set(COMPONENTS) - set(manifest.components.receive)}
        components |= {f"send {name}" for name in set(COMPONENTS) - set(manifest.components.send)}
        missing = (set(EVENTS) - set(manifest.supported_events)) | (set(APIS) - set(manifest.supported_apis))
        assert missing | components == set(manifest.not_supported)
        assert all(manifest.not_supported.values())

    async def test_refuses_by_name_what_it_does_not_declare(self, rig: Rig) -> None:
        api = rig.adapter.api()
        for name in set(APIS) - set(rig.manifest.supported_apis) - set(COMPOSED) - {"call_platform_api"}:
            method = getattr(api, name)
            arguments = [_example(each.annotation) for each in signature(method).parameters.values()]
            with pytest.raises(NotSupportedError) as refusal:
                await method(*arguments)
            assert refusal.value.api == name

    async def test_refuses_an_action_that_it_does_not_declare(self, rig: Rig) -> None:
        with pytest.raises(NotSupportedError):
            await rig.adapter.api().call_platform_api("no_such_action", {})

    def test_exactly_the_declared_events_have_samples(self, rig: Rig) -> None:
        own = f"platform.{rig.manifest.name}."
        seen = {f"{own}*" if sample.event.startswith(own) else sample.event for sample in rig.samples}
        assert seen == set(rig.manifest.supported_events)

    async def test_samples_become_the_events_that_were_recorded(self, rig: Rig) -> None:
        for number, sample in enumerate(rig.samples, 1):
            await rig.deliver(sample.native)
            incoming = (await rig.link.events(number))[-1]
            assert decoded(incoming) == sample.decoded, sample.name

    async def test_the_same_event_has_the_same_id_and_another_has_another(self, rig: Rig) -> None:
        for times in (1, 2):
            for sample in rig.samples:
                await rig.deliver(sample.native)
            incoming = await rig.link.events(times * len(rig.samples))
        first, again = _ids(incoming[: len(rig.samples)]), _ids(incoming[len(rig.samples) :])
        assert sorted(first) == sorted(again)
        assert len(set(first)) == len(rig.samples)

    async def test_every_component_comes_back_in_its_place(self, rig: Rig) -> None:
        chain = rig.chain_of_everything()
        assert {type(each).__name__ for each in chain} >= set(rig.manifest.components.send) - {"Unknown"}
        received = [each for each in await rig.reflected(chain) if not isinstance(each, Source)]
        assert [type(each) for each in received] == [type(each) for each in chain]
        for sent, back in zip(chain, received, strict=True):
            assert rig.same(sent, back), (sent, back)

    async def test_its_own_messages_are_no_events(self, rig: Rig) -> None:
        await rig.echo()
        await rig.say("after the echo")
        incoming = await rig.link.events(1)
        assert len(incoming) == 1
        assert not _is_own(incoming[0])

    async def test_it_connects_again_after_a_cut(self, rig: Rig) -> None:
        await rig.say("before")
        await rig.link.events(1)
        connected = len(rig.link.states)
        await rig.cut()
        await rig.say("after")
        await rig.link.events(2)
        states = [state for state, _ in rig.link.states[connected:]]
        assert states[-1] == "connected"
        assert "connecting" in states

    async def test_what_cannot_be_read_harms_nothing(self, rig: Rig) -> None:
        await rig.malformed()
        await rig.say("still here")
        await rig.link.until(lambda: any(_says(each, "still here") for each in rig.link.incoming))
        strange = [each for each in rig.link.incoming if not _says(each, "still here")]
        assert all(_is_told_as_strange(each) for each in strange)

    async def test_its_token_is_never_logged(self, rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        await rig.say("hello")
        await rig.link.events(1)
        await rig.cut()
        await rig.say("again")
        await rig.link.events(2)
        assert rig.token not in caplog.text
        assert all(rig.token not in error for _, error in rig.link.states)


class ConnectingContract(AdapterContract):
    async def test_it_tries_again_at_intervals_that_grow(self, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        waits: list[float] = []
        another = Backoff.next_delay

        def noted(backoff: Backoff) -> float:
            waits.append(another(backoff))
            return waits[-1]

        monkeypatch.setattr(Backoff, "next_delay", noted)
        monkeypatch.setattr("random.uniform", lambda least, most: most)
        await rig.cut_for_long(3)
        await rig.say("after all")
        await rig.link.events(1)
        assert waits == pytest.approx([waits[0] * 2**number for number in range(4)])


def _ids(incoming: Sequence[IncomingEvent]) -> list[str]:
    return [each.event.event_id for each in incoming]


def _is_own(incoming: IncomingEvent) -> bool:
    sender = getattr(incoming.event, "sender", None)
    return sender is not None and sender.id == incoming.self_id


def _says(incoming: IncomingEvent, text: str) -> bool:
    chain = getattr(incoming.event, "message_chain", ())
    return any(getattr(each, "text", "") == text for each in chain)


def _is_told_as_strange(incoming: IncomingEvent) -> bool:
    """Expects an event of the platform's own kind, or a message with its unreadable parts."""
    chain = getattr(incoming.event, "message_chain", ())
    return incoming.event.type.startswith("platform.") or any(isinstance(each, Unknown | Platform) for each in chain)


def _example(annotation: Any) -> Any:
    return {str: "1", bool: True, int: 1, bytes: b"x"}.get(annotation, "private")
