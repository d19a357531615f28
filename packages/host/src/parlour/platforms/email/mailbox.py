"""Looks up mails and their threads, and stores copies of sent ones.

The mailbox is the memory that survives a restart. Its connection is another one than that which waits for mails.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.message import Message
from typing import TypeVar

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap

from . import headers
from .configuration import EmailSettings
from .decode import MailFacts, facts, parse
from .imap import ImapClient
from .imap_syntax import quoted

DEFAULT_SENT_FOLDER = "Sent"
MAX_MAIL_BYTES = 25 * 1024 * 1024
MAX_CANDIDATES = 5
"""Number of the newest mails that are looked at if several match."""
Result = TypeVar("Result")
logger = logging.getLogger(__name__)

SUBJECT_DAYS = 7
"""A reply without any reference joins a thread by its subject for this many days."""


class Mailbox:
    """The folders of the bot's account. Its connection is opened when it is first needed."""

    def __init__(self, settings: EmailSettings) -> None:
        self._settings = settings
        self._client: ImapClient | None = None
        self._turn = asyncio.Lock()
        self._sent_folder = settings.sent_folder

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    async def find(self, message_id: str) -> Message | None:
        """Returns the mail with this id, received or sent. Raises the errors of the port."""

        async def look(client: ImapClient) -> Message | None:
            for folder in (self._settings.folder, await self._sent(client)):
                for uid in await _search(client, folder, _header("Message-ID", message_id)):
                    mail = await client.fetch(uid, MAX_MAIL_BYTES)
                    if mail is not None:
                        return parse(mail.content)
            return None

        return await self._use(look)

    async def was_sent(self, message_id: str) -> bool:
        """Returns whether a mail with this id is in the folder of sent mails."""

        async def look(client: ImapClient) -> bool:
            return bool(await _search(client, await self._sent(client), _header("Message-ID", message_id)))

        return await self._use(look)

    async def headers_of(self, message_id: str) -> Message | None:
        """Returns the headers of a mail, received or sent."""

        async def look(client: ImapClient) -> Message | None:
            for folder in (self._settings.folder, await self._sent(client)):
                for uid in await _search(client, folder, _header("Message-ID", message_id)):
                    return parse(await client.fetch_headers(uid))
            return None

        return await self._use(look)

    async def thread(self, root: str) -> list[Message]:
        """Returns the headers of the newest received mails of a thread, the newest first."""
        criteria = f"OR {_header('Message-ID', root)} {_header('References', root)}"
        return await self._newest(criteria)

    async def with_subject(self, subject: str, sender: str, days: int) -> list[Message]:
        """Returns the headers of recent mails of a sender whose subject contains a text, the newest first."""
        if not subject.isascii() or not sender.isascii():
            return []
        since = datetime.now(UTC) - timedelta(days=days)
        return await self._newest(f"SINCE {imap_date(since)} FROM {_quoted(sender)} SUBJECT {_quoted(subject)}")

    async def store_sent(self, content: bytes) -> None:
        async def append(client: ImapClient) -> None:
            await client.append(await self._sent(client), content)

        await self._use(append)

    async def _newest(self, criteria: str) -> list[Message]:
        async def look(client: ImapClient) -> list[Message]:
            found = await _search(client, self._settings.folder, criteria)
            return [parse(await client.fetch_headers(uid)) for uid in reversed(found[-MAX_CANDIDATES:])]

        return await self._use(look)

    async def _use(self, action: Callable[[ImapClient], Awaitable[Result]]) -> Result:
        """Runs an action. A connection that the server closed meanwhile is replaced once."""
        async with self._turn:
            was_open = self._client is not None
            try:
                return await self._act(action)
            except (PlatformOffline, PlatformUncertain):
                if not was_open:
                    raise
            return await self._act(action)

    async def _act(self, action: Callable[[ImapClient], Awaitable[Result]]) -> Result:
        settings = self._settings
        if self._client is None:
            self._client = await ImapClient.open(settings.imap, settings.username, settings.password)
        try:
            return await action(self._client)
        except PlatformRefused as refused:
            if isinstance(refused, PlatformOffline):
                self.close()
            raise
        except BaseException:  # the next call must not read the rest of this one's answer
            self.close()
            raise

    async def _sent(self, client: ImapClient) -> str:
        if not self._sent_folder:
            self._sent_folder = await client.sent_folder() or DEFAULT_SENT_FOLDER
        return self._sent_folder


def imap_date(moment: datetime) -> str:
    """Returns a date as IMAP writes it; the names of months do not depend on the language of the machine."""
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{moment.day}-{months[moment.month - 1]}-{moment.year}"


async def _search(client: ImapClient, folder: str, criteria: str) -> list[int]:
    try:
        await client.select(folder)
    except PlatformOffline:
        raise
    except PlatformRefused:
        return []  # the account may have no folder of sent mails yet
    return await client.search(criteria)


def _header(name: str, message_id: str) -> str:
    return f"HEADER {name} {_quoted(f'<{message_id}>')}"


def _quoted(text: str) -> str:
    """Returns a quoted string; what can't be one matches nothing."""
    try:
        return quoted(text)
    except ValueError:
        return quoted("<nothing@invalid>")


class Threads:
    """The threads of one mailbox."""

    def __init__(self, mailbox: Mailbox, settings: EmailSettings) -> None:
        self._mailbox = mailbox
        self._settings = settings
        self._latest: BoundedMap[tuple[str, str], MailFacts] = BoundedMap()
        self._roots: BoundedMap[str, str] = BoundedMap()
        """The roots of the threads of known mails."""

    async def root(self, message: Message) -> str:
        """Returns the root of the thread of a mail; empty if the mail itself is one."""
        references = headers.message_ids(message, "References")
        parents = headers.message_ids(message, "In-Reply-To")
        for known in (*reversed(references), *parents):
            root = self._roots.get(known)
            if root:
                return root
        if references:
            return references[0]
        if parents:
            return await self._root_of_parent(parents[0])
        return await self._root_by_subject(message)

    def note(self, mail: MailFacts) -> None:
        """Remembers a received mail."""
        self._latest.set((mail.chat_id, mail.thread), mail)
        self._roots.set(mail.message_id, mail.thread)

    def note_sent(self, message_id: str, thread: str) -> None:
        self._roots.set(message_id, thread)

    async def latest(self, chat_id: str, thread: str) -> MailFacts | None:
        """Returns the newest received mail of a thread; None if there is none. Raises the errors of the port."""
        known = self._latest.get((chat_id, thread))
        if known is not None or not thread:
            return known
        for message in await self._mailbox.thread(thread):
            try:
                found = facts(message, thread, self._settings)
            except ValueError:
                continue
            if found.chat_id == chat_id:
                self.note(found)
                return found
        return None

    async def _root_of_parent(self, parent: str) -> str:
        try:
            message = await self._mailbox.headers_of(parent)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("the mail before another one could not be looked up: %s", error)
            return parent
        references = headers.message_ids(message, "References") if message is not None else []
        return references[0] if references else parent

    async def _root_by_subject(self, message: Message) -> str:
        subject = headers.header(message, "Subject")
        senders = headers.addresses(message, "From")
        bare = headers.bare_subject(subject)
        if not headers.is_reply_subject(subject) or not bare or not senders:
            return ""
        try:
            found = await self._mailbox.with_subject(bare, senders[0].address, SUBJECT_DAYS)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("the thread of a mail could not be looked up: %s", error)
            return ""
        own = headers.own_id(message)
        for each in found:
            if headers.own_id(each) != own and headers.bare_subject(headers.header(each, "Subject")) == bare:
                references = headers.message_ids(each, "References")
                return references[0] if references else headers.own_id(each)
        return ""
