"""Processes updates from polling or the webhook: completes them and stores them in order, together with the read
offset.

Incomplete albums are stored with the offset, so that an update can be acknowledged before its album is complete.
"""

import asyncio
import json
import logging
from functools import partial

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.encoding import dumps
from parlour.core.journal import StorageFailed, retry_on_storage_failure
from parlour.core.platforms.port import HostLink, IncomingEvent, PlatformRefused, PlatformUncertain

from . import albums
from .albums import Album, CollectedAlbums
from .client import TelegramClient
from .decode import EDITED_MESSAGES, MESSAGES, ROLE_KEY, TelegramDecodeContext, decode, update_kind
from .files import TelegramFiles
from .member_roles import TelegramMemberRoles
from .message_parts import ALBUM
from .send_calls import TelegramSender
from .users import BotAccount
from .values import Payload, number, object_in

logger = logging.getLogger(__name__)


class UpdateProcessor:
    """Completes, decodes and stores the updates of one bot."""

    def __init__(self, link: HostLink, client: TelegramClient, sender: TelegramSender) -> None:
        self._link = link
        self._client = client
        self._sender = sender
        self._files = TelegramFiles(client)
        self._roles = TelegramMemberRoles(client)
        self._me = BotAccount("")
        self._albums: tuple[Album, ...] = ()
        self._turn = asyncio.Lock()
        self._tasks = BackgroundTasks("an album or a pressed button is no longer handled")
        self.offset = 0

    async def load(self, me: BotAccount) -> None:
        """Loads the stored offset and incomplete albums."""
        self._me = me
        told = _read(await self._link.cursor())
        self.offset = number(told.get("offset")) or 0
        gathered = albums.collect((), told.get("albums") or [], asyncio.get_running_loop().time())
        self._albums = gathered.open
        self._wait_for_albums()

    async def process(self, updates: list[Payload], offset: int | None = None) -> None:
        """Stores updates, together with the offset if one is given; they are durable when it returns."""
        async with self._turn:
            if not await self._try_process(updates, offset):
                for update in updates:
                    await self._try_process([update], None)
                await self._try_process([], offset)

    async def close(self) -> None:
        await self._tasks.aclose()

    async def _try_process(self, updates: list[Payload], offset: int | None) -> bool:
        """Stores updates together. Returns False if one of them fails; they are then stored one by one, without it."""
        try:
            await self._commit(albums.collect(self._albums, updates, asyncio.get_running_loop().time()), offset)
        except StorageFailed:
            raise
        except Exception:
            logger.exception("one of %d updates for bot %s could not be processed", len(updates), self._link.bot_id)
            return False
        return True

    async def _commit(self, gathered: CollectedAlbums, offset: int | None) -> None:
        ready = await asyncio.gather(*(self._completed(update) for update in gathered.ready))
        context = TelegramDecodeContext(self._link.bot_id, self._me)
        incoming: list[IncomingEvent] = [each for update in ready for each in decode(update, context)]
        moved = offset is not None or gathered.open != self._albums
        reached = self.offset if offset is None else offset
        cursor = dumps({"offset": reached, "albums": albums.pending_updates(gathered.open)}) if moved else None
        await self._link.receive(*incoming, cursor=cursor)
        self.offset, self._albums = reached, gathered.open
        self._wait_for_albums()
        for update in ready:
            self._after(update)

    async def _completed(self, update: Payload) -> Payload:
        """Adds data to an update that Telegram provides only on request: files and roles."""
        kind = update_kind(update)
        told = object_in(update, kind)
        try:
            if kind in (*MESSAGES, *EDITED_MESSAGES):
                parts = [await self._files.add_contents(each) for each in told.get(ALBUM) or [told]]
                told = {**told, ALBUM: parts} if ALBUM in told else parts[0]
                return {**update, kind: told, **_role(await self._roles.author_role(told))}
            if kind == "callback_query":
                return {**update, **_role(await self._roles.button_user_role(told))}
        except (ValueError, TypeError, KeyError, AttributeError):
            logger.warning("an update of bot %s does not match Telegram's format", self._link.bot_id)
        return update

    def _after(self, update: Payload) -> None:
        """Does what follows from an update after it is durable."""
        kind = update_kind(update)
        told = object_in(update, kind)
        if kind == "callback_query":
            self._tasks.start(self._acknowledge(told))
        elif kind in ("chat_member", "my_chat_member"):
            self._roles.forget(str(object_in(told, "chat").get("id")))
        elif "migrate_to_chat_id" in told:
            self._sender.record_migration(str(object_in(told, "chat").get("id")), str(told["migrate_to_chat_id"]))

    async def _acknowledge(self, query: Payload) -> None:
        """Acknowledges a pressed button, which ends its progress animation; the outcome is shown in the chat."""
        try:
            await self._client.call("answerCallbackQuery", {"callback_query_id": query.get("id")})
        except (PlatformRefused, PlatformUncertain) as error:
            logger.debug("a pressed button was not acknowledged: %s", error)

    def _wait_for_albums(self) -> None:
        if self._albums:
            self._tasks.start(self._gathered(min(album.due_at for album in self._albums)))

    async def _gathered(self, due_at: float) -> None:
        await asyncio.sleep(due_at - asyncio.get_running_loop().time())
        await retry_on_storage_failure(partial(self._store_due_albums, due_at), f"an album for bot {self._link.bot_id}")

    async def _store_due_albums(self, due_at: float) -> None:
        async with self._turn:
            now = max(asyncio.get_running_loop().time(), due_at)  # a timer may fire slightly early
            gathered = albums.complete_due(self._albums, now)
            try:
                if gathered.ready:
                    await self._commit(gathered, None)
            except StorageFailed:
                raise
            except Exception:
                logger.exception("an album for bot %s could not be processed", self._link.bot_id)
                self._albums = gathered.open  # it is dropped, so that it does not block others


def _role(role: str) -> Payload:
    return {ROLE_KEY: role} if role else {}


def _read(cursor: str | None) -> Payload:
    try:
        told = json.loads(cursor) if cursor else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
