"""Implements the platform API on a mailbox. Methods that are not overridden do not exist for mails."""

import logging
import secrets
from collections.abc import Sequence

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult, PlatformMessage

from . import headers
from .configuration import EmailSettings, is_address
from .decode import OWN_ID_PREFIX, MailFacts, content_chain
from .encode import compose, read_chain
from .mailbox import Mailbox, Threads
from .smtp import SmtpClient

logger = logging.getLogger(__name__)

KEY_LENGTH = 32
MAX_RECIPIENTS = 50


class EmailApi(PlatformApi):
    """Platform API of one mailbox."""

    def __init__(self, settings: EmailSettings, mailbox: Mailbox, threads: Threads, fetch: Fetch) -> None:
        self._settings = settings
        self._mailbox = mailbox
        self._threads = threads
        self._fetch = fetch

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a mail: an answer in its thread, or a mail that begins one.

        Its id is fixed by the key, so that servers and mail programs recognize a mail that is sent once more.
        """
        mail = await read_chain(chain, self._fetch)
        answered = await self._threads.latest(target_id, thread_id)
        message_id = self._message_id(idempotency_key or secrets.token_hex(16))
        recipients = self._recipients(target_id, answered)
        content = compose(mail, self._settings, message_id, recipients, answered)
        settings = self._settings
        smtp = await SmtpClient.open(settings.smtp, settings.username, settings.password)
        try:
            if not smtp.takes_unicode and not all(each.isascii() for each in recipients):
                raise PlatformRefused("the SMTP server takes no addresses with such letters", permanent=True)
            refusals = await smtp.submit(settings.address, recipients, content)
        finally:
            await smtp.quit()
        self._threads.note_sent(message_id, thread_id or message_id)
        await self._keep_copy(content)
        refused = {each.address: each.reason for each in refusals}
        return MessageResult(message_id=message_id, raw={"refused": refused} if refused else None)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Looks up the mail of this key among the sent ones, where some providers store each mail themselves."""
        message_id = self._message_id(idempotency_key)
        return MessageResult(message_id=message_id) if await self._mailbox.was_sent(message_id) else None

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        message = await self._mailbox.find(message_id)
        if message is None:
            raise PlatformRefused("there is no mail with this id in the mailbox", permanent=True)
        senders = headers.addresses(message, "From")
        sent_at = headers.sent_at(message, 0)
        sender = User(id=senders[0].address, nickname=senders[0].name or senders[0].address) if senders else None
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=sender,
            time=sent_at or None,
            chain=content_chain(message, sent_at),
        )

    def _recipients(self, target_id: str, answered: MailFacts | None) -> tuple[str, ...]:
        """Returns who gets a mail: the author of the answered one, or all people of the chat."""
        if answered is not None and (answered.chat_type == "private" or not self._settings.reply_all):
            return (answered.reply_to,)
        found: Sequence[str] = [each.strip().lower() for each in target_id.split(",") if each.strip()]
        if not found or len(found) > MAX_RECIPIENTS or not all(map(is_address, found)):
            raise PlatformRefused(
                f"the target of a mail is an address, or up to {MAX_RECIPIENTS} with commas between them",
                permanent=True,
            )
        return tuple(dict.fromkeys(found))

    def _message_id(self, key: str) -> str:
        return f"{OWN_ID_PREFIX}{short_key(key, KEY_LENGTH)}@{self._settings.domain}"

    async def _keep_copy(self, content: bytes) -> None:
        """Stores a copy of a sent mail. A failure does not make the mail unsent."""
        if not self._settings.saves_sent:
            return
        try:
            await self._mailbox.store_sent(content)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("a sent mail is not in the folder of sent mails: %s", error)
