"""The adapter passes the contract suite of adapters, over HTTP to the simulated Telegram."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import parlour.platforms.telegram as package
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.telegram.api import TelegramApi
from parlour.testing.adapter_contract import CHAT, ConnectingContract, Rig
from parlour.testing.native_payloads import read_samples
from parlour.testing.telegram_simulator import Simulator
from parlour.testing.telegram_simulator.malformed import updates
from parlour_sdk.protocol.chain import (
    At,
    Component,
    Face,
    File,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Video,
    Voice,
)

from .conftest import Bot

SAMPLES = Path(package.__file__).parent / "samples"
FILES = ("photo", "voice", "audio", "video", "animation", "document")
HELLO = "aGVsbG8="


class TelegramRig(Rig):
    manifest = BuiltinAdapterCatalogue().manifests()["telegram"]
    api = TelegramApi
    samples = read_samples(SAMPLES)

    def __init__(self, bot: Bot) -> None:
        self.link = bot.link
        self.adapter = bot.adapter
        self.simulator = bot.simulator
        self.token = bot.simulator.token
        self.simulator.faults.in_chat = (100, 1.0)  # a message with every component is many requests at once
        self.simulator.world.person(int(CHAT))
        for name in FILES:
            self.simulator.world.add_file(b"hello", file_id=f"sample-{name}")

    async def deliver(self, native: Any) -> None:
        await self.simulator.updates.repeat(native)

    async def say(self, text: str) -> None:
        await self.simulator.say(text, user=int(CHAT))

    async def echo(self) -> None:
        message = self.simulator.message(int(CHAT), text="I said this myself")
        await self.simulator.report(message={**message, "from": self.simulator.world.bot})

    async def cut(self) -> None:
        await self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        for _ in range(times):
            self.simulator.faults.refuse("getMe", 502, "Bad Gateway")
        await self.cut()

    async def malformed(self) -> int:
        sent = updates(seed=7, number=200)
        for update in sent:
            await self.simulator.report(**update)
        return len(sent)

    async def reflected(self, chain: MessageChain) -> MessageChain:
        await self.adapter.api().send_message("private", CHAT, chain)
        messages = [each.message for each in self.simulator.sent(int(CHAT))[1:]]
        person = self.simulator.world.person(int(CHAT))
        for message in messages:
            await self.simulator.report(message={**message, "from": person})
        albums = {message["media_group_id"] for message in messages if "media_group_id" in message}
        alone = [message for message in messages if "media_group_id" not in message]
        incoming = await self.link.events(len(alone) + len(albums))
        chains = [each.event.message_chain for each in incoming]  # type: ignore[attr-defined]
        shown = [each for chain in chains for each in chain if not isinstance(each, Source)]
        return [each for place, each in enumerate(shown) if not _is_picture_of_sticker(shown, place)]

    def chain_of_everything(self) -> MessageChain:
        world = self.simulator.world
        quoted = world.show(world.chats[int(CHAT)], {"text": "earlier"})
        sticker = world.add_file(b"sticker", file_id="a-sticker")
        return [
            Quote(id=str(quoted["message_id"]), sender=str(world.bot_id), origin=[Plain(text="earlier")]),
            At(target="20002", display="Ann"),
            Plain(text=" says that a < b & c_d, [here](https://example.com/a)"),
            Image(base64=HELLO),
            Image(base64="aGVsbG8x"),
            Video(base64="aGVsbG8y"),
            Plain(text="between "),
            At(target="@somebody", display="somebody"),
            File(base64=HELLO, name="a.pdf"),
            File(base64=HELLO, name="b.pdf"),
            Voice(base64=HELLO, mime_type="audio/ogg"),
            Face(id=sticker),
            Platform(platform="telegram", component_type="dice", data={"emoji": "🎲"}),
            Image(base64=HELLO),
            Plain(text="the end 👨‍👩‍👧"),
        ]

    def same(self, sent: Component, received: Component) -> bool:
        """Files come back with their size, a die with what it showed, a quote with its author's name."""
        match sent, received:
            case ((Image() | Voice() | Video() | File()), (Image() | Voice() | Video() | File())):
                return sent.base64 == received.base64 and (sent.name is None or sent.name == received.name)
            case Platform(), Platform():
                return sent.component_type == received.component_type
            case Quote(), Quote():
                return sent.model_copy(update={"name": received.name}) == received
        return sent == received


def _is_picture_of_sticker(chain: MessageChain, place: int) -> bool:
    return place > 0 and isinstance(chain[place], Image) and isinstance(chain[place - 1], Face)


class TestPolling(ConnectingContract):
    @pytest.fixture
    async def rig(self, bot: Bot) -> TelegramRig:
        return TelegramRig(bot)


@pytest.fixture
async def plain_text_rig(simulator: Simulator, url: str) -> AsyncIterator[TelegramRig]:
    async with Bot(simulator, url, markdown_card=False).served() as bot:
        yield TelegramRig(bot)


async def test_markup_is_shown_as_written_if_rendering_is_off(plain_text_rig: TelegramRig) -> None:
    await plain_text_rig.adapter.api().send_message("private", CHAT, [Plain(text="**bold** [x](https://example.com)")])
    [shown] = plain_text_rig.simulator.sent(int(CHAT))
    assert shown.text == "**bold** [x](https://example.com)"
    assert "entities" not in shown.message
