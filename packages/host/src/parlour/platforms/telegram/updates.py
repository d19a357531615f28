"""Processes updates: adds files and roles, and stores them in order, together with the read offset.

Incomplete albums are stored with the offset, so that an update can be acknowledged before its album is complete.
Addresses of files contain the bot's token, so the Host gets their content instead.
"""

import asyncio
import base64
import json
import logging
from collections import OrderedDict
from functools import partial
from typing import Any

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.encoding import dumps
from parlour.core.journal import StorageFailed, retry_on_storage_failure
from parlour.core.platforms.port import HostLink, IncomingEvent, PlatformRefused, PlatformUncertain

from . import albums, entities
from .albums import Album, CollectedAlbums
from .client import MAX_DOWNLOAD_BYTES, TelegramClient
from .content import ALBUM, CONTENT, MEDIA, PICTURE, PROBLEM, STICKER
from .decode import EDITED_MESSAGES, MESSAGES, ROLE_KEY, TelegramDecodeContext, decode, update_kind
from .entities import BotAccount, Payload, identifier, number, object_in, text
from .sender import TelegramSender

DOWNLOAD_CONCURRENCY = 3
DOWNLOAD_TIMEOUT_SECONDS = 30.0
TOO_LARGE = "it is larger than the 20 MB that Telegram hands to bots"
MAX_CACHED_CHATS = 1000
CACHE_SECONDS = 300.0
FAILED_LOOKUP_CACHE_SECONDS = 30.0
"""Seconds before a failed look-up is repeated."""
LOOKUP_TIMEOUT_SECONDS = 5.0
logger = logging.getLogger(__name__)


class TelegramFiles:
    """Downloads the files of incoming messages."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._download_slots = asyncio.Semaphore(DOWNLOAD_CONCURRENCY)

    async def add_contents(self, message: Payload) -> Payload:
        """Returns the message with the content of its files."""
        kinds = [kind for kind in MEDIA if message.get(kind)]
        if "animation" in kinds and "document" in kinds:
            kinds.remove("document")  # the same file, for older clients
        filled = {kind: await self._fill(kind, message[kind]) for kind in kinds}
        sticker = object_in(message, STICKER)
        if sticker:
            filled[STICKER] = await self._with_picture(sticker)
        return {**message, **filled}

    async def _with_picture(self, sticker: Payload) -> Payload:
        """Adds the sticker itself if it is a picture, or the preview of an animated one."""
        moves = sticker.get("is_animated") or sticker.get("is_video")
        picture = object_in(sticker, "thumbnail") if moves else sticker
        return {**sticker, PICTURE: await self._file(picture)} if picture else sticker

    async def _fill(self, kind: str, content: Any) -> Any:
        if kind == "photo":
            sizes = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
            return [await self._file(sizes[-1])] if sizes else content
        return await self._file(content) if isinstance(content, dict) else content

    async def _file(self, file: Payload) -> Payload:
        if (number(file.get("file_size")) or 0) > MAX_DOWNLOAD_BYTES:
            return {**file, PROBLEM: TOO_LARGE}
        try:
            async with self._download_slots, asyncio.timeout(DOWNLOAD_TIMEOUT_SECONDS):
                data = await self._download(file)
        except PlatformRefused as error:
            return {**file, PROBLEM: TOO_LARGE if "too big" in error.reason else "Telegram did not hand it over"}
        except (PlatformUncertain, TimeoutError):
            return {**file, PROBLEM: "it did not arrive from Telegram"}
        return {**file, "file_size": len(data), CONTENT: base64.b64encode(data).decode()}

    async def _download(self, file: Payload) -> bytes:
        file_info = await self._client.call("getFile", {"file_id": file.get("file_id")})
        file_path = text(file_info, "file_path") if isinstance(file_info, dict) else None
        if file_path is None:
            raise PlatformRefused("Telegram told no place of the file", permanent=True)
        return await self._client.download(file_path)


class TelegramMemberRoles:
    """Looks up and caches the roles of group members."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._leading: OrderedDict[str, tuple[float, dict[str, str] | None]] = OrderedDict()

    async def author_role(self, message: Payload) -> str:
        """Returns the role of a message's author; empty outside groups or if it is not available."""
        chat, author = object_in(message, "chat"), object_in(message, "from")
        if chat.get("type") not in ("group", "supergroup") or not author:
            return ""
        leading = await self._admin_roles(identifier(chat.get("id")))
        return "" if leading is None else leading.get(identifier(author.get("id")), "member")

    async def button_user_role(self, query: Payload) -> str:
        """Returns the role of the user who pressed a button. It may authorize a decision, so it is never cached."""
        chat, author = object_in(object_in(query, "message"), "chat"), object_in(query, "from")
        if chat.get("type") not in ("group", "supergroup") or not author:
            return ""
        params = {"chat_id": chat.get("id"), "user_id": author.get("id")}
        try:
            member = await self._client.call("getChatMember", params, seconds=LOOKUP_TIMEOUT_SECONDS)
        except (PlatformRefused, PlatformUncertain):
            return ""
        return entities.role(member) if isinstance(member, dict) and entities.is_member(member) else ""

    def forget(self, chat_id: str) -> None:
        """Drops the cached roles of a chat after a member's rights have changed."""
        self._leading.pop(chat_id, None)

    async def _admin_roles(self, chat_id: str) -> dict[str, str] | None:
        now = asyncio.get_running_loop().time()
        cached = self._leading.get(chat_id)
        if cached is not None and now < cached[0]:
            return cached[1]
        leading = await self._fetch_admin_roles(chat_id)
        self._leading[chat_id] = (now + (FAILED_LOOKUP_CACHE_SECONDS if leading is None else CACHE_SECONDS), leading)
        if len(self._leading) > MAX_CACHED_CHATS:
            self._leading.popitem(last=False)
        return leading

    async def _fetch_admin_roles(self, chat_id: str) -> dict[str, str] | None:
        try:
            members = await self._client.call(
                "getChatAdministrators", {"chat_id": int(chat_id)}, seconds=LOOKUP_TIMEOUT_SECONDS
            )
            return {entities.user(each["user"]).id: str(entities.role(each)) for each in members}
        except (PlatformRefused, PlatformUncertain, TypeError, KeyError, ValueError):
            return None


class UpdateProcessor:
    """Completes, decodes and stores the updates of one bot."""

    def __init__(self, link: HostLink, client: TelegramClient, sender: TelegramSender) -> None:
        self._link = link
        self._client = client
        self._sender = sender
        self._files = TelegramFiles(client)
        self._roles = TelegramMemberRoles(client)
        self._account = BotAccount("")
        self._albums: tuple[Album, ...] = ()
        self._turn = asyncio.Lock()
        self._tasks = BackgroundTasks("an album or a pressed button is no longer handled")
        self.offset = 0

    async def load(self, account: BotAccount) -> None:
        """Loads the stored offset and incomplete albums."""
        self._account = account
        state = _read(await self._link.cursor())
        self.offset = number(state.get("offset")) or 0
        gathered = albums.collect((), state.get("albums") or [], asyncio.get_running_loop().time())
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
        ready = await asyncio.gather(*(self._complete(update) for update in gathered.ready))
        context = TelegramDecodeContext(self._link.bot_id, self._account)
        incoming: list[IncomingEvent] = [each for update in ready for each in decode(update, context)]
        has_changed = offset is not None or gathered.open != self._albums
        reached = self.offset if offset is None else offset
        cursor = dumps({"offset": reached, "albums": albums.pending_updates(gathered.open)}) if has_changed else None
        await self._link.receive(*incoming, cursor=cursor)
        self.offset, self._albums = reached, gathered.open
        self._wait_for_albums()
        for update in ready:
            self._after(update)

    async def _complete(self, update: Payload) -> Payload:
        """Adds data to an update that Telegram provides only on request: files and roles."""
        kind = update_kind(update)
        message = object_in(update, kind)
        try:
            if kind in (*MESSAGES, *EDITED_MESSAGES):
                parts = [await self._files.add_contents(each) for each in message.get(ALBUM) or [message]]
                message = {**message, ALBUM: parts} if ALBUM in message else parts[0]
                return {**update, kind: message, **_role(await self._roles.author_role(message))}
            if kind == "callback_query":
                return {**update, **_role(await self._roles.button_user_role(message))}
        except (ValueError, TypeError, KeyError, AttributeError):
            logger.warning("an update of bot %s does not match Telegram's format", self._link.bot_id)
        return update

    def _after(self, update: Payload) -> None:
        """Does what follows from an update after it is durable."""
        kind = update_kind(update)
        message = object_in(update, kind)
        if kind == "callback_query":
            self._tasks.start(self._acknowledge(message))
        elif kind in ("chat_member", "my_chat_member"):
            self._roles.forget(str(object_in(message, "chat").get("id")))
        elif "migrate_to_chat_id" in message:
            self._sender.record_migration(str(object_in(message, "chat").get("id")), str(message["migrate_to_chat_id"]))

    async def _acknowledge(self, query: Payload) -> None:
        """Acknowledges a pressed button, which ends its progress animation; the outcome is shown in the chat."""
        try:
            await self._client.call("answerCallbackQuery", {"callback_query_id": query.get("id")})
        except (PlatformRefused, PlatformUncertain) as error:
            logger.debug("a pressed button was not acknowledged: %s", error)

    def _wait_for_albums(self) -> None:
        if self._albums:
            self._tasks.start(self._collect(min(album.due_at for album in self._albums)))

    async def _collect(self, due_at: float) -> None:
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
        state = json.loads(cursor) if cursor else {}
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}
