"""The surface for chat platforms: sends outbox rows through the adapter of the bot that they name."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf

from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt, SendRefused, SendUncertain
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.api_calls import perform
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.port import FileUnavailable, PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.platform_api import NotSupportedError

from . import targets
from .rate_limits import PlatformRateLimiter
from .rendering.components import without_missing_file
from .streaming.streamed_message import STREAMED
from .streaming.streams import Streams
from .targets import ChatTarget, parse_chain, row_chain

logger = logging.getLogger(__name__)

MAX_TURN_WAIT_SECONDS = 1.0
"""Maximum seconds that a `sending` row waits for its rate limit; if the wait is longer, it goes back to `pending`."""


class PlatformSurface:
    """Sends, edits and looks up messages on platforms within their rate limits."""

    def __init__(
        self, bots: PlatformBots, streams: Streams, pace: PlatformRateLimiter, rows: OutboxStore, languages: Languages
    ) -> None:
        self._bots = bots
        self._languages = languages
        self._rows = rows
        self._streams = streams
        self._pace = pace
        self._reserved: set[str] = set()
        """Ids of rows that have waited for their rate limit and may be sent."""

    def is_idempotent(self, outgoing: OutboxRow) -> bool:
        """Returns whether a repeated send is shown once. Not true for edits: a message that can't be edited is sent as
        a new one.
        """
        return self._is_idempotent(outgoing)

    def serialization_key(self, outgoing: OutboxRow) -> str:
        """Returns the serialization key: one per account."""
        if outgoing.kind == "action" or outgoing.is_edit or self.is_idempotent(outgoing):
            return ""
        return targets.rate_scope(outgoing.bot_id, outgoing.address).account

    async def wait_until_sendable(self, outgoing: OutboxRow) -> None:
        """Waits until the bot is connected and the rate limit allows a send, so that a `sending` row does not wait any
        more.
        """
        await self._bots.wait_connected(outgoing.bot_id)
        if await self._is_fully_shown(outgoing):
            return
        chat = ChatTarget(outgoing)
        if outgoing.outbox_id not in self._reserved:
            await asyncio.sleep(self._reserve(chat, outgoing))
            self._reserved.add(outgoing.outbox_id)
        await self._pace.wait_pause(chat.rate_scope)

    async def acquire(self, outgoing: OutboxRow) -> None:
        if outgoing.outbox_id in self._reserved:
            self._reserved.discard(outgoing.outbox_id)
            return
        with _translate_errors():
            if await self._is_fully_shown(outgoing):
                return
            wait = self._reserve(ChatTarget(outgoing), outgoing, MAX_TURN_WAIT_SECONDS)
            if wait > MAX_TURN_WAIT_SECONDS:
                raise PlatformOffline("the platform takes no more messages at this moment", retry_after=wait)
        if wait:
            await asyncio.sleep(wait)

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        chat = ChatTarget(outgoing)
        with _translate_errors(), self._bots.track_send(outgoing.bot_id):
            try:
                sent = await self._send_available_parts(chat, outgoing)
            except PlatformRefused as refused:
                self._pace.record_pause(chat.rate_scope, refused)
                if not isinstance(refused, PlatformOffline):
                    self._bots.record_rejected(outgoing.bot_id, f"{chat.type} {chat.id}", refused.reason)
                raise
            except PlatformUncertain as unknown:
                self._bots.record_unacknowledged(outgoing.bot_id, f"{chat.type} {chat.id}", str(unknown))
                raise
            self._bots.record_accepted(outgoing.bot_id, f"{chat.type} {chat.id}")
            return sent

    async def _is_fully_shown(self, outgoing: OutboxRow) -> bool:
        """Returns whether the final text was already shown while streaming, so that no call is needed."""
        grown = self._streams.get(outgoing.outbox_id)
        return grown is not None and await grown.is_fully_shown(outgoing)

    def _reserve(self, chat: ChatTarget, outgoing: OutboxRow, longest: float = inf) -> float:
        """Reserves a send and returns the seconds until it is due. Reserves nothing if that is more than `longest`."""
        manifest = self._bots.manifest(outgoing.bot_id)
        if manifest is None:
            return 0.0
        edit = outgoing.is_edit or self._streams.get(outgoing.outbox_id) is not None
        return self._pace.reserve(chat.rate_scope, manifest.limits, edit, longest)

    async def find_sent(self, outgoing: OutboxRow) -> SendReceipt | None:
        with _translate_errors():
            found = await self._find(outgoing)
            if found is not None:
                self._reserved.discard(outgoing.outbox_id)
                chat = ChatTarget(outgoing)
                self._bots.record_accepted(outgoing.bot_id, f"{chat.type} {chat.id}")
            return found

    async def _find(self, outgoing: OutboxRow) -> SendReceipt | None:
        if outgoing.kind == "action" or outgoing.message.get("edits"):
            return None
        chat, key = ChatTarget(outgoing), outgoing.outbox_id
        chain = parse_chain(row_chain(outgoing))
        taken = partial(self._rows.is_known_message, outgoing)
        found = await chat.api(self._bots).find_message(chat.type, chat.id, chain, key, taken, chat.thread_id)
        if found is None or not found.message_id:
            return None
        grown = self._streams.get(outgoing.outbox_id)
        begun = (
            bool(outgoing.message.get(STREAMED)) if grown is None else grown.adopt_message(outgoing, found.message_id)
        )
        return SendReceipt(found.message_id, complete=not begun)

    async def _perform_action(self, chat: ChatTarget, row: OutboxRow) -> SendReceipt:
        call = row.message["call"]
        arguments = dict(call["arguments"])
        if call["api"] == "send_message":
            arguments["idempotency_key"] = row.outbox_id
        result = await perform(chat.api(self._bots), call["api"], arguments, chat.thread_id)
        return SendReceipt(str(result.get("message_id") or ""), result)

    async def _send_available_parts(self, chat: ChatTarget, row: OutboxRow) -> SendReceipt:
        """Sends a message without the files that are unavailable; a text names each missing file."""
        while True:
            try:
                return await self._send(chat, row)
            except FileUnavailable as missing:
                chain = without_missing_file(row_chain(row), missing.artifact_id)
                if row.kind == "action" or missing.retryable or chain is None:
                    raise
                logger.warning("outbox row %s is sent without an unavailable file: %s", row.outbox_id, missing.message)
                row = replace(row, message={**row.message, "chain": chain})

    async def _send(self, chat: ChatTarget, row: OutboxRow) -> SendReceipt:
        if row.kind == "action":
            return await self._perform_action(chat, row)
        grown = self._streams.get(row.outbox_id)
        if grown is not None:
            sent = await grown.finish(row)
            self._streams.drop(row.outbox_id)
            return sent
        api = chat.api(self._bots)
        if row.message.get("edits"):
            row = await self._resolve_edit_target(row)
        if row.message_id and await _try_edit(api, chat, row):
            return SendReceipt(row.message_id)
        sent = await chat.send_row(api, row, self._languages, again=bool(row.message_id))
        if row.message.get(STREAMED) and self._is_idempotent(
            row
        ):  # a part of the stream may have been sent under this key
            await _try_edit(api, chat, replace(row, message_id=sent.platform_message_id))
        return sent

    def _is_idempotent(self, row: OutboxRow) -> bool:
        manifest = self._bots.manifest(row.bot_id)
        return manifest is not None and manifest.idempotent

    async def _resolve_edit_target(self, row: OutboxRow) -> OutboxRow:
        """Sets the message id of the row that is edited. It has been sent, because rows of one target are sent in
        order.
        """
        edited = await self._rows.get(row.message["edits"])
        return replace(row, message_id=edited.message_id) if edited is not None else row


async def _try_edit(api: PlatformApi, chat: ChatTarget, row: OutboxRow) -> bool:
    """Edits an existing message. Returns False if the platform will never allow it."""
    try:
        await api.edit_message(chat.type, chat.id, row.message_id, parse_chain(row_chain(row)))
    except NotSupportedError:
        return False
    except PlatformRefused as refused:
        if refused.permanent:
            return False
        raise
    return True


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translates errors of the platform API to those that the outbox expects."""
    try:
        yield
    except PlatformOffline as away:
        raise SendRefused(away.reason, away.retry_after, away.permanent, tried=False) from away
    except PlatformRefused as refused:
        raise SendRefused(refused.reason, refused.retry_after, refused.permanent) from refused
    except PlatformUncertain as unknown:
        raise SendUncertain(str(unknown)) from unknown
    except NotSupportedError as error:
        raise SendRefused(str(error), permanent=True) from error
    except FileUnavailable as missing:
        raise SendRefused(missing.message, permanent=not missing.retryable) from missing
