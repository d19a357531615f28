"""Runs a bot on Matrix: connects to its homeserver, reads the sync stream and wires the other modules together."""

import asyncio
import hashlib
import logging
from functools import partial

from parlour.core.backoff import Backoff
from parlour.core.journal import StorageFailed, retry_on_storage_failure
from parlour.core.platforms.port import (
    AdapterFactory,
    AdapterStopped,
    HostLink,
    IncomingEvent,
    PlatformOffline,
    PlatformRefused,
    PlatformUncertain,
)
from parlour.platforms._kit.proxy_fields import configured_proxies

from .api import MatrixApi, RoomResolver
from .connection import MatrixClient, TokenRefused, api_path, require_field
from .decode import ENCRYPTED, genuine_invite
from .encode import MESSAGE_TYPE
from .event_processor import MatrixEventProcessor
from .media import MatrixFiles
from .rooms import MatrixRooms, server_of
from .sync import SyncBatch, SyncPositionRejected, SyncReader
from .values import mapping, text

logger = logging.getLogger(__name__)

ENCRYPTED_ROOM_NOTICE = (
    "This room is encrypted, and this bot can't read what is said here. Talk to it in a room without encryption."
)


class MatrixAdapter:
    """Adapter of one Matrix account."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        self._link = link
        self._backoff = backoff
        self._homeserver = str(link.config.get("homeserver") or "").strip()
        self._own_id = str(link.config.get("user") or "").strip()
        self._policy = str(link.config.get("invitations") or "homeserver")
        self._client = MatrixClient(
            self._homeserver, str(link.config.get("access_token") or "").strip(), configured_proxies(link.config)
        )
        self._rooms = MatrixRooms()
        self._files = MatrixFiles(self._client, link.content)
        self._sync = SyncReader(self._client, self._rooms, self._own_id)
        trusted = frozenset(str(each).strip() for each in link.config.get("trusted_servers") or ())
        self._receiver = MatrixEventProcessor(
            self._client, self._files, self._rooms, self._own_id, link.bot_id, trusted
        )
        self._resolver = RoomResolver(self._client, self._rooms, self._own_id)
        self._api = MatrixApi(self._client, self._rooms, self._files, self._resolver, self._own_id)
        self._since = ""
        self._rejected_position = ""
        """The sync position that the homeserver did not accept."""
        self._invited: dict[str, str] = {}
        """Inviter of each room whose invitation is not answered yet."""
        self._announced_rooms: set[str] = set()
        self._followed: set[str] = set()
        """Replacements of rooms that the bot has tried to join, and whose invitations it accepts."""

    def api(self, account: str = "") -> MatrixApi:
        return self._api

    async def serve(self) -> None:
        self._check()
        self._link.report_status("connecting")
        async with self._client.connection():
            while True:
                problem, at_least = await self._connected()
                seconds = max(self._backoff.next_delay(), at_least)
                self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)

    def _check(self) -> None:
        if not self._homeserver.startswith(("http://", "https://")):
            raise AdapterStopped("homeserver: its address is needed, as https://matrix.example.org")
        if not self._own_id.startswith("@") or ":" not in self._own_id:
            raise AdapterStopped("user: the bot's whole id is needed, as @name:example.org")

    async def _connected(self) -> tuple[str, float]:
        """Syncs until something fails. Returns the problem and the minimum seconds to wait before the next attempt."""
        try:
            await self._verify_account()
            if not self._since:
                await self._begin()
            self._link.report_status("connected")
            while True:
                await self._follow_upgrades()
                await self._answer_invitations()
                await self._store_batch(await self._sync.read_next(self._since))
                self._backoff.reset()
        except TokenRefused as error:
            raise AdapterStopped(error.reason) from None
        except SyncPositionRejected as error:
            logger.warning(
                "bot %s continues from now because the homeserver rejected its sync position: %s",
                self._link.bot_id,
                error.reason,
            )
            self._rejected_position, self._since = self._since, ""
            return error.reason, 0
        except PlatformRefused as error:
            return error.reason, error.retry_after or 0
        except PlatformUncertain as unknown:
            return str(unknown), 0

    async def _verify_account(self) -> None:
        user_id = require_field(await self._client.get(api_path("account", "whoami")), "user_id")
        if user_id != self._own_id:
            raise AdapterStopped(
                f"user: the access token is that of {user_id}, not of {self._own_id}; change one of them"
            )

    async def _begin(self) -> None:
        """Continues from the stored sync position, or from now if there is none."""
        batch = await self._sync.read_initial()
        self._rooms.mark_direct(await self._resolver.load_direct_rooms())
        account, _, since = (await self._link.cursor() or "").partition(" ")
        if account != self._own_id or since in ("", self._rejected_position):
            await self._store_batch(batch)
            return
        self._since = since  # events before the stored position were delivered earlier
        self._note_invitations(batch)

    async def _store_batch(self, batch: SyncBatch) -> None:
        """Stores a batch together with the sync position that follows it, before its events are used otherwise."""
        incoming = await self._receiver.process(batch)
        cursor = f"{self._own_id} {batch.since}"
        store = partial(self._store_events, incoming, cursor)
        await retry_on_storage_failure(store, f"storing the events of bot {self._link.bot_id}")
        self._since = batch.since
        self._note_invitations(batch)
        await self._announce_encryption(incoming)

    async def _store_events(self, incoming: list[IncomingEvent], cursor: str) -> None:
        """Stores the events of a batch, one by one if they fail as a whole.

        Otherwise one event that can't be stored would stop the bot, since the sync position would never advance.
        """
        try:
            await self._link.receive(*incoming, cursor=cursor)
        except StorageFailed:
            raise
        except Exception:
            logger.exception("bot %s: some of %d events can't be stored", self._link.bot_id, len(incoming))
            for each in incoming:
                await self._store_event(each)
            await self._link.receive(cursor=cursor)

    async def _store_event(self, incoming: IncomingEvent) -> None:
        try:
            await self._link.receive(incoming)
        except StorageFailed:
            raise
        except Exception:
            logger.exception("bot %s: event %s was not stored", self._link.bot_id, incoming.event.event_id)

    def _note_invitations(self, batch: SyncBatch) -> None:
        for room_id, state in batch.invitations:
            self._invited[room_id] = text(genuine_invite(state, self._own_id), "sender")

    async def _answer_invitations(self) -> None:
        for room_id, inviter in list(self._invited.items()):
            try:
                if self._accepts_inviter(inviter) or room_id in self._followed:
                    await self._api.answer_group_invite(room_id, approve=True)
            except PlatformOffline:
                raise
            except (PlatformRefused, PlatformUncertain) as error:
                logger.warning("bot %s could not join %s: %s", self._link.bot_id, room_id, error)
            del self._invited[room_id]

    async def _follow_upgrades(self) -> None:
        """Joins the rooms that replace others. A room that can't be joined yet is joined when the bot is invited."""
        for room in self._rooms.all():
            if not room.replacement or room.replacement in self._followed or room.replacement in self._rooms:
                continue
            try:
                await self._api.join_replacement(room)
            except PlatformOffline:
                raise
            except (PlatformRefused, PlatformUncertain) as error:
                logger.warning("bot %s could not join %s: %s", self._link.bot_id, room.replacement, error)
            self._followed.add(room.replacement)

    def _accepts_inviter(self, inviter: str) -> bool:
        same_server = server_of(inviter) == server_of(self._own_id)
        return self._policy == "accept" or (self._policy == "homeserver" and same_server)

    async def _announce_encryption(self, incoming: list[IncomingEvent]) -> None:
        """Sends one notice in each encrypted room, unencrypted, because silence would look like a fault."""
        encrypted = {text(mapping(each.event.native), "room_id") for each in incoming if each.native_type == ENCRYPTED}
        for room_id in encrypted - self._announced_rooms:
            self._announced_rooms.add(room_id)
            key = f"encrypted-{hashlib.sha256(room_id.encode()).hexdigest()[:16]}"
            path = api_path("rooms", room_id, "send", "m.room.message", key)
            try:
                await self._client.put(path, {"msgtype": MESSAGE_TYPE, "body": ENCRYPTED_ROOM_NOTICE, "m.mentions": {}})
            except (PlatformRefused, PlatformUncertain) as error:
                logger.warning(
                    "bot %s could not send the encryption notice to %s: %s", self._link.bot_id, room_id, error
                )


def adapter_factory() -> AdapterFactory:
    return lambda link: MatrixAdapter(link, Backoff())
