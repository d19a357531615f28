"""A small IMAP4rev1 server with IDLE: it refuses what real servers refuse, and breaks its connections on demand."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from email.utils import format_datetime

from .imap_search import BadSearch, search, uid_set
from .world import PASSWORD, USERNAME, MailWorld, SimulatedFolder, StoredMail

CAPABILITIES = "IMAP4rev1 IDLE ID UIDPLUS SPECIAL-USE"
MAX_LINE_BYTES = 64 * 1024
MAX_MAIL_BYTES = 64 * 1024 * 1024
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|\(([^()]*)\)|([^\s"()]+(?:\[[^\]]*\])?(?:<[\d.]+>)?)')


class ImapRefusal(Exception):
    """A command that is answered with NO or BAD."""

    def __init__(self, text: str, kind: str = "NO") -> None:
        super().__init__(text)
        self.kind = kind


class ImapServer:
    """Serves the folders of an account on the loopback interface."""

    def __init__(self, world: MailWorld, notify: Callable[[], Awaitable[None]]) -> None:
        self.world = world
        self.notify = notify
        self.turned_away = 0
        """Number of the next connections that end without a greeting."""
        self.goodbye = ""
        """The text with which a server that takes no connections says goodbye."""
        self.is_silent = False
        """True for a server whose connections stay open without an answer."""
        self.idles = True
        """False for a server without IDLE."""
        self.sessions: set[ImapSession] = set()
        self.logins = 0
        self.failed_logins = 0

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, limit=MAX_LINE_BYTES)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            self.cut()

    def cut(self) -> None:
        """Breaks every connection as a network does."""
        for session in list(self.sessions):
            session.writer.transport.abort()

    async def announce(self) -> None:
        """Tells the connections that wait how many mails their folder has."""
        for session in list(self.sessions):
            with suppress(ConnectionError):
                await session.announce()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = ImapSession(self, reader, writer)
        self.sessions.add(session)
        try:
            await session.serve()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self.sessions.discard(session)
            writer.close()


class ImapSession:
    def __init__(self, server: ImapServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self.writer = writer
        self._is_logged_in = False
        self._folder: SimulatedFolder | None = None
        self._idle_tag = ""
        self._known = 0

    async def serve(self) -> None:
        if self._server.turned_away:
            self._server.turned_away -= 1
            return
        if self._server.goodbye:
            await self._send(f"* BYE {self._server.goodbye}")
            return
        await self._send("* OK IMAP4rev1 ready")
        while line := await self._reader.readline():
            if self._server.is_silent:
                continue
            tag, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
            name, _, arguments = rest.partition(" ")
            try:
                done = await self._execute(tag, name.upper(), arguments)
            except ImapRefusal as refused:
                await self._send(f"{tag} {refused.kind} {refused}")
                continue
            except BadSearch:
                await self._send(f"{tag} BAD invalid criteria")
                continue
            await self._report_change()
            await self._send(f"{tag} OK {done}")
            if name.upper() == "LOGOUT":
                return

    async def announce(self) -> None:
        if self._idle_tag and not self._server.is_silent:
            await self._report_change()

    async def _report_change(self) -> None:
        """Says how many mails the folder has, if that has changed since it was said last."""
        if self._folder is not None and len(self._folder.mails) != self._known:
            self._known = len(self._folder.mails)
            await self._send(f"* {self._known} EXISTS")

    async def _execute(self, tag: str, name: str, arguments: str) -> str:
        match name:
            case "CAPABILITY":
                await self._send(f"* CAPABILITY {self._capabilities()}")
                return "done"
            case "NOOP" | "LOGOUT" | "ID":
                if name == "LOGOUT":
                    await self._send("* BYE logging out")
                if name == "ID":
                    await self._send('* ID ("name" "simulator")')
                return "done"
            case "LOGIN":
                words = _words(arguments)
                return self._log_in(words[0], words[1]) if len(words) == 2 else self._bad("two arguments are needed")
            case "AUTHENTICATE":
                return await self._authenticate(arguments)
        if not self._is_logged_in:
            raise ImapRefusal("log in first", "BAD")
        match name:
            case "SELECT" | "EXAMINE":
                return await self._select(_words(arguments)[:1])
            case "LIST":
                return await self._list()
            case "APPEND":
                return await self._append(arguments)
            case "UID" | "IDLE" if self._folder is None:
                raise ImapRefusal("no folder is selected", "BAD")
            case "IDLE" if self._server.idles:
                return await self._idle(tag)
            case "UID":
                kind, _, rest = arguments.partition(" ")
                return await self._uid_command(kind.upper(), rest)
        return self._bad("unknown command")

    def _bad(self, text: str) -> str:
        raise ImapRefusal(text, "BAD")

    def _capabilities(self) -> str:
        names = CAPABILITIES if self._server.idles else CAPABILITIES.replace("IDLE ", "")
        return names if self._is_logged_in else f"{names} AUTH=PLAIN"

    def _log_in(self, user: str, password: str) -> str:
        if (user, password) != (USERNAME, PASSWORD):
            self._server.failed_logins += 1
            raise ImapRefusal("[AUTHENTICATIONFAILED] Authentication failed.")
        self._is_logged_in = True
        self._server.logins += 1
        return "logged in"

    async def _authenticate(self, mechanism: str) -> str:
        if mechanism.upper() != "PLAIN":
            raise ImapRefusal("unsupported mechanism")
        await self._send("+ ")
        try:
            credentials = base64.b64decode((await self._reader.readline()).strip(), validate=True).decode()
            _, user, password = credentials.split("\0")
        except ValueError:
            return self._bad("invalid response")
        return self._log_in(user, password)

    async def _select(self, names: list[str]) -> str:
        folder = self._server.world.folders.get(names[0]) if names else None
        if folder is None:
            self._folder = None
            raise ImapRefusal("[NONEXISTENT] there is no such folder")
        self._folder, self._known = folder, len(folder.mails)
        await self._send(f"* {self._known} EXISTS")
        await self._send("* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)")
        await self._send(f"* OK [UIDVALIDITY {folder.validity}] UIDs valid")
        await self._send(f"* OK [UIDNEXT {folder.next_uid}] Predicted next UID")
        return "[READ-WRITE] selected"

    async def _list(self) -> str:
        for name in self._server.world.folders:
            await self._send(_listed(name))
        return "listed"

    async def _append(self, arguments: str) -> str:
        match = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) (?:\(([^()]*)\) )?\{(\d+)\}', arguments)
        if match is None:
            return self._bad("a folder and a literal are needed")
        folder = self._server.world.folders.get(match[1].strip('"'))
        if folder is None:
            raise ImapRefusal("[TRYCREATE] there is no such folder")
        await self._send("+ ready")
        content = await self._reader.readexactly(int(match[3]))
        await self._reader.readline()
        mail = folder.add(content, flags=set((match[2] or "").split()))
        await self._server.notify()
        return f"[APPENDUID {folder.validity} {mail.uid}] appended"

    async def _idle(self, tag: str) -> str:
        await self._send("+ idling")
        self._idle_tag = tag
        await self.announce()
        await self._server.notify()
        try:
            while True:
                line = await self._reader.readline()
                if not line:
                    raise ConnectionResetError
                if not self._server.is_silent:
                    break
        finally:
            self._idle_tag = ""
        return "idle ended" if line.strip().upper() == b"DONE" else self._bad("DONE was expected")

    async def _uid_command(self, kind: str, rest: str) -> str:
        assert self._folder is not None
        if kind == "SEARCH":
            found = search(self._folder, _words(rest))
            await self._send(" ".join(["* SEARCH", *map(str, found)]))
            return "searched"
        numbers, _, items = rest.partition(" ")
        wanted = uid_set(self._folder, numbers)
        if kind not in ("FETCH", "STORE") or not items:
            return self._bad("unknown command")
        for sequence, mail in enumerate(list(self._folder.mails), 1):
            if mail.uid in wanted:
                await (self._fetch(sequence, mail, items) if kind == "FETCH" else self._store(sequence, mail, items))
        await self._server.notify()
        return "done"

    async def _store(self, sequence: int, mail: StoredMail, items: str) -> None:
        match = re.fullmatch(r"([+-]?)FLAGS(\.SILENT)? \(([^()]*)\)", items, re.IGNORECASE)
        if match is None:
            raise ImapRefusal("invalid flags", "BAD")
        flags = set(match[3].split())
        mail.flags = mail.flags | flags if match[1] == "+" else mail.flags - flags if match[1] else flags
        if not match[2]:
            await self._send(f"* {sequence} FETCH (UID {mail.uid} FLAGS ({' '.join(sorted(mail.flags))}))")

    async def _fetch(self, sequence: int, mail: StoredMail, items: str) -> None:
        parts: list[bytes] = [f"UID {mail.uid}".encode()]
        for item in items.strip("()").split():
            parts += _item(mail, item.upper())
        self.writer.write(f"* {sequence} FETCH (".encode() + b" ".join(parts) + b")\r\n")
        await self.writer.drain()

    async def _send(self, line: str) -> None:
        self.writer.write(f"{line}\r\n".encode())
        await self.writer.drain()


def _item(mail: StoredMail, name: str) -> list[bytes]:
    moment = datetime.fromtimestamp(mail.received_at, UTC)
    match name:
        case "UID":
            return []
        case "FLAGS":
            return [f"FLAGS ({' '.join(sorted(mail.flags))})".encode()]
        case "RFC822.SIZE":
            return [f"RFC822.SIZE {len(mail.content)}".encode()]
        case "INTERNALDATE":
            _, day, month, year, clock, zone = format_datetime(moment).split()
            return [f'INTERNALDATE "{day}-{month}-{year} {clock} {zone}"'.encode()]
    match = re.fullmatch(r"BODY(\.PEEK)?\[(HEADER)?\](?:<(\d+)\.(\d+)>)?", name)
    if match is None:
        raise ImapRefusal("unknown item", "BAD")
    if not match[1]:
        mail.flags.add("\\Seen")
    separator = b"\r\n\r\n" if b"\r\n\r\n" in mail.content else b"\n\n"
    content = mail.content.split(separator, 1)[0] + separator if match[2] else mail.content
    origin = ""
    if match[3]:
        content = content[int(match[3]) : int(match[3]) + int(match[4])]
        origin = f"<{match[3]}>"
    return [f"BODY[{match[2] or ''}]{origin} {{{len(content)}}}\r\n".encode() + content]


def _listed(name: str) -> str:
    flags = "\\Sent" if name == "Sent" else "\\HasNoChildren"
    return f'* LIST ({flags}) "/" "{name}"'


def _words(text: str) -> list[str]:
    """Splits arguments: quoted strings, atoms and lists."""
    words = []
    for quoted, listed, atom in _TOKEN.findall(text):
        words.append(re.sub(r"\\(.)", r"\1", quoted) if quoted or not (listed or atom) else listed or atom)
    return words
