"""Finds the thread of a mail, and what an answer in it needs. The mailbox is the memory that survives a restart."""

import logging
from email.message import Message

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap

from . import headers
from .decode import MailFacts, facts
from .mailbox import Mailbox
from .settings import EmailSettings

logger = logging.getLogger(__name__)

SUBJECT_DAYS = 7
"""A reply without any reference joins a thread by its subject for this many days."""


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
