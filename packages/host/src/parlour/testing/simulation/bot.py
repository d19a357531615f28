"""Simulates a bot on a platform with streamed messages and buttons. Its messages survive the Host."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field

from parlour.core.model.ids import BotId
from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.manifest import AdapterManifest, PlatformLimits
from parlour.core.platforms.port import Adapter, PlatformRefused, PlatformUncertain
from parlour.testing.fake_platform import manifest
from parlour_sdk.protocol.chain import MessageChain, Platform, chain_text
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.values import dataclass

from .world import World

BOT = BotId("growing")
LIMITS = PlatformLimits(
    text=4000, sends_per_second=50, edits_per_second=20, group_calls_per_minute=600, calls_per_second=30
)


@dataclass(slots=True)
class Bubble:
    """Represents a message as its users see it."""

    message_id: str
    chat_id: str
    key: str
    chain: MessageChain
    first: str = field(init=False)
    """Its first text."""

    def __post_init__(self) -> None:
        self.first = self.text

    @property
    def text(self) -> str:
        return chain_text(self.chain)

    @property
    def buttons(self) -> list[str]:
        """The labels of its buttons."""
        button_parts = [each for each in self.chain if isinstance(each, Platform)]
        return [str(button["value"]) for each in button_parts for button in each.data["buttons"]]


@dataclass(slots=True)
class Chats:
    """Holds all data of the platform."""

    bubbles: list[Bubble] = field(default_factory=list)
    kicked: list[str] = field(default_factory=list)


class SimulatedApi(PlatformApi):
    def __init__(self, world: World, chats: Chats) -> None:
        self._world = world
        self._chats = chats

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        key, roll = idempotency_key or "", await self._begin("bot.send")
        sent_before = [each for each in self._chats.bubbles if each.key == key]
        if not (sent_before and self._world.idempotent):
            sent_before = [Bubble(f"bubble-{len(self._chats.bubbles)}", target_id, key, chain)]
            self._chats.bubbles += sent_before
        await self._end("bot.send", roll)
        return MessageResult(message_id=sent_before[0].message_id)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        await self._world.pause()
        message_ids = [each.message_id for each in self._chats.bubbles if each.key == idempotency_key]
        return MessageResult(message_id=message_ids[0]) if message_ids and self._world.answers_questions else None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        roll = await self._begin("bot.edit")
        [bubble] = [each for each in self._chats.bubbles if each.message_id == message_id]
        bubble.chain = chain
        await self._end("bot.edit", roll)
        return MessageResult(message_id=message_id)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        roll = await self._begin("bot.kick")
        self._chats.kicked.append(user_id)
        await self._end("bot.kick", roll)

    async def _begin(self, name: str) -> float:
        world = self._world
        await world.point(f"{name}:before")
        await world.pause()
        roll = world.dice.random()
        if roll < 0.08:
            raise PlatformRefused("slow down", retry_after=0.5, account_wide=roll < 0.02)
        return roll

    async def _end(self, name: str, roll: float) -> None:
        await self._world.point(f"{name}:after")
        await self._world.pause()
        if roll > 0.96:
            self._world.lost_answers += 1
            raise PlatformUncertain("no answer came")


class SimulatedAdapter:
    def __init__(self, api: SimulatedApi) -> None:
        self._api = api

    async def serve(self) -> None:
        await asyncio.Event().wait()

    def api(self, account: str = "") -> PlatformApi:
        return self._api


class SimulatedBots:
    """Represents one bot that is always connected."""

    def __init__(self, world: World, chats: Chats) -> None:
        self._adapter = SimulatedAdapter(SimulatedApi(world, chats))
        without = {"open_stream": "here messages grow by edits"}
        self._manifest = manifest(without, limits=LIMITS, buttons=True, idempotent=world.idempotent)

    def adapter(self, bot_id: BotId) -> Adapter | None:
        return self._adapter if bot_id == BOT else None

    def manifest(self, bot_id: BotId) -> AdapterManifest | None:
        return self._manifest if bot_id == BOT else None

    def is_connected(self, bot_id: BotId) -> bool:
        return bot_id == BOT

    async def wait_connected(self, bot_id: BotId) -> None:
        if bot_id != BOT:
            await asyncio.Event().wait()

    def track_send(self, bot_id: BotId) -> AbstractContextManager[None]:
        return nullcontext()

    def record_rejected(self, bot_id: BotId, chat: str, reason: str) -> None:
        """Ignores the call."""

    def record_unacknowledged(self, bot_id: BotId, chat: str, reason: str) -> None:
        """Ignores the call."""

    def record_accepted(self, bot_id: BotId, chat: str) -> None:
        """Ignores the call."""
