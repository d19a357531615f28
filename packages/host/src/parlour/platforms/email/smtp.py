"""Client of SMTP submission: logs in and hands over one mail. It knows exactly up to where nothing was accepted."""

import base64
import socket
from collections.abc import Sequence

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.line_connection import ANSWER_TIMEOUT_SECONDS, LineConnection, ServerAddress
from parlour_sdk.values import dataclass

from .imap import WrongPassword

SERVICE = "the SMTP server"
ACCEPT_TIMEOUT_SECONDS = 50.0
"""Seconds for the answer to a whole mail; less than delivery waits for a send."""
TEMPORARY_RETRY_SECONDS = 60.0
"""A server that asks for another attempt, as greylisting does, refuses one that comes earlier."""
OFFLINE_RETRY_SECONDS = 1.0
_MEANINGS = {
    421: "it takes no mails now",
    450: "the mailbox is not available now",
    452: "it has no space now",
    550: "it does not deliver to this mailbox",
    552: "the mail is too large",
    553: "the bot's address may not send through it",
    554: "it takes this mail for spam",
}


@dataclass(frozen=True, slots=True)
class SmtpReply:
    """One reply of the server: code and text."""

    code: int
    text: str

    @property
    def is_positive(self) -> bool:
        return 200 <= self.code < 400


@dataclass(frozen=True, slots=True)
class RefusedRecipient:
    """A recipient that the server did not accept, with its reason."""

    address: str
    reason: str


class SmtpClient:
    """One connection to a submission server."""

    def __init__(self, connection: LineConnection, address: ServerAddress) -> None:
        self._connection = connection
        self._address = address
        self._extensions: dict[str, str] = {}

    @classmethod
    async def open(cls, address: ServerAddress, user: str, password: str) -> "SmtpClient":
        """Connects and logs in. Raises WrongPassword, PlatformOffline and PlatformRefused; nothing was sent then."""
        connection = await LineConnection.open(SERVICE, address)
        client = cls(connection, address)
        try:
            await client._greet()
            await client._log_in(user, password)
        except PlatformUncertain as error:
            client.close()
            raise PlatformOffline(str(error), retry_after=OFFLINE_RETRY_SECONDS) from None
        except BaseException:
            client.close()
            raise
        return client

    def close(self) -> None:
        self._connection.close()

    @property
    def takes_unicode(self) -> bool:
        return "SMTPUTF8" in self._extensions

    async def quit(self) -> None:
        """Ends the connection in order; its answer does not matter."""
        try:
            await self._connection.send(b"QUIT\r\n")
        except PlatformUncertain:
            pass
        finally:
            self.close()

    async def submit(self, sender: str, recipients: Sequence[str], content: bytes) -> list[RefusedRecipient]:
        """Hands over a mail and returns the recipients that were refused while others were accepted.

        Raises PlatformRefused or PlatformOffline if certainly nobody gets it, and PlatformUncertain if the connection
        ended before the server answered to the whole mail.
        """
        try:
            refusals = await self._envelope(sender, recipients, content)
            await self._connection.send(_stuffed(content))
        except PlatformUncertain as error:  # the final dot was not sent, so the server dropped the mail
            raise PlatformOffline(str(error), retry_after=OFFLINE_RETRY_SECONDS) from None
        await self._connection.send(b".\r\n")
        _check(await self._reply(ACCEPT_TIMEOUT_SECONDS))
        return refusals

    async def _envelope(self, sender: str, recipients: Sequence[str], content: bytes) -> list[RefusedRecipient]:
        options = ""
        if "SIZE" in self._extensions:
            limit = self._extensions["SIZE"]
            if limit.isdecimal() and 0 < int(limit) < len(content):
                size = f"{len(content) / 2**20:.1f} MiB"
                raise PlatformRefused(
                    f"the mail has {size}, and the SMTP server takes {int(limit) / 2**20:.1f} MiB", permanent=True
                )
            options += f" SIZE={len(content)}"
        if "8BITMIME" in self._extensions:
            options += " BODY=8BITMIME"
        if self.takes_unicode and not all(each.isascii() for each in (sender, *recipients)):
            options += " SMTPUTF8"
        _check(await self._call(f"MAIL FROM:<{sender}>{options}"))
        refusals, last = [], None
        for recipient in recipients:
            last = await self._call(f"RCPT TO:<{recipient}>")
            if not last.is_positive:
                refusals.append(RefusedRecipient(recipient, last.text))
        if last is not None and len(refusals) == len(recipients):
            _check(last)
        _check(await self._call("DATA"))
        return refusals

    async def _greet(self) -> None:
        reply = await self._reply(ANSWER_TIMEOUT_SECONDS)
        if reply.code == 421 or 400 <= reply.code < 500:
            raise PlatformOffline(f"the SMTP server takes no mails now: {reply.text}", TEMPORARY_RETRY_SECONDS)
        if reply.code != 220:
            raise PlatformRefused("what answers at smtp_host and smtp_port is not an SMTP server")
        await self._say_hello()
        if self._address.security == "starttls":
            if "STARTTLS" not in self._extensions:
                raise PlatformRefused("the SMTP server offers no STARTTLS; choose tls and its port, usually 465")
            _check(await self._call("STARTTLS"))
            await self._connection.start_tls()
            await self._say_hello()

    async def _say_hello(self) -> None:
        reply = await self._call(f"EHLO {_own_name()}")
        _check(reply)
        lines = [line.upper().split(" ", 1) for line in reply.text.split("\n")[1:]]
        self._extensions = {words[0]: words[1] if len(words) > 1 else "" for words in lines if words[0]}

    async def _log_in(self, user: str, password: str) -> None:
        mechanisms = self._extensions.get("AUTH", "").split()
        if "PLAIN" in mechanisms:
            credentials = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
            reply = await self._call(f"AUTH PLAIN {credentials}")
        elif "LOGIN" in mechanisms:
            reply = await self._call("AUTH LOGIN")
            for secret in (user, password):
                if reply.code == 334:
                    reply = await self._call(base64.b64encode(secret.encode()).decode())
        else:
            raise PlatformRefused("the SMTP server takes no password on this connection; choose tls or starttls")
        if reply.code in (534, 535, 538):
            raise WrongPassword(f"the SMTP server does not accept user and password: {reply.text}")
        _check(reply)

    async def _call(self, line: str) -> SmtpReply:
        if "\r" in line or "\n" in line:
            raise PlatformRefused("an address contains a line break", permanent=True)
        await self._connection.send(f"{line}\r\n".encode())
        return await self._reply(ANSWER_TIMEOUT_SECONDS)

    async def _reply(self, seconds: float) -> SmtpReply:
        lines: list[str] = []
        while True:
            line = (await self._connection.read_line(seconds)).decode("utf-8", "replace")
            code, mark, text = line[:3], line[3:4], line[4:]
            if not code.isdecimal() or mark not in ("", " ", "-"):
                raise PlatformRefused("what answers at smtp_host and smtp_port is not an SMTP server")
            lines.append(text)
            if mark != "-":
                return SmtpReply(int(code), "\n".join(lines)[:2000])


def _check(reply: SmtpReply) -> None:
    """Raises PlatformRefused unless the reply is positive: for a while if its code is temporary, else for good."""
    if reply.is_positive:
        return
    known = _MEANINGS.get(reply.code)
    text = f"{reply.code} {' '.join(reply.text.split())[:300]}"
    reason = f"the SMTP server refused the mail: {f'{known} ({text})' if known else text}"
    if 400 <= reply.code < 500:
        raise PlatformRefused(reason, TEMPORARY_RETRY_SECONDS, account_wide=reply.code in (421, 454))
    raise PlatformRefused(reason, permanent=True)


def _stuffed(content: bytes) -> bytes:
    """Returns a mail with its dots doubled at the beginnings of lines, and with an end of the last line."""
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return b"".join(b"." * line.startswith(b".") + line + b"\r\n" for line in lines)


def _own_name() -> str:
    name = socket.gethostname()
    return name if name.isascii() and "." in name else "[127.0.0.1]"
