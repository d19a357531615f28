"""Takes updates in, whichever way they come: complete, in order, durable together with how far the bot has read.

Albums that still wait for parts are part of what is kept, so that an update can be acknowledged before its album is
whole.
"""

import asyncio
import json
import logging
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import Incoming, Link, PlatformRefused, PlatformUncertain

from . import albums
from .albums import Album, Gathered
from .client import Client
from .decode import EDITED, MESSAGES, ROLE, Context, decode, kind_of
from .files import Files
from .member_roles import Roles
from .message_parts import ALBUM
from .send_calls import Sender
from .users import Me
from .values import Payload, number, object_in

logger = logging.getLogger(__name__)

STORAGE_RETRY_SECONDS = 1.0


class Inflow:
    def __init__(self, link: Link, client: Client, sender: Sender) -> None:
        self._link = link
        self._client = client
        self._sender = sender
        self._files = Files(client)
        self._roles = Roles(client)
        self._me = Me("")
        self._albums: tuple[Album, ...] = ()
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.offset = 0

    async def begin(self, me: Me) -> None:
        """Where the bot stopped last time."""
        self._me = me
        told = _read(await self._link.cursor())
        self.offset = number(told.get("offset")) or 0
        gathered = albums.gather((), told.get("albums") or [], asyncio.get_running_loop().time())
        self._albums = gathered.open
        self._wait_for_albums()

    async def take(self, updates: list[Payload], offset: int | None = None) -> None:
        """Durable when it returns, with the offset if there is one."""
        async with self._turn:
            if not await self._taken(updates, offset):
                for update in updates:
                    await self._taken([update], None)
                await self._taken([], offset)

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _taken(self, updates: list[Payload], offset: int | None) -> bool:
        """False when one of them can't be taken; it is left out then, so that it harms no other."""
        try:
            await self._commit(albums.gather(self._albums, updates, asyncio.get_running_loop().time()), offset)
        except StorageFailed:
            raise
        except Exception:
            logger.exception("of %d updates for bot %s one can't be taken", len(updates), self._link.bot_id)
            return False
        return True

    async def _commit(self, gathered: Gathered, offset: int | None) -> None:
        ready = await asyncio.gather(*(self._completed(update) for update in gathered.ready))
        context = Context(self._link.bot_id, self._me)
        incoming: list[Incoming] = [each for update in ready for each in decode(update, context)]
        moved = offset is not None or gathered.open != self._albums
        reached = self.offset if offset is None else offset
        cursor = dumps({"offset": reached, "albums": albums.kept(gathered.open)}) if moved else None
        await self._link.received(*incoming, cursor=cursor)
        self.offset, self._albums = reached, gathered.open
        self._wait_for_albums()
        for update in ready:
            self._after(update)

    async def _completed(self, update: Payload) -> Payload:
        """With what Telegram tells only when it is asked."""
        kind = kind_of(update)
        told = object_in(update, kind)
        try:
            if kind in (*MESSAGES, *EDITED):
                parts = [await self._files.completed(each) for each in told.get(ALBUM) or [told]]
                told = {**told, ALBUM: parts} if ALBUM in told else parts[0]
                return {**update, kind: told, **_role(await self._roles.of_writer(told))}
            if kind == "callback_query":
                return {**update, **_role(await self._roles.of_presser(told))}
        except (ValueError, TypeError, KeyError, AttributeError):
            logger.warning("an update of bot %s is not as Telegram describes it", self._link.bot_id)
        return update

    def _after(self, update: Payload) -> None:
        """What follows from it, once it is durable."""
        kind = kind_of(update)
        told = object_in(update, kind)
        if kind == "callback_query":
            self._begin(self._acknowledge(told))
        elif kind in ("chat_member", "my_chat_member"):
            self._roles.forget(str(object_in(told, "chat").get("id")))
        elif "migrate_to_chat_id" in told:
            self._sender.moved(str(object_in(told, "chat").get("id")), str(told["migrate_to_chat_id"]))

    async def _acknowledge(self, query: Payload) -> None:
        """The button stops turning; what was decided is told in the chat."""
        try:
            await self._client.call("answerCallbackQuery", {"callback_query_id": query.get("id")})
        except (PlatformRefused, PlatformUncertain) as error:
            logger.debug("a press was not acknowledged: %s", error)

    def _wait_for_albums(self) -> None:
        if self._albums:
            self._begin(self._gathered(min(album.due_at for album in self._albums)))

    async def _gathered(self, due_at: float) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(due_at - loop.time())
        while True:
            async with self._turn:
                gathered = albums.due(self._albums, max(loop.time(), due_at))  # a timer may be a little early
                try:
                    if gathered.ready:
                        await self._commit(gathered, None)
                    return
                except StorageFailed as error:
                    logger.error("an album waits for the database: %s", error.message)
                except Exception:
                    logger.exception("an album for bot %s can't be taken", self._link.bot_id)
                    self._albums = gathered.open  # it harms no other
                    return
            await asyncio.sleep(STORAGE_RETRY_SECONDS)

    def _begin(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _role(role: str) -> Payload:
    return {ROLE: role} if role else {}


def _read(cursor: str | None) -> Payload:
    try:
        told = json.loads(cursor) if cursor else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
