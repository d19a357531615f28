"""The simulated mail account as a whole: IMAP, submission by aiosmtpd, and what its users write."""

import asyncio
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.policy import SMTP, compat32
from email.utils import formatdate, getaddresses
from typing import Any

import aiosmtpd.smtp
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session

from parlour.testing.simulator import PlatformSimulator, SimulatorFaults
from parlour.testing.simulator.base import NEVER_SECONDS

from .imap_server import ImapServer
from .world import BOT_ADDRESS, PASSWORD, USERNAME, MailWorld, SentMail, StoredMail

SEND = "DATA"
MAX_MAIL_BYTES = 30 * 1024 * 1024
AUTHSERV_ID = "mx.parlour.example"
UNKNOWN_DOMAIN = "nowhere.example"


class SmtpRefusal(Exception):
    """A mail that the submission server does not take."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.reply = f"{code} {text}"


@dataclass
class EmailFaults(SimulatorFaults[SmtpRefusal]):
    """The faults of the simulated account."""

    def refuse(self, code: int, text: str, times: int = 1) -> None:
        self.refuse_with(SEND, SmtpRefusal(code, text), times)


class EmailSimulator(PlatformSimulator[SentMail, SmtpRefusal]):
    def __init__(self) -> None:
        self.world = MailWorld()
        self.faults = EmailFaults()
        super().__init__(self.faults, self.world.sent)
        self.imap = ImapServer(self.world, self.notify)
        self.smtp_logins = 0
        self.accepts_any_login = False
        """True if the submission server takes every user and password, for an account of another IMAP server."""
        self.smtp_port = 0
        self.imap_port = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[dict[str, Any]]:
        """Yields the servers and the account as the configuration of a bot."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._smtp, "127.0.0.1", 0)
        async with self.imap.listening() as self.imap_port:
            self.smtp_port = server.sockets[0].getsockname()[1]
            try:
                yield {
                    "imap_host": "127.0.0.1", "imap_port": self.imap_port, "imap_security": "none",
                    "smtp_host": "127.0.0.1", "smtp_port": self.smtp_port, "smtp_security": "none",
                    "address": BOT_ADDRESS, "username": USERNAME, "password": PASSWORD,
                    "allowed_senders": ["*"], "authserv_id": AUTHSERV_ID,
                }  # fmt: skip
            finally:
                server.close()
                await self.end_tasks()

    def chat_of(self, message: SentMail) -> str:
        return message.chat

    # --- submission

    def _smtp(self) -> aiosmtpd.smtp.SMTP:
        with warnings.catch_warnings():  # it warns of passwords without TLS, which never leave this machine here
            warnings.simplefilter("ignore")
            return aiosmtpd.smtp.SMTP(
                _Submission(self),
                hostname="smtp.parlour.example",
                data_size_limit=MAX_MAIL_BYTES,
                enable_SMTPUTF8=True,
                authenticator=self._authenticate,
                auth_required=True,
                auth_require_tls=False,
            )

    def _authenticate(
        self, server: aiosmtpd.smtp.SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        expected = LoginPassword(USERNAME.encode(), PASSWORD.encode())
        is_right = isinstance(data, LoginPassword) and (self.accepts_any_login or data == expected)
        self.smtp_logins += is_right
        return AuthResult(success=is_right, handled=is_right)

    async def accept(self, server: aiosmtpd.smtp.SMTP, envelope: Envelope) -> str:
        """Takes a mail, or refuses it as a submission server does."""

        async def act() -> None:
            content = envelope.content if isinstance(envelope.content, bytes) else b""
            self._check(envelope, BytesParser(policy=compat32).parsebytes(content))
            self.world.sent.append(
                SentMail(str(envelope.mail_from), [str(each) for each in envelope.rcpt_tos], content)
            )

        outcome = await self.perform(SEND, act, SmtpRefusal)
        if outcome.cuts and isinstance(server.transport, asyncio.Transport):
            server.transport.abort()
        await self.notify()
        if not outcome.answers and not outcome.cuts:
            await asyncio.sleep(NEVER_SECONDS)
        return outcome.refusal.reply if outcome.refusal is not None else "250 OK queued"

    def _check(self, envelope: Envelope, message: Message) -> None:
        authors = [address for _, address in getaddresses([str(message.get("From") or "")])]
        if envelope.mail_from != BOT_ADDRESS or authors != [BOT_ADDRESS]:
            raise SmtpRefusal(553, "5.7.1 Sender address rejected: not owned by user")
        for name in ("Date", "From", "To", "Message-ID", "Subject"):
            if len(message.get_all(name, [])) > 1 or (name != "Subject" and message.get(name) is None):
                raise SmtpRefusal(550, f"5.6.0 Message is not compliant with RFC 5322: header {name}")
        content = envelope.original_content or b""
        if any(b"\n" in line or len(line) > 998 for line in content.split(b"\r\n")):
            raise SmtpRefusal(550, "5.6.0 Line too long or bare newline")

    # --- what users write

    def mail(self, sender: str, text: str, to: str = BOT_ADDRESS, **fields: str) -> EmailMessage:
        """Returns a mail of a person; fields are headers, with underscores for hyphens."""
        message = EmailMessage(policy=SMTP)
        values = {
            "Authentication_Results": f"{AUTHSERV_ID}; dmarc=pass header.from={sender.rpartition('@')[2].strip('>')}",
            "From": sender, "To": to, "Date": formatdate(),
            "Message_ID": f"<mail-{self.world.number()}@{sender.rpartition('@')[2].strip('>')}>", **fields,
        }  # fmt: skip
        for name, value in values.items():
            if value:
                message[name.replace("_", "-")] = value
        message.set_content(text)
        return message

    async def deliver(self, mail: EmailMessage | bytes) -> StoredMail:
        """Puts a mail into the inbox."""
        content = mail if isinstance(mail, bytes) else mail.as_bytes()
        stored: list[StoredMail] = []
        for each in self.scheduled(content):
            stored.append(self.world.inbox.add(each))
            await self.imap.announce()
        await self.notify()
        return stored[0] if stored else self.world.inbox.mails[-1]

    async def say(self, sender: str, text: str, to: str = BOT_ADDRESS, **fields: str) -> StoredMail:
        return await self.deliver(self.mail(sender, text, to, **fields))

    def unseen(self) -> int:
        """Returns the number of mails that the bot has not marked as read."""
        return sum("\\Seen" not in each.flags for each in self.world.inbox.mails)


class _Submission:
    """The hooks of aiosmtpd."""

    def __init__(self, simulator: EmailSimulator) -> None:
        self._simulator = simulator

    async def handle_RCPT(  # noqa: N802 - the name that aiosmtpd calls
        self, server: aiosmtpd.smtp.SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.endswith(f"@{UNKNOWN_DOMAIN}"):
            return "550 5.1.1 Recipient address rejected: user unknown"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: aiosmtpd.smtp.SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        return await self._simulator.accept(server, envelope)
