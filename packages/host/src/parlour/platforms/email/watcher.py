"""Watches a folder: fetches new mails in order, stores each with the position behind it, and waits for the next."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from parlour.core.encoding import dumps
from parlour.core.journal import retry_on_storage_failure
from parlour.core.platforms.port import HostLink, IncomingEvent
from parlour.platforms._kit.payloads import number
from parlour_sdk.values import dataclass

from .configuration import EmailSettings
from .decode import ReceivedMail, parse
from .imap import FetchedMail, ImapClient
from .mailbox import MAX_MAIL_BYTES, imap_date

IDLE_SECONDS = 540.0
"""IDLE is begun again after this time: routers forget connections that are silent for longer."""
POLL_SECONDS = 60.0
CUT_BYTES = 1024 * 1024
"""Of a mail that is too large, this much is read: its texts come first."""
RENUMBERED_DAYS = 2
"""After a folder was renumbered, mails of this many days are read again; known ones are recognized by their ids."""


@dataclass(frozen=True, slots=True)
class Position:
    """Up to which mail a folder is stored. Mails that came before `since`, in milliseconds, are never answered."""

    folder: str
    validity: int
    uid: int
    since: int

    def cursor(self) -> str:
        return dumps({"folder": self.folder, "validity": self.validity, "uid": self.uid, "since": self.since})


class FolderWatcher:
    """Fetches the mails of one folder."""

    def __init__(
        self,
        link: HostLink,
        settings: EmailSettings,
        decode: Callable[[ReceivedMail], Awaitable[list[IncomingEvent]]],
    ) -> None:
        self._link = link
        self._settings = settings
        self._decode = decode

    async def serve(self) -> None:
        """Serves one connection until it fails with an error of the port."""
        settings = self._settings
        client = await ImapClient.open(settings.imap, settings.username, settings.password)
        try:
            position = await self._restore(client)
            self._link.report_status("connected")
            while True:
                position = await self._collect(client, position)
                if client.can_idle:
                    await client.wait(IDLE_SECONDS)
                else:
                    await asyncio.sleep(POLL_SECONDS)
                    await client.noop()
        finally:
            client.close()

    async def _restore(self, client: ImapClient) -> Position:
        """Returns where to continue: behind the newest mail at the first start."""
        folder = await client.select(self._settings.folder)
        name = f"{self._settings.address}/{self._settings.folder}"
        stored = _read_position(await self._link.cursor())
        if stored is None or stored.folder != name:
            since = round(time.time() * 1000)
            first = Position(name, folder.validity, folder.next_uid - 1, since)
            await self._link.receive(cursor=first.cursor())
            return first
        if stored.validity != folder.validity:
            return await self._collect_renumbered(client, Position(name, folder.validity, 0, stored.since))
        return stored

    async def _collect_renumbered(self, client: ImapClient, position: Position) -> Position:
        since = datetime.fromtimestamp(time.time() - RENUMBERED_DAYS * 86400, UTC)
        folder_end = (await client.select(self._settings.folder)).next_uid - 1
        for uid in await client.search(f"SINCE {imap_date(since)}"):
            position = await self._take(client, position, uid)
        return Position(position.folder, position.validity, max(position.uid, folder_end), position.since)

    async def _collect(self, client: ImapClient, position: Position) -> Position:
        for uid in await client.search(f"UID {position.uid + 1}:*"):
            if uid > position.uid:  # the range always contains the last mail
                position = await self._take(client, position, uid)
        return position

    async def _take(self, client: ImapClient, position: Position, uid: int) -> Position:
        """Stores one mail with the position behind it, and then marks it as read."""
        after = Position(position.folder, position.validity, uid, position.since)
        mail = await client.fetch(uid, MAX_MAIL_BYTES)
        if mail is not None and mail.size > MAX_MAIL_BYTES:
            mail = FetchedMail(uid, mail.size, mail.received_at, mail.content[:CUT_BYTES])
        received_at = _milliseconds(mail.received_at) if mail is not None else 0
        incoming: list[IncomingEvent] = []
        if mail is not None and (not received_at or received_at + 1000 >= position.since):
            received = ReceivedMail(parse(mail.content), received_at, mail.size > len(mail.content))
            incoming = await self._decode(received)

        async def store() -> None:
            await self._link.receive(*incoming, cursor=after.cursor())

        await retry_on_storage_failure(store, "a mail")
        if incoming and self._settings.marks_seen:
            await client.mark_seen(uid)
        return after


def _read_position(cursor: str | None) -> Position | None:
    try:
        stored = json.loads(cursor or "{}")
    except ValueError:
        return None
    if not isinstance(stored, dict) or not isinstance(stored.get("folder"), str):
        return None
    validity, uid, since = (number(stored.get(name)) for name in ("validity", "uid", "since"))
    if validity is None or uid is None or since is None:
        return None
    return Position(stored["folder"], validity, uid, since)


def _milliseconds(received_at: bytes) -> int:
    """Returns an INTERNALDATE in milliseconds; 0 if it can't be read."""
    text = received_at.decode("ascii", "replace").strip().replace("-", " ", 2)
    try:
        return round(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0
