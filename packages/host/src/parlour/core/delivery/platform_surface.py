"""The surface for chat platforms: sends outbox rows through the adapter of the bot that they name."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf

from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import SendRefused, SendUncertain, Sent
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.api_calls import perform
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.port import FileUnavailable, PlatformAway, PlatformRefused, PlatformUncertain
from parlour.core.store.outbox_rows import OutgoingRows
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.platform_api import NotSupportedError

from . import targets
from .chat_target import Chat, chain_of, parsed
from .rate_limits import Pace
from .rendering.media import told_without
from .streaming.streamed_message import GREW
from .streaming.streams import Streams

logger = logging.getLogger(__name__)

LONGEST_TURN_SECONDS = 1.0
"""Maximum seconds that a `sending` row waits for its rate limit; if the wait is longer, it goes back to `pending`."""


class PlatformSurface:
    """Sends, edits and looks up messages on platforms within their rate limits."""

    def __init__(
        self, bots: RunningBots, streams: Streams, pace: Pace, rows: OutgoingRows, languages: Languages
    ) -> None:
        self._bots = bots
        self._languages = languages
        self._rows = rows
        self._streams = streams
        self._pace = pace
        self._booked: set[str] = set()
        """Ids of rows that have waited for their rate limit and may be sent."""

    def repeatable(self, outgoing: Outgoing) -> bool:
        """Returns whether a repeated send is shown once. Not true for edits: a message that can't be edited is sent as
        a new one.
        """
        return self._shows_once(outgoing)

    def line(self, outgoing: Outgoing) -> str:
        """Returns the serialization key: one per account."""
        if outgoing.kind == "action" or outgoing.is_edit or self.repeatable(outgoing):
            return ""
        return targets.room(outgoing.bot_id, outgoing.address).account

    async def ready(self, outgoing: Outgoing) -> None:
        """Waits until the bot is connected and the rate limit allows a send, so that a `sending` row does not wait any
        more.
        """
        await self._bots.until_connected(outgoing.bot_id)
        if await self._whole(outgoing):
            return
        chat = Chat(outgoing)
        if outgoing.outbox_id not in self._booked:
            await asyncio.sleep(self._book(chat, outgoing))
            self._booked.add(outgoing.outbox_id)
        await self._pace.pause(chat.room)

    async def turn(self, outgoing: Outgoing) -> None:
        if outgoing.outbox_id in self._booked:
            self._booked.discard(outgoing.outbox_id)
            return
        with _in_the_outboxes_words():
            if await self._whole(outgoing):
                return
            wait = self._book(Chat(outgoing), outgoing, LONGEST_TURN_SECONDS)
            if wait > LONGEST_TURN_SECONDS:
                raise PlatformAway("the platform takes no more messages at this moment", retry_after=wait)
        if wait:
            await asyncio.sleep(wait)

    async def send(self, outgoing: Outgoing) -> Sent:
        chat = Chat(outgoing)
        with _in_the_outboxes_words(), self._bots.sending(outgoing.bot_id):
            try:
                sent = await self._deliver_what_is_there(chat, outgoing)
            except PlatformRefused as refused:
                self._pace.hold(chat.room, refused)
                if not isinstance(refused, PlatformAway):
                    self._bots.refused(outgoing.bot_id, f"{chat.type} {chat.id}", refused.reason)
                raise
            except PlatformUncertain as unknown:
                self._bots.unanswered(outgoing.bot_id, f"{chat.type} {chat.id}", str(unknown))
                raise
            self._bots.taken(outgoing.bot_id, f"{chat.type} {chat.id}")
            return sent

    async def _whole(self, outgoing: Outgoing) -> bool:
        """Returns whether the final text was already shown while streaming, so that no call is needed."""
        grown = self._streams.of(outgoing.outbox_id)
        return grown is not None and await grown.whole(outgoing)

    def _book(self, chat: Chat, outgoing: Outgoing, longest: float = inf) -> float:
        """Reserves a send and returns the seconds until it is due. Reserves nothing if that is more than `longest`."""
        manifest = self._bots.manifest(outgoing.bot_id)
        if manifest is None:
            return 0.0
        edit = outgoing.is_edit or self._streams.of(outgoing.outbox_id) is not None
        return self._pace.book(chat.room, manifest.limits, edit, longest)

    async def find(self, outgoing: Outgoing) -> Sent | None:
        with _in_the_outboxes_words():
            found = await self._found(outgoing)
            if found is not None:
                self._booked.discard(outgoing.outbox_id)
                chat = Chat(outgoing)
                self._bots.taken(outgoing.bot_id, f"{chat.type} {chat.id}")
            return found

    async def _found(self, outgoing: Outgoing) -> Sent | None:
        if outgoing.kind == "action" or outgoing.message.get("edits"):
            return None
        chat, key = Chat(outgoing), outgoing.outbox_id
        chain = parsed(chain_of(outgoing))
        taken = partial(self._rows.holds, outgoing)
        found = await chat.api(self._bots).find_message(chat.type, chat.id, chain, key, taken, chat.thread_id)
        if found is None or not found.message_id:
            return None
        grown = self._streams.of(outgoing.outbox_id)
        begun = bool(outgoing.message.get(GREW)) if grown is None else grown.found(outgoing, found.message_id)
        return Sent(found.message_id, whole=not begun)

    async def _act(self, chat: Chat, row: Outgoing) -> Sent:
        call = row.message["call"]
        arguments = dict(call["arguments"])
        if call["api"] == "send_message":
            arguments["idempotency_key"] = row.outbox_id
        result = await perform(chat.api(self._bots), call["api"], arguments, chat.thread_id)
        return Sent(str(result.get("message_id") or ""), result)

    async def _deliver_what_is_there(self, chat: Chat, row: Outgoing) -> Sent:
        """Sends a message without the files that are unavailable; a text names each missing file."""
        while True:
            try:
                return await self._deliver(chat, row)
            except FileUnavailable as missing:
                chain = told_without(chain_of(row), missing.artifact_id)
                if row.kind == "action" or missing.retryable or chain is None:
                    raise
                logger.warning("outbox row %s is sent without an unavailable file: %s", row.outbox_id, missing.message)
                row = replace(row, message={**row.message, "chain": chain})

    async def _deliver(self, chat: Chat, row: Outgoing) -> Sent:
        if row.kind == "action":
            return await self._act(chat, row)
        grown = self._streams.of(row.outbox_id)
        if grown is not None:
            sent = await grown.finish(row)
            self._streams.forget(row.outbox_id)
            return sent
        api = chat.api(self._bots)
        if row.message.get("edits"):
            row = await self._in_place_of(row)
        if row.message_id and await _edited(api, chat, row):
            return Sent(row.message_id)
        sent = await chat.send_row(api, row, self._languages, again=bool(row.message_id))
        if row.message.get(GREW) and self._shows_once(row):  # a part of the stream may have been sent under this key
            await _edited(api, chat, replace(row, message_id=sent.platform_message_id))
        return sent

    def _shows_once(self, row: Outgoing) -> bool:
        manifest = self._bots.manifest(row.bot_id)
        return manifest is not None and manifest.idempotent

    async def _in_place_of(self, row: Outgoing) -> Outgoing:
        """Sets the message id of the row that is edited. It has been sent, because rows of one target are sent in
        order.
        """
        edited = await self._rows.get(row.message["edits"])
        return replace(row, message_id=edited.message_id) if edited is not None else row


async def _edited(api: PlatformApi, chat: Chat, row: Outgoing) -> bool:
    """Edits an existing message. Returns False if the platform will never allow it."""
    try:
        await api.edit_message(chat.type, chat.id, row.message_id, parsed(chain_of(row)))
    except NotSupportedError:
        return False
    except PlatformRefused as refused:
        if refused.permanent:
            return False
        raise
    return True


@contextmanager
def _in_the_outboxes_words() -> Iterator[None]:
    """Translates errors of the platform API to those that the outbox expects."""
    try:
        yield
    except PlatformAway as away:
        raise SendRefused(away.reason, away.retry_after, away.permanent, tried=False) from away
    except PlatformRefused as refused:
        raise SendRefused(refused.reason, refused.retry_after, refused.permanent) from refused
    except PlatformUncertain as unknown:
        raise SendUncertain(str(unknown)) from unknown
    except NotSupportedError as error:
        raise SendRefused(str(error), permanent=True) from error
    except FileUnavailable as missing:
        raise SendRefused(missing.message, permanent=not missing.retryable) from missing
