"""Implements the link through which one bot's adapter reaches the Host.

The core converts events; the gateway stores and queues them.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from parlour.core.asyncio_utils import run_uncancelled
from parlour.core.config.bots import Bot, PlatformCursors
from parlour.core.delivery.held_replies import AllowedEvent, HeldReplies
from parlour.core.ingest.gateway import Gateway
from parlour.core.journal import Statement, StorageFailed
from parlour.core.model.chats import chat_key
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import ArtifactId, BotId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms.directory import Directory, DirectoryRecorder
from parlour.core.platforms.names import NameDirectory
from parlour.core.platforms.port import ConnectionState, FileContent, FileUnavailable, IncomingEvent
from parlour.core.store.artifact_service import MAX_READ_BYTES, ArtifactService
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CoreAccess:
    """The parts of the core that adapters use."""

    gateway: Gateway
    cursors: PlatformCursors
    artifacts: ArtifactService
    names: NameDirectory
    held_replies: HeldReplies
    directory: Directory
    clock: Clock
    public_url: str = ""


class BotLink:
    def __init__(
        self,
        bot: Bot,
        config: Mapping[str, Any],
        core: CoreAccess,
        seen_apis: Collection[str],
        on_status: Callable[[ConnectionState, str], None],
        on_event: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_event` is called for each event that is stored."""
        self._recorder = DirectoryRecorder(core.directory, bot.bot_id, seen_apis, core.clock)
        self._bot = bot
        self._config = config
        self._core = core
        self._on_status = on_status
        self._on_event = on_event

    @property
    def bot_id(self) -> BotId:
        return self._bot.bot_id

    @property
    def config(self) -> Mapping[str, Any]:
        return self._config

    @property
    def public_url(self) -> str:
        return self._core.public_url

    async def receive(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        """Stores events: chats concurrently, each chat in its order.

        The cursor is stored with the last event, so it follows all of them.
        """
        cursor_statements = () if cursor is None else self._core.cursors.save_statements(self.bot_id, cursor)
        events = [await self._prepare(each) for each in incoming]
        if not events:
            if cursor is not None:
                await self._core.cursors.save(self.bot_id, cursor)
            return
        *earlier, last = events
        if earlier:
            await asyncio.gather(*(self._in_order(chat) for chat in _by_chat(earlier)))
        await self._ingest(last, *cursor_statements)

    async def cursor(self) -> str | None:
        return await self._core.cursors.get(self.bot_id)

    def report_status(self, state: ConnectionState, error: str = "") -> None:
        self._on_status(state, error)

    async def content(self, artifact_id: str) -> FileContent:
        try:
            return await self._content(artifact_id)
        except ProviderFailed as failed:
            raise FileUnavailable(artifact_id, failed.message) from failed
        except StorageFailed as failed:
            raise FileUnavailable(artifact_id, failed.message, retryable=True) from failed

    async def held_replies(self, chat_type: ChatType, chat_id: str) -> int:
        return await self._core.held_replies.count(self.bot_id, chat_key((chat_type, chat_id), ""))

    async def reply_handle(self, chat_type: ChatType, chat_id: str) -> str:
        return await self._core.held_replies.newest_handle(self.bot_id, chat_key((chat_type, chat_id), ""))

    async def _content(self, artifact_id: str) -> FileContent:
        artifact = await self._core.artifacts.get(ArtifactId(artifact_id))
        if artifact is None:
            raise ProviderFailed("not_found", f"there is no artifact '{artifact_id[:64]}'")
        present = await self._core.artifacts.ensure_local(artifact)
        pieces = [
            await self._core.artifacts.read(present, offset, min(MAX_READ_BYTES, present.size_bytes - offset))
            for offset in range(0, present.size_bytes, MAX_READ_BYTES)
        ]
        return FileContent(b"".join(pieces), present.info.name, present.info.mime_type)

    async def _prepare(self, incoming: IncomingEvent) -> AllowedEvent:
        # imports all event types, which the adapter has loaded already
        from parlour.core.platforms.events import to_envelope

        envelope = self._core.names.with_cached_names(
            to_envelope(incoming, self.bot_id, self._bot.adapter, self._bot.name)
        )
        return await self._core.held_replies.prepare(envelope, incoming.reply_allowance)

    async def _in_order(self, events: list[AllowedEvent]) -> None:
        for event in events:
            await self._ingest(event)

    async def _ingest(self, event: AllowedEvent, *extra_statements: Statement) -> None:
        """Stores an event even if the bot is stopped or changed at the same time.

        An event that is durable must also be queued before the Host restarts, so the adapter that received it stops
        only after that.
        """
        await run_uncancelled(self._store(event, *extra_statements), "an event was not taken while its bot was stopped")

    async def _store(self, allowed: AllowedEvent, *extra_statements: Statement) -> None:
        """Stores an event.

        A message whose files can't be stored is stored without them, so that it does not block later events.
        """
        event, sighting = allowed.envelope, self._recorder.record(allowed.envelope)
        statements = (*allowed.statements, *sighting.statements, *extra_statements)
        try:
            await self._core.gateway.ingest(event, *statements)
        except ProviderFailed as failed:
            logger.warning("event %s is stored without its files: %s", event.event_id, failed.message)
            await self._core.gateway.ingest(_without_files(event, failed.message), *statements)
        self._on_event()
        self._core.held_replies.after_commit(allowed)
        self._recorder.after_commit(sighting)


def _by_chat(events: Iterable[AllowedEvent]) -> list[list[AllowedEvent]]:
    chats: dict[tuple[str, str], list[AllowedEvent]] = {}
    for event in events:
        chats.setdefault((event.envelope.chat, event.envelope.thread_id), []).append(event)
    return list(chats.values())


def _without_files(event: EventEnvelope, reason: str) -> EventEnvelope:
    text_data = {"text": event.text}
    chains = {name: [{"type": "Plain", "text": event.text}] for name in ("message_chain", "new_content")}
    data = {name: chains.get(name, value) for name, value in event.data.items()}
    return replace(event, input=text_data, data=data, metadata={**event.metadata, "files_left_out": reason})
