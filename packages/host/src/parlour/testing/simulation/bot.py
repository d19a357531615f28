"""Simulates a bot on a platform with streamed messages and buttons. Its messages survive the Host."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.manifest import AdapterManifest, PlatformLimits
from parlour.core.platforms.port import Adapter, PlatformRefused, PlatformUncertain
from parlour.testing.fake_platform import manifest
from parlour_sdk.protocol.chain import MessageChain, Platform, chain_text
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.values import dataclass

from .world import World

BOT = "growing"
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
        shown = [each for each in self.chain if isinstance(each, Platform)]
        return [str(button["value"]) for each in shown for button in each.data["buttons"]]


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
        key, luck = idempotency_key or "", await self._begin("bot.send")
        known = [each for each in self._chats.bubbles if each.key == key]
        if not (known and self._world.idempotent):
            known = [Bubble(f"bubble-{len(self._chats.bubbles)}", target_id, key, chain)]
            self._chats.bubbles += known
        await self._end("bot.send", luck)
        return MessageResult(message_id=known[0].message_id)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        taken: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        await self._world.pause()
        found = [each.message_id for each in self._chats.bubbles if each.key == idempotency_key]
        return MessageResult(message_id=found[0]) if found and self._world.answers_questions else None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        luck = await self._begin("bot.edit")
        [bubble] = [each for each in self._chats.bubbles if each.message_id == message_id]
        bubble.chain = chain
        await self._end("bot.edit", luck)
        return MessageResult(message_id=message_id)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        luck = await self._begin("bot.kick")
        self._chats.kicked.append(user_id)
        await self._end("bot.kick", luck)

    async def _begin(self, name: str) -> float:
        world = self._world
        await world.point(f"{name}:before")
        await world.pause()
        luck = world.dice.random()
        if luck < 0.08:
            raise PlatformRefused("slow down", retry_after=0.5, everywhere=luck < 0.02)
        return luck

    async def _end(self, name: str, luck: float) -> None:
        await self._world.point(f"{name}:after")
        await self._world.pause()
        if luck > 0.96:
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

    def adapter(self, bot_id: str) -> Adapter | None:
        return self._adapter if bot_id == BOT else None

    def manifest(self, bot_id: str) -> AdapterManifest | None:
        return self._manifest if bot_id == BOT else None

    def is_connected(self, bot_id: str) -> bool:
        return bot_id == BOT

    async def wait_connected(self, bot_id: str) -> None:
        if bot_id != BOT:
            await asyncio.Event().wait()

    def track_send(self, bot_id: str) -> AbstractContextManager[None]:
        return nullcontext()

    def record_rejected(self, bot_id: str, chat: str, reason: str) -> None:
        """Ignores the call."""

    def record_unacknowledged(self, bot_id: str, chat: str, reason: str) -> None:
        """Ignores the call."""

    def record_accepted(self, bot_id: str, chat: str) -> None:
        """Ignores the call."""
