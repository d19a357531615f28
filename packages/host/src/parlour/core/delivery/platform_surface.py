"""The surface for chat platforms: sends outbox rows through the adapter of the bot that they name."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf

from parlour.core.model.ids import OutboxId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt, SendRefused, SendUncertain
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.api_calls import perform
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.port import (
    FileUnavailable,
    PlatformOffline,
    PlatformRefused,
    PlatformUncertain,
    ReplyHandleRejected,
)
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
        self,
        bots: PlatformBots,
        streams: Streams,
        rate_limiter: PlatformRateLimiter,
        rows: OutboxStore,
        languages: Languages,
    ) -> None:
        self._bots = bots
        self._languages = languages
        self._rows = rows
        self._streams = streams
        self._rate_limiter = rate_limiter
        self._reserved_sends: set[OutboxId] = set()
        """Ids of rows that have waited for their rate limit and may be sent."""

    def is_idempotent(self, row: OutboxRow) -> bool:
        """Returns whether a repeated send is shown once. Not true for edits: a message that can't be edited is sent as
        a new one.
        """
        return self._is_idempotent(row)

    def serialization_key(self, row: OutboxRow) -> str:
        """Returns the serialization key: one per account."""
        if row.kind == "action" or row.is_edit or self.is_idempotent(row):
            return ""
        return targets.rate_scope(row.bot_id, row.address).account

    async def wait_until_sendable(self, row: OutboxRow) -> None:
        """Waits until the bot is connected and the rate limit allows a send, so that a `sending` row does not wait any
        more.
        """
        await self._bots.wait_connected(row.bot_id)
        if await self._is_fully_shown(row):
            return
        chat = ChatTarget(row)
        if row.outbox_id not in self._reserved_sends:
            await asyncio.sleep(self._reserve(chat, row))
            self._reserved_sends.add(row.outbox_id)
        await self._rate_limiter.wait_pause(chat.rate_scope)

    async def acquire(self, row: OutboxRow) -> None:
        if row.outbox_id in self._reserved_sends:
            self._reserved_sends.discard(row.outbox_id)
            return
        with _translate_errors():
            if await self._is_fully_shown(row):
                return
            wait = self._reserve(ChatTarget(row), row, MAX_TURN_WAIT_SECONDS)
            if wait > MAX_TURN_WAIT_SECONDS:
                raise PlatformOffline("the platform takes no more messages at this moment", retry_after=wait)
        if wait:
            await asyncio.sleep(wait)

    async def send(self, row: OutboxRow) -> SendReceipt:
        chat = ChatTarget(row)
        with _translate_errors(), self._bots.track_send(row.bot_id):
            try:
                receipt = await self._send_available_parts(chat, row)
            except PlatformRefused as refusal:
                self._rate_limiter.record_pause(chat.rate_scope, refusal)
                if not isinstance(refusal, PlatformOffline):
                    self._bots.record_rejected(row.bot_id, f"{chat.type} {chat.id}", refusal.reason)
                raise
            except PlatformUncertain as unknown:
                self._bots.record_unacknowledged(row.bot_id, f"{chat.type} {chat.id}", str(unknown))
                raise
            self._bots.record_accepted(row.bot_id, f"{chat.type} {chat.id}")
            return receipt

    async def _is_fully_shown(self, row: OutboxRow) -> bool:
        """Returns whether the final text was already shown while streaming, so that no call is needed."""
        stream = self._streams.get(row.outbox_id)
        return stream is not None and await stream.is_fully_shown(row)

    def _reserve(self, chat: ChatTarget, row: OutboxRow, max_wait: float = inf) -> float:
        """Reserves a send and returns the seconds until it is due. Reserves nothing if that is more than `max_wait`."""
        manifest = self._bots.manifest(row.bot_id)
        if manifest is None:
            return 0.0
        edit = row.is_edit or self._streams.get(row.outbox_id) is not None
        return self._rate_limiter.reserve(chat.rate_scope, manifest.limits, edit, max_wait)

    async def find_sent(self, row: OutboxRow) -> SendReceipt | None:
        with _translate_errors():
            receipt = await self._find(row)
            if receipt is not None:
                self._reserved_sends.discard(row.outbox_id)
                chat = ChatTarget(row)
                self._bots.record_accepted(row.bot_id, f"{chat.type} {chat.id}")
            return receipt

    async def _find(self, row: OutboxRow) -> SendReceipt | None:
        if row.kind == "action" or row.message.get("edits"):
            return None
        chat, key = ChatTarget(row), row.outbox_id
        chain = parse_chain(row_chain(row))
        is_taken = partial(self._rows.is_known_message, row)
        api = chat.api(self._bots)
        message = await api.find_message(chat.type, chat.id, chain, key, is_taken, chat.thread_id)
        if message is None or not message.message_id:
            return None
        stream = self._streams.get(row.outbox_id)
        if stream is not None:
            is_partial = stream.adopt_message(row, message.message_id)
        else:
            is_partial = bool(row.message.get(STREAMED)) and not self._streams_natively(row, api, chat)
        return SendReceipt(message.message_id, complete=not is_partial)

    def _streams_natively(self, row: OutboxRow, api: PlatformApi, chat: ChatTarget) -> bool:
        """Returns whether a stream in this chat is one of the platform's own, which is found only with its end."""
        manifest = self._bots.manifest(row.bot_id)
        return manifest is not None and "open_stream" in manifest.supported_apis and api.streams(chat.type)

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
        stream = self._streams.get(row.outbox_id)
        if stream is not None:
            receipt = await stream.finish(row)
            self._streams.drop(row.outbox_id)
            return receipt
        api = chat.api(self._bots)
        if row.message.get("edits"):
            row = await self._resolve_edit_target(row)
        if row.message_id and await _try_edit(api, chat, row):
            return SendReceipt(row.message_id)
        receipt = await chat.send_row(api, row, self._languages, use_new_key=bool(row.message_id))
        if row.message.get(STREAMED) and self._is_idempotent(
            row
        ):  # a part of the stream may have been sent under this key
            await _try_edit(api, chat, replace(row, message_id=receipt.platform_message_id))
        return receipt

    def _is_idempotent(self, row: OutboxRow) -> bool:
        if row.reply is not None and row.reply.number:
            return row.reply.repeatable
        manifest = self._bots.manifest(row.bot_id)
        return manifest is not None and manifest.idempotent

    async def _resolve_edit_target(self, row: OutboxRow) -> OutboxRow:
        """Sets the message id of the row that is edited. It has been sent, because rows of one target are sent in
        order.
        """
        edited_row = await self._rows.get(row.message["edits"])
        return replace(row, message_id=edited_row.message_id) if edited_row is not None else row


async def _try_edit(api: PlatformApi, chat: ChatTarget, row: OutboxRow) -> bool:
    """Edits an existing message. Returns False if the platform will never allow it."""
    try:
        await api.edit_message(chat.type, chat.id, row.message_id, parse_chain(row_chain(row)))
    except NotSupportedError:
        return False
    except PlatformRefused as refusal:
        if refusal.permanent:
            return False
        raise
    return True


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translates errors of the platform API to those that the outbox expects."""
    try:
        yield
    except ReplyHandleRejected as rejection:
        raise SendRefused(rejection.reason, handle_rejected=True) from rejection
    except PlatformOffline as offline:
        raise SendRefused(offline.reason, offline.retry_after, offline.permanent, attempted=False) from offline
    except PlatformRefused as refusal:
        raise SendRefused(refusal.reason, refusal.retry_after, refusal.permanent) from refusal
    except PlatformUncertain as unknown:
        raise SendUncertain(str(unknown)) from unknown
    except NotSupportedError as error:
        raise SendRefused(str(error), permanent=True) from error
    except FileUnavailable as missing:
        raise SendRefused(missing.message, permanent=not missing.retryable) from missing
