"""The adapter passes the contract suite of adapters, in both directions of its WebSocket."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import parlour.platforms.onebot11 as package
from parlour.core.platforms.port import Adapter
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.onebot11.api import OneBotApi
from parlour.testing.adapter_contract import CHAT, AdapterContract, ConnectingContract, Rig
from parlour.testing.memory_link import MemoryLink
from parlour.testing.native_payloads import read_samples
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator
from parlour.testing.onebot_simulator.malformed import frames
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Video,
    Voice,
)

from .conftest import TOKEN

SAMPLES = Path(package.__file__).parent / "samples"


class OneBotRig(Rig):
    manifest = BuiltinAdapterCatalogue().manifests()["onebot11"]
    api = OneBotApi
    token = TOKEN
    samples = read_samples(SAMPLES)

    def __init__(self, link: MemoryLink, adapter: Adapter, simulator: Simulator) -> None:
        self.link = link
        self.adapter = adapter
        self.simulator = simulator

    async def deliver(self, native: Any) -> None:
        await self.simulator.send_frame(json.dumps(native))

    async def say(self, text: str) -> None:
        await self.simulator.say(text, user_id=int(CHAT))

    async def echo(self) -> None:
        await self.simulator.say("I said this myself", user_id=self.simulator.self_id)
        await self.simulator.report({**await self._own(), "post_type": "message_sent"})

    async def _own(self) -> dict[str, Any]:
        return {"time": 1, "self_id": self.simulator.self_id, "user_id": self.simulator.self_id, "message_id": 3}

    async def cut(self) -> None:
        await self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.turns_away = times
        await self.cut()

    async def malformed(self) -> int:
        sent = frames(seed=7, number=200, self_id=self.simulator.self_id)
        for frame in sent:
            await self.simulator.send_frame(frame)
        return len(sent)

    async def reflected(self, chain: MessageChain) -> MessageChain:
        await self.adapter.api().send_message("private", CHAT, chain)
        segments = [segment for sent in self.simulator.sent() for segment in _as_reported(sent.segments, sent.forward)]
        await self.simulator.say(segments, user_id=int(CHAT))
        incoming = (await self.link.events(1))[-1]
        return list(incoming.event.message_chain)  # type: ignore[attr-defined]

    def chain_of_everything(self) -> MessageChain:
        quoted = self.simulator.world.show(f"private:{CHAT}", [{"type": "text", "data": {"text": "earlier"}}])
        self.simulator.world.sent.clear()
        return [
            Quote(id=str(quoted.message_id), sender=str(self.simulator.self_id), origin=[Plain(text="earlier")]),
            At(target="20002"),
            Plain(text=" a [CQ:at,qq=all] & b, c\n"),
            AtAll(),
            Image(url="https://example.com/a.png?x=1,2&y=[3]"),
            Plain(text="between"),
            Image(base64="aGVsbG8="),
            Face(id="14"),
            Voice(url="https://example.com/a.amr"),
            Video(url="https://example.com/a.mp4"),
            File(url="https://example.com/a.pdf", name="a.pdf"),
            Forward(nodes=[_node("one"), _node("two")]),
            Platform(platform="onebot11", component_type="dice", data={}),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    def same(self, sent: Component, received: Component) -> bool:
        """A quote comes back with the name of its author."""
        match sent, received:
            case Quote(), Quote():
                return sent.model_copy(update={"name": received.name}) == received
        return sent == received


def _node(text: str) -> ForwardNode:
    return ForwardNode(sender="20002", name="小明", chain=[Plain(text=text), Face(id="1")])


def _as_reported(segments: list[dict[str, Any]], forward: bool) -> list[dict[str, Any]]:
    """Files come back with an address; a merged forward as one segment with its nodes."""
    if forward:
        return [{"type": "forward", "data": {"id": "1", "content": segments}}]
    return segments


class TestReverse(AdapterContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[OneBotRig]:
        port = free_port()
        link = MemoryLink({"mode": "reverse", "host": "127.0.0.1", "port": port, "access_token": TOKEN})
        adapter = BuiltinAdapterCatalogue().create("onebot11", link)
        work = asyncio.create_task(adapter.serve())
        await link.until(lambda: bool(link.states))
        simulator = Simulator(token=TOKEN)
        async with simulator.connecting(f"ws://127.0.0.1:{port}/ws?access_token={TOKEN}"):
            await link.until(lambda: link.now[0] == "connected")
            rig = OneBotRig(link, adapter, simulator)
            yield rig
        work.cancel()
        await asyncio.wait([work])


class TestForward(ConnectingContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[OneBotRig]:
        simulator = Simulator(token=TOKEN)
        async with simulator.listening() as url:
            link = MemoryLink({"mode": "forward", "url": url, "access_token": TOKEN})
            adapter = BuiltinAdapterCatalogue().create("onebot11", link)
            work = asyncio.create_task(adapter.serve())
            await link.until(lambda: link.now[0] == "connected")
            yield OneBotRig(link, adapter, simulator)
            work.cancel()
            await asyncio.wait([work])
