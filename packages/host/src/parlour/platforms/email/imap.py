"""Client of IMAP4rev1 with IDLE: logs in, selects a folder, finds and fetches mails, stores copies, and waits."""

import asyncio
import base64
from contextlib import suppress
from typing import NoReturn

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.line_connection import ANSWER_TIMEOUT_SECONDS, LineConnection, NoAnswer, ServerAddress
from parlour_sdk.values import dataclass

from .imap_syntax import ImapUnreadable, Value, folder_name, parse, quoted

SERVICE = "the IMAP server"
MAX_LITERAL_BYTES = 96 * 1024 * 1024
TRANSFER_TIMEOUT_SECONDS = 120.0
CONGESTED_SECONDS = 60.0
_CONGESTED = ("UNAVAILABLE", "THROTTLED", "OVERQUOTA", "INUSE", "LIMIT")


class WrongPassword(PlatformRefused):
    """Raised when a server does not accept user and password."""


@dataclass(frozen=True, slots=True)
class SelectedFolder:
    """A folder as SELECT describes it."""

    validity: int
    next_uid: int


@dataclass(frozen=True, slots=True)
class FetchedMail:
    """A mail of a folder. `content` is incomplete if the mail is larger than what was asked for."""

    uid: int
    size: int
    received_at: bytes
    content: bytes


class ImapClient:
    """One connection to an IMAP server. Errors are those of the platform port."""

    def __init__(self, connection: LineConnection) -> None:
        self._connection = connection
        self._capabilities: frozenset[str] = frozenset()
        self._number = 0
        self._has_news = False
        """True if the server has announced a change of the folder since the last search began."""

    @classmethod
    async def open(cls, address: ServerAddress, user: str, password: str) -> "ImapClient":
        """Connects and logs in. Raises WrongPassword, PlatformOffline, PlatformRefused and PlatformUncertain."""
        connection = await LineConnection.open(SERVICE, address)
        client = cls(connection)
        try:
            await client._greet(address)
            await client._log_in(user, password)
        except BaseException:
            client.close()
            raise
        return client

    def close(self) -> None:
        self._connection.close()

    @property
    def can_idle(self) -> bool:
        return "IDLE" in self._capabilities

    async def select(self, folder: str) -> SelectedFolder:
        facts: dict[str, int] = {}
        for response in await self._command(f"SELECT {folder_name(folder)}"):
            for name in ("UIDVALIDITY", "UIDNEXT"):
                code = next((each for each in response if isinstance(each, str) and each.startswith(f"[{name} ")), "")
                number = code.removeprefix(f"[{name} ").rstrip("]")
                if number.isdecimal():
                    facts[name] = int(number)
        if len(facts) < 2:
            raise PlatformRefused(f"the folder {folder} has no UIDVALIDITY or UIDNEXT, which this bot needs")
        return SelectedFolder(facts["UIDVALIDITY"], facts["UIDNEXT"])

    async def search(self, criteria: str) -> list[int]:
        """Returns the UIDs of the mails that match, in order."""
        found: set[int] = set()
        self._has_news = False
        for response in await self._command(f"UID SEARCH {criteria}"):
            if response[:1] == ["SEARCH"]:
                found |= {int(each) for each in response[1:] if isinstance(each, str) and each.isdecimal()}
        return sorted(found)

    async def fetch(self, uid: int, max_bytes: int) -> FetchedMail | None:
        """Fetches a mail without marking it as read; of a larger one only the beginning. None if it is gone."""
        sizes = [str(fields.get("RFC822.SIZE")) for fields in await self._fetched(uid, "(UID RFC822.SIZE)")]
        if not sizes or not sizes[0].isdecimal():
            return None
        size = int(sizes[0])
        part = "BODY.PEEK[]" if size <= max_bytes else f"BODY.PEEK[]<0.{max_bytes}>"
        for fields in await self._fetched(uid, f"(UID INTERNALDATE {part})"):
            content = next((each for name, each in fields.items() if name.startswith("BODY[")), None)
            received_at = fields.get("INTERNALDATE")
            if isinstance(content, bytes):
                return FetchedMail(uid, size, received_at if isinstance(received_at, bytes) else b"", content)
        return None

    async def fetch_headers(self, uid: int) -> bytes:
        for fields in await self._fetched(uid, "(UID BODY.PEEK[HEADER])"):
            content = next((each for name, each in fields.items() if name.startswith("BODY[")), None)
            if isinstance(content, bytes):
                return content
        return b""

    async def mark_seen(self, uid: int) -> None:
        await self._command(f"UID STORE {uid} +FLAGS.SILENT (\\Seen)")

    async def append(self, folder: str, content: bytes) -> None:
        """Stores a mail in a folder, marked as read."""
        tag = self._tag()
        await self._connection.send(f"{tag} APPEND {folder_name(folder)} (\\Seen) {{{len(content)}}}\r\n".encode())
        await self._continuation(tag)
        await self._connection.send(content + b"\r\n")
        await self._responses(tag, TRANSFER_TIMEOUT_SECONDS)

    async def sent_folder(self) -> str:
        """Returns the folder that the server names for sent mails; empty if it names none."""
        if "SPECIAL-USE" not in self._capabilities:
            return ""
        for response in await self._command('LIST (SPECIAL-USE) "" "*"'):
            match response:
                case ["LIST", list(flags), _, (bytes() | str()) as name] if "\\Sent" in flags:
                    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
        return ""

    async def wait(self, seconds: float) -> None:
        """Waits with IDLE until the folder changes after the last search, or for this time."""
        if self._has_news:
            return
        tag = self._tag()
        await self._connection.send(f"{tag} IDLE\r\n".encode())
        await self._continuation(tag)
        with suppress(TimeoutError, NoAnswer):
            async with asyncio.timeout(seconds):
                while not self._has_news:
                    await self._read(seconds)
        await self._connection.send(b"DONE\r\n")
        await self._responses(tag, ANSWER_TIMEOUT_SECONDS)

    async def noop(self) -> None:
        await self._command("NOOP")

    # --- login

    async def _greet(self, address: ServerAddress) -> None:
        greeting = await self._read(ANSWER_TIMEOUT_SECONDS)
        if greeting[:1] == ["*"] and len(greeting) > 1 and greeting[1] == "BYE":
            self._refuse("BYE", greeting[2:])
        if greeting[:2] not in (["*", "OK"], ["*", "PREAUTH"]):
            raise PlatformRefused("what answers at imap_host and imap_port is not an IMAP server")
        if address.security == "starttls":
            await self._command("STARTTLS")
            await self._connection.start_tls()
        await self._ask_capabilities()

    async def _ask_capabilities(self) -> None:
        names: set[str] = set()
        for response in await self._command("CAPABILITY"):
            if response[:1] == ["CAPABILITY"]:
                names |= {each.upper() for each in response[1:] if isinstance(each, str)}
        self._capabilities = frozenset(names)

    async def _log_in(self, user: str, password: str) -> None:
        if "AUTH=PLAIN" in self._capabilities:
            credentials = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
            tag = self._tag()
            await self._connection.send(f"{tag} AUTHENTICATE PLAIN\r\n".encode())
            await self._continuation(tag)
            await self._connection.send(f"{credentials}\r\n".encode())
            await self._authenticated(tag)
        elif "LOGINDISABLED" in self._capabilities:
            raise PlatformRefused("the IMAP server takes no password on this connection; choose tls or starttls")
        else:
            tag = self._tag()
            await self._connection.send(f"{tag} LOGIN {quoted(user)} {quoted(password)}\r\n".encode())
            await self._authenticated(tag)
        await self._ask_capabilities()
        if "ID" in self._capabilities:  # 163.com and others refuse to open a folder otherwise
            await self._command('ID ("name" "parlour")')

    async def _authenticated(self, tag: str) -> None:
        try:
            await self._responses(tag, ANSWER_TIMEOUT_SECONDS)
        except PlatformOffline:
            raise
        except PlatformRefused as refused:
            raise WrongPassword(f"the IMAP server does not accept user and password: {refused.reason}") from None

    # --- commands and responses

    async def _fetched(self, uid: int, items: str) -> list[dict[str, Value]]:
        found = []
        for response in await self._command(f"UID FETCH {uid} {items}", TRANSFER_TIMEOUT_SECONDS):
            match response:
                case [str(), "FETCH", list(values)]:
                    names = [each.upper() if isinstance(each, str) else "" for each in values[::2]]
                    fields = dict(zip(names, values[1::2], strict=False))
                    if fields.get("UID") == str(uid):
                        found.append(fields)
        return found

    async def _command(self, command: str, seconds: float | None = None) -> list[list[Value]]:
        """Sends a command and returns its untagged responses, without the asterisk."""
        tag = self._tag()
        await self._connection.send(f"{tag} {command}\r\n".encode())
        return await self._responses(tag, seconds or ANSWER_TIMEOUT_SECONDS)

    def _tag(self) -> str:
        self._number += 1
        return f"a{self._number}"

    async def _continuation(self, tag: str) -> None:
        while True:
            response = await self._read(ANSWER_TIMEOUT_SECONDS)
            if response[:1] == ["+"]:
                return
            if response[:1] == [tag]:
                self._refuse(str(response[1]) if len(response) > 1 else "", response[2:])

    async def _responses(self, tag: str, seconds: float) -> list[list[Value]]:
        responses = []
        while True:
            response = await self._read(seconds)
            if response[:1] == ["*"]:
                responses.append(response[1:])
            elif response[:1] == [tag]:
                if response[1:2] != ["OK"]:
                    self._refuse(str(response[1]) if len(response) > 1 else "", response[2:])
                return responses

    def _refuse(self, kind: str, values: list[Value]) -> NoReturn:
        text = " ".join(each for each in values if isinstance(each, str))[:300]
        if kind == "BYE" or any(f"[{code}" in text.upper() for code in _CONGESTED):
            raise PlatformOffline(f"the IMAP server takes no calls now: {text}", retry_after=CONGESTED_SECONDS)
        raise PlatformRefused(f"the IMAP server refused a command: {text or kind}")

    async def _read(self, seconds: float) -> list[Value]:
        """Reads one response with its literals."""
        line, literals = b"", []
        while True:
            piece = await self._connection.read_line(seconds)
            size = _literal_size(piece)
            if size is None:
                break
            if size > MAX_LITERAL_BYTES:
                raise PlatformRefused("the IMAP server sent a part that is too large")
            literals.append(await self._connection.read_bytes(size, TRANSFER_TIMEOUT_SECONDS))
            line += piece[: piece.rindex(b"{")].replace(b"\0", b"") + b"\0"
        line += piece.replace(b"\0", b"")
        head = line[:1]
        if not literals and (
            head == b"+" or line.split(b" ")[1:2] in ([b"OK"], [b"NO"], [b"BAD"], [b"BYE"], [b"PREAUTH"])
        ):
            return [*_words(line)]
        try:
            response = parse(line, literals)
            self._has_news |= _announces_mail(response)
            return response
        except (ImapUnreadable, StopIteration):
            raise PlatformUncertain("the IMAP server sent a response that can't be read") from None


def _words(line: bytes) -> list[Value]:
    """Splits a status response; its text is free, and its code in brackets is one word."""
    tag, _, rest = line.decode("utf-8", "replace").partition(" ")
    kind, _, text = rest.partition(" ")
    values: list[Value] = [tag, kind]
    if text.startswith("[") and "]" in text:
        code, _, text = text.partition("]")
        values.append(f"{code}]")
    return [*values, text.strip()] if text.strip() else values


def _literal_size(line: bytes) -> int | None:
    if not line.endswith(b"}") or b"{" not in line:
        return None
    number = line[line.rindex(b"{") + 1 : -1].rstrip(b"+")
    return int(number) if number.isdigit() else None


def _announces_mail(response: list[Value]) -> bool:
    return response[:1] == ["*"] and response[2:3] in (["EXISTS"], ["RECENT"])
