"""The fake platform itself: the messages of each chat, the actions of its users, and its faults."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from parlour.core.model.ids import NO_BOT, BotId
from parlour.core.model.reply_allowance import ReplyAllowance, ReplyHandle
from parlour.core.platforms.port import (
    ConnectionState,
    HostLink,
    IncomingEvent,
    PlatformRefused,
    PlatformUncertain,
    ReplyHandleRejected,
)
from parlour_sdk.protocol.chain import MessageChain, Plain, Platform, Source, chain_text
from parlour_sdk.protocol.people import ChatType, Group, User
from parlour_sdk.protocol.platform_events import InteractionReceived, MessageReceived, PlatformEvent

from .manifest import NAME

WAIT_SECONDS = 30.0
BOT_USER = "fake-bot"
PASSED_ON = ("thread_id", "addresses_bot", "role", "happened_at", "reply_allowance")


@dataclass
class ShownMessage:
    """Represents a message as the users of a chat see it, with its whole history."""

    message_id: str
    chat_type: ChatType
    chat_id: str
    thread_id: str
    chain: MessageChain
    key: str = ""
    versions: list[str] = field(default_factory=list)
    """All its texts, from the first to the last."""
    deleted: bool = False
    reactions: list[str] = field(default_factory=list)
    reply: ReplyHandle | None = None
    """The counted reply that it is; None for a message of the bot's own."""

    @property
    def text(self) -> str:
        return chain_text(self.chain)

    @property
    def buttons(self) -> list[dict[str, Any]]:
        button_parts = [each for each in self.chain if isinstance(each, Platform) and each.component_type == "buttons"]
        rows = [row for each in button_parts for row in each.data["buttons"]]
        return [button for row in rows for button in (row if isinstance(row, list) else [row])]


@dataclass
class ShownStream:
    """Represents a message that grew as the platform's own stream."""

    message_id: str
    pieces: list[str] = field(default_factory=list)
    finished: bool = False
    failed: str = ""


@dataclass(frozen=True)
class Fault:
    """Describes a fault of the next call of this API."""

    api: str
    error: Exception
    happens: bool
    """True if the call takes effect although its answer is lost."""


class FakePlatform:
    def __init__(self) -> None:
        self.shown: list[ShownMessage] = []
        self.streams: list[ShownStream] = []
        self.typing: list[tuple[str, str]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.called_at: list[float] = []
        """Times of the calls, in seconds of the event loop."""
        self.states: list[tuple[ConnectionState, str]] = []
        self.remembers_keys = False
        """True if it can say what was sent under a key."""
        self.shows_keys_once = False
        """True if a repeated send under the same key returns the existing message."""
        self.delay_seconds = 0.0
        self.exceeded: list[ReplyHandle] = []
        """Replies that were sent beyond the allowance of their event."""
        self._allowances: dict[str, ReplyAllowance] = {}
        self._links: dict[str, HostLink] = {}
        self._faults: deque[Fault] = deque()
        self._numbers = count(1)
        self._changed = asyncio.Condition()
        self._connected = asyncio.Event()
        self._connected.set()

    # --- actions of tests

    def refuse(
        self,
        api: str = "send_message",
        reason: str = "no",
        retry_after: float | None = None,
        permanent: bool = False,
        everywhere: bool = False,
    ) -> None:
        """Refuses the next such call."""
        error = PlatformRefused(reason, retry_after, permanent, everywhere)
        self._faults.append(Fault(api, error, happens=False))

    def lose_answer(self, api: str = "send_message", happens: bool = True) -> None:
        """Leaves the next such call unanswered; the call takes effect or not."""
        self._faults.append(Fault(api, PlatformUncertain("no answer came"), happens))

    def reject_handle(self, reason: str = "the reply token is invalid") -> None:
        """Rejects the reply handle of the next send."""
        self._faults.append(Fault("send_message", ReplyHandleRejected(reason), happens=False))

    def cut(self) -> None:
        """Breaks the connection until `mend` is called."""
        self._connected.clear()
        for link in self._links.values():
            link.report_status("connecting", "the connection was cut")

    def mend(self) -> None:
        self._connected.set()
        for link in self._links.values():
            link.report_status("connected")

    async def say(self, text: str, chat_id: str = "1", bot_id: BotId = NO_BOT, **options: Any) -> str:
        """Lets a user write and returns the event's id when it is durable. Options: user, chat_type, event_id,
        thread_id, chain, addresses_bot, role, happened_at, reply_allowance.
        """
        number = self.number()
        event_id = options.get("event_id", f"event-{number}")
        user = options.get("user", User(id="ann", nickname="Ann"))
        chain = options.get("chain", [Source(id=f"in-{number}"), Plain(text=text)])
        event = MessageReceived(
            event_id=event_id,
            timestamp=options.get("timestamp", 0),
            message_id=f"in-{number}",
            message_chain=chain,
            sender=user,
            chat_type=options.get("chat_type", "private"),
            chat_id=chat_id,
            group=Group(id=chat_id, name="Fakes") if options.get("chat_type") == "group" else None,
        )
        options = {name: options[name] for name in PASSED_ON if name in options}
        await self.happen(event, bot_id, **options)
        return str(event_id)

    async def press(self, message: ShownMessage, label: str, user: User, **options: Any) -> str:
        """Lets a user press a button under a message and returns the event's id. Options: event_id, thread_id, role."""
        number = self.number()
        event_id = options.pop("event_id", f"event-{number}")
        [button] = [each for each in message.buttons if each["label"] == label]
        event = InteractionReceived(
            event_id=event_id,
            timestamp=options.pop("timestamp", 0),
            interaction_id=f"press-{number}",
            user=user,
            action_id=button["action_id"],
            value=button["value"],
            message_id=message.message_id,
            chat_type=message.chat_type,
            chat_id=message.chat_id,
        )
        await self.happen(event, **{"thread_id": message.thread_id, **options})
        return str(event_id)

    async def happen(self, event: PlatformEvent, bot_id: BotId = NO_BOT, **options: Any) -> None:
        """Reports any event, of the only bot if none is named."""
        link = await self.link(bot_id)
        allowance: ReplyAllowance | None = options.get("reply_allowance")
        if allowance is not None:
            self._allowances[allowance.handle] = allowance
        event = event.model_copy(update={"bot_id": link.bot_id, "adapter_name": NAME})
        await link.receive(IncomingEvent(event, self_id=BOT_USER, **options))

    # --- conditions that tests wait for

    async def link(self, bot_id: BotId = NO_BOT) -> HostLink:
        """Waits until the bot is connected."""
        await self.until(lambda: bot_id in self._links if bot_id else bool(self._links))
        return self._links[bot_id or next(iter(self._links))]

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(condition)

    def texts(self, chat_id: str = "1") -> list[str]:
        return [each.text for each in self.shown if each.chat_id == chat_id and not each.deleted]

    # --- functions for the adapter

    def number(self) -> int:
        return next(self._numbers)

    async def changed(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def connect(self, link: HostLink) -> None:
        self._links[link.bot_id] = link
        link.report_status("connected")
        await self.changed()

    def disconnect(self, link: HostLink) -> None:
        if self._links.get(link.bot_id) is link:
            del self._links[link.bot_id]

    @property
    def connected(self) -> bool:
        return self._connected.is_set()

    def fault(self, api: str) -> Fault | None:
        """Returns the next planned fault of this API, if there is one."""
        next_fault = next((each for each in self._faults if each.api == api), None)
        if next_fault is not None:
            self._faults.remove(next_fault)
        return next_fault

    def show(self, message: ShownMessage, key: str, reply: ReplyHandle | None) -> ShownMessage:
        """Shows a message, or returns the one that was shown before under the same key or number."""
        if reply is not None:
            allowance = self._allowances[reply.handle]
            replies = [each for each in self.shown if each.reply is not None and each.reply.handle == reply.handle]
            again = [each for each in replies if each.reply == reply]
            if again and allowance.repeatable:
                return again[0]
            if 0 < allowance.count <= len(replies):
                self.exceeded.append(reply)
                raise ReplyHandleRejected("there were too many replies to this message")
        sent_before = [each for each in self.shown if key and each.key == key]
        if sent_before and self.shows_keys_once:
            return sent_before[0]
        message.key, message.reply = key, reply
        message.versions.append(message.text)
        self.shown.append(message)
        return message

    def find(self, message_id: str) -> ShownMessage:
        for each in self.shown:
            if each.message_id == message_id:
                return each
        raise PlatformRefused(f"there is no message '{message_id}'", permanent=True)
